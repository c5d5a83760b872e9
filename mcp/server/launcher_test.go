package server

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/session"
)

func TestIsLauncher(t *testing.T) {
	for _, tt := range []struct {
		args string
		want bool
	}{
		{"npm exec @modelcontextprotocol/server-everything", true},
		{"npx -y server", true},
		{"/usr/bin/node /usr/bin/npx -y server", true},
		{"node /usr/lib/node_modules/npm/bin/npx-cli.js server", true},
		{"node /opt/pnpm.cjs dlx server", true},
		{"/root/.local/bin/uv tool uvx mcp-server-time", true},
		{"sh -c mcp-server-everything", true},
		{"sh server.sh", false},
		{"node server.js npx", false},
		{"node", false},
		{"python3 -m server", false},
		{"/opt/npxserver", false},
	} {
		for _, args := range [][]string{strings.Fields(tt.args), {tt.args}} {
			if len(args) == 1 && !strings.HasPrefix(tt.args, "np") {
				continue // only npm puts all of it into the first
			}
			if got := isLauncher(args); got != tt.want {
				t.Errorf("%q: %v, expected %v", args, got, tt.want)
			}
		}
	}
}

// A server behind a launcher is started without it from the second time on, as the same process would be.
func TestLauncherIsLeftOut(t *testing.T) {
	dir, err := filepath.Abs("../testdata/servers/npm")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := os.Stat(filepath.Join(dir, "node_modules")); err != nil {
		mcptest.Missing(t, err)
	}
	c := command("npx", "--no-install", "mcp-server-everything")
	c.Env, c.Dir = []string{"TEASEL_TEST=1"}, dir
	visit, err := c.Visit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	visit.Close()
	session := visit.Session
	if len(session.Direct) != 2 || filepath.Base(session.Direct[0]) != "node" || filepath.Base(session.Direct[1]) != "mcp-server-everything" {
		t.Fatalf("it is started with %q", session.Direct)
	}
	if c := session.Process; c.Dir != dir || !slices.Contains(c.Env, "TEASEL_TEST=1") {
		t.Errorf("it is started in %s with %q", c.Dir, c.Env)
	}
	c.Process = session.Process
	s, err := c.Start()
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	if _, err := c.Initialize(t.Context(), s); err != nil {
		t.Error(err)
	}
	if image, _, err := proc.Image(s.proc.PID()); err != nil || isLauncher(image.Args) {
		t.Errorf("%q runs, %v", image.Args, err)
	}
	if children, err := proc.Children(s.proc.PID()); err != nil || len(children) > 0 {
		t.Errorf("it has the children %v, %v", children, err)
	}
}

// What is no launcher is left as it is.
func TestNoLauncher(t *testing.T) {
	visit, err := command("sh", "-c", mcptest.BuildServer(t, plantedtest.Planted)+"; true").Visit(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	visit.Close()
	if visit.Session.Direct != nil {
		t.Errorf("it is started with %q", visit.Session.Direct)
	}
}

// command returns how to start a server with time enough.
func command(args ...string) *Command {
	return &Command{Args: args, Version: session.Versions[len(session.Versions)-1], Timeout: 5 * time.Second, StartTimeout: 30 * time.Second}
}

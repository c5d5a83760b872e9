package run

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/script"
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
	target := &Target{Command: []string{"npx", "--no-install", "mcp-server-everything"}, Env: []string{"TEASEL_TEST=1"}, Dir: dir}
	session, err := target.Discover(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(session.Direct) != 2 || filepath.Base(session.Direct[0]) != "node" || filepath.Base(session.Direct[1]) != "mcp-server-everything" {
		t.Fatalf("it is started with %q", session.Direct)
	}
	if c := session.Process; c.Dir != dir || !slices.Contains(c.Env, "TEASEL_TEST=1") {
		t.Errorf("it is started in %s with %q", c.Dir, c.Env)
	}
	target.Session = session
	e := open(t, target)
	execute(t, e, script.Script{Steps: []script.Step{{Line: []byte(ping)}}})
	if n := ourProcesses(t); n != 2 {
		t.Errorf("%d processes run, expected the server and a spare one", n)
	}
}

// What is no launcher is left as it is.
func TestNoLauncher(t *testing.T) {
	target := &Target{Command: []string{"sh", "-c", mcptest.BuildServer(t, plantedtest.Planted) + "; true"}}
	session, err := target.Discover(t.Context())
	if err != nil || session.Direct != nil {
		t.Errorf("it is started with %q, %v", session.Direct, err)
	}
}

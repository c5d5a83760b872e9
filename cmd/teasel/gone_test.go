package main

import (
	"bytes"
	"net"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/plantedtest"
)

// TestServerGone: a server that runs already and that ends in the middle of a campaign, answers nothing any more or refuses everything, is one
// finding, and no failure of teasel's.
func TestServerGone(t *testing.T) {
	t.Parallel()
	program, err := plantedtest.Build(t.Context(), t.TempDir(), "plantedhttp")
	if err != nil {
		t.Fatal(err)
	}
	const mortal = `import socket, sys
s = socket.create_server(("127.0.0.1", int(sys.argv[1])), backlog=64)
for n in range(100):
    c, _ = s.accept()
    try:
        while c.recv(4096):
            c.sendall(b"200 fine\r\n")
    except OSError:
        pass
    c.close()
`
	type row struct {
		server, args []string // PORT stands for a port
		says         []string
	}
	fails := func(says string, how ...string) row {
		return row{append([]string{program, "-port", "PORT", "-clean"}, how...), []string{"mcp", "--timeout", "2s", "--url", "http://127.0.0.1:PORT/mcp"}, []string{"mcp/server-gone", says, "> {"}}
	}
	for name, tt := range map[string]row{
		"mcp":             fails("takes no connections", "-mortal"),
		"mcp silent":      fails("did not answer initialize within", "-fails", "silent", "-on", "<"),
		"mcp unlistening": fails("did not answer initialize within", "-fails", "unlistening", "-on", "<"),
		"mcp refuses":     fails("did not answer initialize: HTTP status 500", "-fails", "500", "-on", "<"),
		"net": {[]string{"python3", "-c", mortal, "PORT"}, []string{"net", "--start-timeout", "1s", "--connect", "127.0.0.1:PORT"},
			[]string{"net/server-gone", "takes no connections any more after ", "> \""}},
	} {
		t.Run(name, func(t *testing.T) {
			l, err := net.Listen("tcp", "127.0.0.1:0")
			if err != nil {
				t.Fatal(err)
			}
			address := l.Addr().String()
			port := strconv.Itoa(l.Addr().(*net.TCPAddr).Port)
			l.Close()
			fill := func(args []string) (filled []string) {
				for _, a := range args {
					filled = append(filled, strings.ReplaceAll(a, "PORT", port))
				}
				return filled
			}
			command := fill(tt.server)
			server := exec.CommandContext(t.Context(), command[0], command[1:]...)
			if err := server.Start(); err != nil {
				t.Fatal(err)
			}
			ended := make(chan error, 1)
			go func() { ended <- server.Wait() }()
			for end := time.Now().Add(time.Minute); ; time.Sleep(10 * time.Millisecond) {
				c, err := net.Dial("tcp", address)
				if err == nil {
					c.Close()
					break
				}
				if time.Now().After(end) {
					t.Fatal(err)
				}
			}
			k := &killed{dir: filepath.Join(t.TempDir(), "out"), tmp: t.TempDir(), mark: "TEASEL_GONE_TEST=1"}
			cmd := k.command(t, append(fill(tt.args), "--no-ui", "--duration", "10m", "--seed", "1", "--out", k.dir))
			var out, log bytes.Buffer
			cmd.Stdout, cmd.Stderr = &out, &log
			err = cmd.Run()
			if code := cmd.ProcessState.ExitCode(); code != 1 {
				t.Errorf("%v, want exit status 1\n%s%s", err, out.Bytes(), log.Bytes())
			}
			for _, want := range append(tt.says, "not teasel's to start again") {
				if !strings.Contains(out.String(), want) {
					t.Errorf("the report does not say %q:\n%s", want, out.Bytes())
				}
			}
			if files, _ := filepath.Glob(filepath.Join(k.dir, "unconfirmed", "*.json")); len(files) != 1 {
				t.Errorf("findings on disk: %v\n%s%s", files, out.Bytes(), log.Bytes())
			}
			server.Process.Kill()
			<-ended
		})
	}
}

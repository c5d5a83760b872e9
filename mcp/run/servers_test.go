package run

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// realServer returns the command of a server that scripts/setup-test.sh installs.
func realServer(tb testing.TB, name string) []string {
	tb.Helper()
	file, before, after := "npm/node_modules/@modelcontextprotocol/server-"+name+"/dist/index.js", []string{"node"}, []string(nil)
	switch name {
	case "gosdk", "mcpgo":
		file, before = "bin/"+name, nil
	case "everything":
		after = []string{"stdio"}
	case "filesystem":
		after = []string{tb.TempDir()}
	}
	path, err := filepath.Abs("../testdata/servers/" + file)
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		mcptest.Missing(tb, err)
	}
	return append(append(before, path), after...)
}

// TestServers runs the reference servers and those of two Go libraries.
func TestServers(t *testing.T) {
	for _, name := range []string{"everything", "filesystem", "memory", "sequential-thinking", "gosdk", "mcpgo"} {
		t.Run(name, func(t *testing.T) {
			e := open(t, &Target{Command: server.Command{Args: realServer(t, name), StartTimeout: time.Minute, Timeout: 10 * time.Second, Env: []string{"MEMORY_FILE_PATH=" + filepath.Join(t.TempDir(), "memory.jsonl")}}})
			if len(e.session.Tools) == 0 || len(e.session.Trouble) > 0 || e.session.Version != session.Versions[len(session.Versions)-1] {
				t.Errorf("%d tools, version %s, trouble: %q", len(e.session.Tools), e.session.Version, e.session.Trouble)
			}
			var ins []script.Script
			for i := range 200 {
				ins = append(ins, lineScript(ping, fmt.Sprintf(`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"no such tool %d"}}`, i)),
					lineScript(`{"jsonrpc":"2.0","id":"@id","method":"tools/list"}`))
			}
			obs := executeBatch(t, e, ins...)
			for i := range obs {
				if obs[i].Exit > teasel.ExitRejected || obs[i].Runs != uint32(len(ins[i].Steps)) {
					t.Fatalf("script %d ended as %v after %d answers: %s", i, obs[i].Exit, obs[i].Runs, obs[i].Detail)
				}
			}
			tr, obs1 := execute(t, e, lineScript(ping))
			answers := 0
			for i := range tr.Received { // everything asks for roots a while after it was initialized
				if tr.Received[i].Sent >= 0 {
					answers++
				}
			}
			if obs1.Exit != teasel.ExitOK || answers != 1 || tr.Noisy > 0 {
				t.Errorf("a ping ended as %v: %+v", obs1.Exit, tr)
			}
		})
	}
}

// TestServerEnds: a line that cannot be read ends a session of the Go SDK, with status 0 and nothing to say.
func TestServerEnds(t *testing.T) {
	e := open(t, &Target{Command: server.Command{Args: realServer(t, "gosdk")}})
	bad := lineScript(`{bad`)
	tr, obs := execute(t, e, bad)
	if obs.Exit != teasel.ExitCrash || tr.End.Kind != script.EndExited || tr.End.Code != 0 {
		t.Errorf("it ended as %v: %+v", obs.Exit, tr.End)
	}
	// What ends it each time is sent now and then only, as long as nobody asks for it by itself.
	ins := make([]script.Script, 64)
	for i := range ins {
		ins[i] = bad
	}
	crashes, skipped := 0, 0
	obsv := executeBatch(t, e, ins...)
	for i := range obsv {
		switch {
		case obsv[i].Exit == teasel.ExitCrash:
			crashes++
		case obsv[i].Runs == 0 && obsv[i].Evidence == nil:
			skipped++
		}
	}
	if crashes+skipped != len(ins) || crashes == 0 || crashes > firstTimes {
		t.Errorf("of %d, %d ended the server and %d were not sent", len(ins), crashes, skipped)
	}
	if _, obs := execute(t, e, bad); obs.Exit != teasel.ExitCrash {
		t.Errorf("asked for by itself it ended as %v", obs.Exit)
	}
}

// TestSlowRestarts: what ends a server each time takes a tenth of the time, also where a server takes long to start.
func TestSlowRestarts(t *testing.T) {
	slow := append([]string{"sh", "-c", `sleep 1; exec "$@"`, "sh"}, realServer(t, "gosdk")...)
	e := open(t, &Target{Command: server.Command{Args: slow}})
	crashes := 0
	for _, o := range executeBatch(t, e, slices.Repeat([]script.Script{lineScript(`{bad`)}, 64)...) {
		if o.Exit == teasel.ExitCrash {
			crashes++
		}
	}
	if crashes == 0 || crashes >= firstTimes {
		t.Errorf("the server was ended %d times", crashes)
	}
}

// TestServerSlowTools: with everything that the reference server has, the slow tools and those that ask the client for
// something do not hold up the rest.
func TestServerSlowTools(t *testing.T) {
	e := open(t, &Target{Command: server.Command{Args: realServer(t, "everything"), StartTimeout: time.Minute, Timeout: 20 * time.Second}})
	slow := call("trigger-long-running-operation", `{"duration":1,"steps":2}`)
	echo := call("echo", `{"message":"x"}`)
	ins := []script.Script{slow, echo, echo, slow, echo}
	ran, suspended := 0, 0
	for range 10 {
		for i, o := range executeBatch(t, e, ins...) {
			if i == 0 || i == 3 {
				suspended += int(o.Runs)
			} else if o.Runs == 1 && o.Exit == teasel.ExitOK && o.Evidence != nil {
				ran++
			}
		}
	}
	if ran != 30 || suspended == 0 {
		t.Errorf("%d of 30 echoes were answered, %d slow calls made", ran, suspended)
	}
	_, late := awaitLate(t, e, suspended)
	for i := range late {
		if late[i].Exit != teasel.ExitOK {
			t.Errorf("a slow call ended as %v: %s", late[i].Exit, late[i].Detail)
		}
	}
}

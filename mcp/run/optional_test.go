package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// What a server is free to answer is in flight beside other scripts, and what becomes of it there is what becomes of it alone: an
// answer by its id, or none. Only what has an answer late, or with another id, is run alone as well.
func TestOptionalAnswers(t *testing.T) {
	all := []string{
		`{"jsonrpc":"1.0","id":"@id","method":"ping"}`,
		`{"jsonrpc":"2.0","id":"@id","method":"ping","more":1}`,
		`{"jsonrpc":"2.0","id":"@id","method":"ping","params":[]}`,
		`{"jsonrpc":"2.0","id":"@id","method":"ping","params":"text"}`,
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"no such tool","arguments":{"a":1e99}}}`,
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"\ud800"}}`,
	}
	for _, name := range []string{"everything", "memory", "gosdk", "mcpgo", "planted"} {
		t.Run(name, func(t *testing.T) {
			command := []string{"python3", "-c", optionalServer}
			if name != "planted" {
				command = realServer(t, name)
			}
			e := open(t, &Target{Command: server.Command{Args: command, StartTimeout: time.Minute, Timeout: 10 * time.Second}})
			var lines, want []string
			for _, line := range all {
				tr, obs := execute(t, e, lineScript(line))
				if obs.Exit != teasel.ExitCrash { // a session of the Go SDK ends with another version
					lines, want = append(lines, line), append(want, becameOf(tr, obs))
				}
			}
			var ins []script.Script
			for i := range 20 * len(lines) {
				ins = append(ins, lineScript(ping), lineScript(lines[i%len(lines)], ping))
			}
			apart := map[string]bool{}
			for i, obs := range executeBatch(t, e, ins...) {
				if i%2 == 0 {
					continue
				}
				n := i / 2 % len(lines)
				tr := obs.Evidence.(*script.Transcript)
				if got := becameOf(tr, obs); got != want[n] {
					t.Errorf("beside others: %s\n\t%s, and alone %s", lines[n], got, want[n])
				}
				apart[lines[n]] = e.talks[i].alone
			}
			for i, line := range lines {
				late := name == "planted" && strings.Contains(line, "more") // more often than not
				if other := want[i] == "another id"; apart[line] != other && !late {
					t.Errorf("%s: %s, and run alone: %v", line, want[i], apart[line])
				}
			}
		})
	}
}

// optionalServer answers what has another version with the id null, what has one member more a little late, and nothing to params that are
// no object.
const optionalServer = `
import json, sys, threading
lock = threading.Lock()
def say(id, **more):
    with lock:
        print(json.dumps({"jsonrpc": "2.0", "id": id, **more}), flush=True)
for line in sys.stdin:
    m = json.loads(line)
    id, method, params = m.get("id"), m.get("method"), m.get("params", {})
    if id is None:
        continue
    if m.get("jsonrpc") != "2.0":
        say(None, error={"code": -32600, "message": "Invalid Request"})
    elif not isinstance(params, dict):
        pass
    elif "more" in m:
        threading.Timer(0.02, say, [id], {"result": {}}).start()
    elif method == "initialize":
        say(id, result={"protocolVersion": params.get("protocolVersion"), "capabilities": {"tools": {}}, "serverInfo": {"name": "optional", "version": "1"}})
    elif method == "ping":
        say(id, result={})
    elif method == "tools/list":
        say(id, result={"tools": []})
    else:
        say(id, error={"code": -32602, "message": "no"})
`

// becameOf says what became of the first line of a script.
func becameOf(tr *script.Transcript, obs teasel.Observation) string {
	first := &tr.Sent[0]
	switch {
	case obs.Exit > teasel.ExitRejected:
		return fmt.Sprint(obs.Exit)
	case first.Answer < 0:
		return "no answer"
	case tr.Received[first.Answer].Message.ID != first.Message.ID:
		return "another id"
	}
	return tr.Received[first.Answer].Message.Error.Get("code").String()
}

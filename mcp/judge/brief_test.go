package judge

import (
	"testing"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// What is sent is named briefly in messages, and quoted where anything in it may be wrong.
func TestBrief(t *testing.T) {
	for raw, want := range map[string]string{
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","arguments":{"a":1}}}`: "tools/call add {\"a\":1}",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add"}}`:                     "tools/call add",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"add","_meta":{}}}`:          "tools/call add {\"_meta\":{}}",
		`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":""}}`:                        `tools/call {"name":""}`,
		`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"file:///x"}}`:            "resources/read file:///x",
		`{"jsonrpc":"2.0","id":1,"method":"ping"}`:                                                   "ping",
		`{"jsonrpc":"2.0","id":1,"method":"tools/list","params":[1]}`:                                "tools/list [1]",
		`{"jsonrpc":"1.0","id":1,"method":"ping"}`:                                                   `{"jsonrpc":"1.0","id":1,"method":"ping"}`,
		`{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`:                                   `{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}`,
		`{"jsonrpc":`: `{"jsonrpc":`,
	} {
		m := jsonrpc.Parse([]byte(raw))
		if got := brief(&script.Sent{Raw: []byte(raw), Message: m}); got != want {
			t.Errorf("%s is named %s, want %s", raw, got, want)
		}
	}
}

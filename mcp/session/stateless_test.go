package session

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

func TestStamp(t *testing.T) {
	for _, tt := range []struct{ line, want string }{
		{`{"jsonrpc":"2.0","id":"@id","method":"a"}`, `{"jsonrpc":"2.0","id":"@id","method":"a","params":{"_meta":META}}`},
		{`{"id":1,"method":"a","params":{"b":1,"_meta":{"c":1e2}}}`, `{"id":1,"method":"a","params":{"b":1,"_meta":{"c":1e2,META}}}`},
		{`{"id":1,"method":"a","params":{"_meta":{"` + MetaVersion + `":"1","` + MetaCapabilities + `":5,"` + MetaClient + `":6}}}`, ""},
		{`{"method":"notifications/a"}`, ""},
		{`{"id":1, "method":"a"}`, ""},
		{`{"id":1,"method":"a","params":[]}`, ""},
		{`{"id":1,"method":"a","params":{"_meta":null}}`, ""},
		{`[]`, ""},
		{`{bad`, ""},
	} {
		want := strings.ReplaceAll(strings.ReplaceAll(tt.want, "{META}", "META"), "META", statelessMeta)
		if strings.Contains(tt.want, ",META}") {
			want = strings.ReplaceAll(tt.want, "META", statelessMeta[1:len(statelessMeta)-1])
		}
		if tt.want == "" {
			want = tt.line
		}
		if got := string(Stamp([]byte(tt.line))); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", tt.line, got, want)
		}
	}
}

func TestRequestHead(t *testing.T) {
	for line, want := range map[string]string{
		`{"id":1,"method":"tools/list"}`:                                "Mcp-Method: tools/list",
		`{"id":1,"method":"tools/call","params":{"name":"a b"}}`:        "Mcp-Method: tools/call\nMcp-Name: a b",
		`{"id":1,"method":"resources/read","params":{"uri":"a\n:"}}`:    "Mcp-Method: resources/read\nMcp-Name: =?base64?YQo6?=",
		`{"id":1,"method":"prompts/get","params":{"name":"=?base64?"}}`: "Mcp-Method: prompts/get\nMcp-Name: =?base64?PT9iYXNlNjQ/?=",
	} {
		m := jsonrpc.Parse([]byte(line))
		if got := RequestHead(&m); got != "MCP-Protocol-Version: "+StatelessVersion+"\n"+want {
			t.Errorf("%s: %q", line, got)
		}
	}
	if m := jsonrpc.Parse([]byte(`{bad`)); RequestHead(&m) != "" {
		t.Error("a line that is no message has a head")
	}
}

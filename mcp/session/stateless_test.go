package session

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
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
	var s Session
	schema, err := mutate.ParseJSON([]byte(`{"name":"sql","inputSchema":{"type":"object","properties":{"region":{"type":"string","x-mcp-header":"Region"},
		"in":{"properties":{"n":{"type":"integer","x-mcp-header":"N"},"dry":{"type":"boolean","x-mcp-header":"Dry"}}},"bad":{"x-mcp-header":"a b"},"all":{"items":{"x-mcp-header":"All"}}}}}`))
	if err != nil {
		t.Fatal(err)
	}
	s.AddTool(schema)
	const sql = "Mcp-Method: tools/call\nMcp-Name: sql"
	call := func(arguments string) string {
		return `{"id":1,"method":"tools/call","params":{"name":"sql","arguments":{` + arguments + `}}}`
	}
	for line, want := range map[string]string{
		`{"id":1,"method":"tools/list"}`:                                        "Mcp-Method: tools/list",
		`{"id":1,"method":"tools/call","params":{"name":"a b"}}`:                "Mcp-Method: tools/call\nMcp-Name: a b",
		`{"id":1,"method":"resources/read","params":{"uri":"a\n:"}}`:            "Mcp-Method: resources/read\nMcp-Name: =?base64?YQo6?=",
		`{"id":1,"method":"prompts/get","params":{"name":"=?base64?"}}`:         "Mcp-Method: prompts/get\nMcp-Name: =?base64?PT9iYXNlNjQ/?=",
		call(`"region":"us-west1","in":{"n":-7,"dry":false},"bad":1,"all":[1]`): sql + "\nMcp-Param-Region: us-west1\nMcp-Param-N: -7\nMcp-Param-Dry: false",
		call(`"region":"ä","in":{"n":null}`):                                    sql + "\nMcp-Param-Region: =?base64?w6Q=?=",
		call(`"region":"","in":[]`):                                             sql + "\nMcp-Param-Region: =?base64??=",
		call(`"region":{}`):                                                     sql,
	} {
		m := jsonrpc.Parse([]byte(line))
		if got := RequestHead(&m, s.Mirrors); got != "MCP-Protocol-Version: "+StatelessVersion+"\n"+want {
			t.Errorf("%s: %q", line, got)
		}
	}
	if m := jsonrpc.Parse([]byte(`{bad`)); RequestHead(&m, nil) != "" {
		t.Error("a line that is no message has a head")
	}
}

func TestDecodeHead(t *testing.T) {
	for _, text := range []string{"", "a", "ä", "=?base64?", "a\n"} {
		if got := DecodeHead(EncodedHead(text)); got != text {
			t.Errorf("%q became %q", text, got)
		}
	}
	for _, value := range []string{"a", "=?base64?!?=", "=?base64?", "=?BASE64?YQ==?="} {
		if got := DecodeHead(value); got != value {
			t.Errorf("%q became %q", value, got)
		}
	}
}

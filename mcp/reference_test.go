package mcp

import (
	"slices"
	"testing"
)

func TestRenumber(t *testing.T) {
	later := func(k int) int { return k + 9 }
	lost := func(k int) int {
		if k == 1 {
			return gone
		}
		return k
	}
	for _, test := range []struct {
		line string
		move func(int) int
		want string
	}{
		{`{"id":"@id"}`, later, `{"id":"@id"}`},
		{`{"a":"@id:1"}`, later, `{"a":"@id:10"}`},
		{`{"a":"@id:1:s"}`, later, `{"a":"@id:10:s"}`},
		{`{"a":"@{1:/x}@{2:/y#3}"}`, later, `{"a":"@{10:/x}@{11:/y#3}"}`},
		{`{"a":"@id:1","b":"@id:1:s","c":"@id:0"}`, lost, `{"a":0,"b":0,"c":"@id:0"}`},
		{`{"a":"x@{1:/x}y"}`, lost, `{"a":"xy"}`},
		{`@{1:/x}`, later, `@{10:/x}`},
		{`{"a":"@{canary:rel}@{canary}"}`, later, `{"a":"@{canary:rel}@{canary}"}`},
		{`@id:1`, later, `@id:1`},
		{`"@id:1`, later, `"@id:1`},
		{`"@id:"`, later, `"@id:"`},
		{`@{1`, later, `@{1`},
		{`@{1:`, later, `@{1:`},
		{`@{:/x}`, later, `@{:/x}`},
		{`@@{0:/x}`, later, `@@{9:/x}`},
		{`"@{99999999999999999999:/x}"`, later, `"@{99999999999999999999:/x}"`},
	} {
		if got := string(renumber([]byte(test.line), test.move)); got != test.want {
			t.Errorf("%s became %s, want %s", test.line, got, test.want)
		}
	}
}

func TestTemplate(t *testing.T) {
	value := func(name string) string { return "<" + name + ">" }
	for _, test := range []struct {
		template, want string
		variables      []string
	}{
		{"demo://{id}", "demo://<id>", []string{"id"}},
		{"a/{x,y}/b{z}", "a/<x>,<y>/b<z>", []string{"x", "y", "z"}},
		{"{+path}{#frag}", "<path>#<frag>", []string{"path", "frag"}},
		{"a{/b*,c:3}{?d,e}{&f}", "a/<b>/<c>?d=<d>&e=<e>&f=<f>", []string{"b", "c", "d", "e", "f"}},
		{"{;x}{.y}", ";x=<x>.<y>", []string{"x", "y"}},
		{"plain", "plain", nil},
		{"open{", "open{", nil},
		{"{}", "<>", nil},
	} {
		if got := expandTemplate(test.template, value); got != test.want {
			t.Errorf("%s is %s, want %s", test.template, got, test.want)
		}
		if got := templateVariables(test.template); !slices.Equal(got, test.variables) {
			t.Errorf("%s has %v, want %v", test.template, got, test.variables)
		}
	}
}

func TestSubject(t *testing.T) {
	s := recordedSession(t, "everything")
	for _, test := range []struct{ line, want string }{
		{pingLine, "ping"},
		{echoCall, "tools/call echo"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}`, "tools/call (unknown tool)"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "tools/call (unknown tool)"},
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"args-prompt"}}`, "prompts/get args-prompt"},
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":[]}`, "prompts/get (unknown prompt)"},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a"}}`, "resources/read"},
		{initializedLine, "notifications/initialized"},
		{`{"jsonrpc":"2.0","method":"notifications/x"}`, "(unknown notification)"},
		{`{"jsonrpc":"2.0","id":1,"method":"x"}`, "(unknown method)"},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, "(response)"},
		{`[]`, "(batch)"}, {`{}`, "(invalid message)"}, {`5`, "(invalid message)"}, {`{bad`, "(invalid JSON)"}, {``, "(invalid JSON)"},
	} {
		msg := ParseMessage([]byte(test.line))
		if got := Subject(s, &msg); got != test.want {
			t.Errorf("%s is about %s, want %s", test.line, got, test.want)
		}
	}
	msg := ParseMessage([]byte(echoCall))
	if got := Subject(nil, &msg); got != "tools/call (unknown tool)" {
		t.Errorf("without a session: %s", got)
	}
}

package mcp

import "testing"

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

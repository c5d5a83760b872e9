package session_test

import (
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/session"
)

func TestSubject(t *testing.T) {
	s := mcptest.RecordedSession(t, "everything")
	for _, test := range []struct{ line, want string }{
		{session.PingLine, "ping"},
		{mcptest.EchoCall, "tools/call echo"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"nope"}}`, "tools/call (unknown tool)"},
		{`{"jsonrpc":"2.0","id":1,"method":"tools/call"}`, "tools/call (unknown tool)"},
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{"name":"args-prompt"}}`, "prompts/get args-prompt"},
		{`{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":[]}`, "prompts/get (unknown prompt)"},
		{`{"jsonrpc":"2.0","id":1,"method":"resources/read","params":{"uri":"a"}}`, "resources/read"},
		{session.InitializedLine, "notifications/initialized"},
		{`{"jsonrpc":"2.0","method":"notifications/x"}`, "(unknown notification)"},
		{`{"jsonrpc":"2.0","id":1,"method":"x"}`, "(unknown method)"},
		{`{"jsonrpc":"2.0","id":1,"result":{}}`, "(response)"},
		{`[]`, "(batch)"}, {`{}`, "(invalid message)"}, {`5`, "(invalid message)"}, {`{bad`, "(invalid JSON)"}, {``, "(invalid JSON)"},
	} {
		msg := jsonrpc.Parse([]byte(test.line))
		if got := session.Subject(s, &msg); got != test.want {
			t.Errorf("%s is about %s, want %s", test.line, got, test.want)
		}
	}
	msg := jsonrpc.Parse([]byte(mcptest.EchoCall))
	if got := session.Subject(nil, &msg); got != "tools/call (unknown tool)" {
		t.Errorf("without a session: %s", got)
	}
}

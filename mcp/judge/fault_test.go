package judge

import (
	"testing"

	"github.com/teaselfuzz/teasel/internal/mcptest"
)

// TestEventError: an error that Node raises in an event, with no function of the program in its stack, is one fault, whichever request was on
// its way.
func TestEventError(t *testing.T) {
	session := mcptest.DeskSession(t)
	ids := map[string]bool{}
	for _, method := range []string{"ping", "tools/list"} {
		found := judgeText(t, session, `> {"jsonrpc":"2.0","id":1,"method":"`+method+`"}
2> node:events:497
2>       throw er; // Unhandled 'error' event
2>       ^
2>
2> Error: aborted
2>     at abortIncoming (node:_http_server:796:17)
2>     at socketOnClose (node:_http_server:790:3)
2>     at Socket.emit (node:events:536:35)
2> Emitted 'error' event on IncomingMessage instance at:
2>     at emitErrorNT (node:internal/streams/destroy:169:8)
! exit 1
`)
		for _, f := range found {
			ids[f.ID()] = true
			t.Logf("%s %s %q: %s", f.Rule, f.Subject, f.Fault, f.Message)
		}
	}
	if len(ids) != 1 {
		t.Errorf("%d findings, want one", len(ids))
	}
}

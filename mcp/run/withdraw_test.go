package run

import (
	"testing"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// TestWithdraw: nobody waits for the answer to a request that was cancelled, in whatever notation its id is, and nobody calls its
// absence a hang.
func TestWithdraw(t *testing.T) {
	const cancel = `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":`
	for _, tt := range []struct {
		line string
		want bool
	}{
		{cancel + `1000007}}`, true},
		{cancel + `0,"requestId":1000007.0}}`, true},
		{`[` + cancel + `1000007}}]`, true},
		{cancel + `"1000007"}}`, false},
		{cancel + `1000008}}`, false},
		{cancel + `null}}`, false},
		{`{"jsonrpc":"2.0","method":"notifications/progress","params":{"requestId":1000007}}`, false},
		{`{"method":"ping","method":"notifications/progress","params":{"requestId":1000007}}`, false},
	} {
		k := &talk{counts: counts{unanswered: 1, open: 1}, server: newPeer(&server.Server{})}
		k.t.Sent = []script.Sent{{Message: jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1000007,"method":"ping"}`)), Regular: true, Answer: -1}}
		k.server.flights[1000007] = &flight{talk: k, awaited: true}
		m := jsonrpc.Parse([]byte(tt.line))
		k.withdraw(&m)
		if got := k.t.Sent[0].Withdrawn; got != tt.want {
			t.Errorf("%s withdraws it: %v, want %v", tt.line, got, tt.want)
		}
		if k.open != 1 && !tt.want || k.open != 0 && tt.want || k.unanswered != k.open {
			t.Errorf("%s: %d answers are waited for, %d are due", tt.line, k.open, k.unanswered)
		}
	}
}

package run

import (
	"testing"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// TestWithdrawAnothers: a mutated number may be the id of a request that somebody else has in flight. Nobody waits for
// that answer any more, and nobody calls its absence a hang.
func TestWithdrawAnothers(t *testing.T) {
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
		e := &executor{}
		other := &lane{owed: 1, group: &group{open: 1}}
		other.t.Sent = []script.Sent{{Message: jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":1000007,"method":"ping"}`)), Regular: true, Answer: -1}}
		r := &round{server: &server{flights: map[int64]flight{1000007: {lane: other, blocking: true}}}}
		m := jsonrpc.Parse([]byte(tt.line))
		e.withdraw(r, &lane{}, &m)
		if got := other.t.Sent[0].Withdrawn; got != tt.want {
			t.Errorf("%s withdraws it: %v, want %v", tt.line, got, tt.want)
		}
		if open := other.group.open; open != 1 && !tt.want || open != 0 && tt.want {
			t.Errorf("%s: %d answers are waited for", tt.line, open)
		}
	}
}

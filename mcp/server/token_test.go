package server

import (
	"fmt"
	"testing"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

// A token is in use as long as a request with it has no answer.
func TestTakeToken(t *testing.T) {
	s := &Server{IDs: FirstID + 10}
	take := func(token string) (string, bool) {
		m := jsonrpc.Parse(fmt.Appendf(nil, `{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"_meta":{"progressToken":%s}}}`, FirstID+1, token))
		return s.TakeToken(&m)
	}
	for _, tt := range []struct {
		token string
		taken bool
	}{{`"a"`, false}, {`"a"`, true}, {`"b"`, false}, {`1`, false}, {fmt.Sprint(FirstID + 3), false}, {fmt.Sprint(FirstID + 3), false}} {
		if _, taken := take(tt.token); taken != tt.taken {
			t.Errorf("%s is in use: %v", tt.token, taken)
		}
	}
	for i, want := range []bool{true, false} {
		s.FreeToken(`"a"`)
		s.FreeToken(`"a"`)
		if i == 0 {
			take(`"a"`)
		}
		key, taken := take(`"a"`)
		if taken != want {
			t.Errorf("after %d rounds it is in use: %v", i, taken)
		}
		s.FreeToken(key)
	}
	for i := range maxTaken + 1 {
		take(fmt.Sprintf(`"t%d"`, i))
	}
	if len(s.tokens) > maxTaken {
		t.Errorf("%d tokens are remembered", len(s.tokens))
	}
}

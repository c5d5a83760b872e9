package run

import (
	"encoding/json"
	"fmt"
	"github.com/teaselfuzz/teasel/mcp/server"
	"net/http"
	"net/http/httptest"
	"testing"
)

// A session is over when a request gets 404 without its own answer, or with one that says so. A server may set the same status beside
// the refusal of a method, and the session goes on.
func TestExpired(t *testing.T) {
	for _, tt := range []struct {
		body string // of what is answered with 404; %s is the request's id
		want bool
	}{
		{`{"jsonrpc":"2.0","id":%s,"error":{"code":-32601,"message":"Method not found"}}`, false},
		{`{"jsonrpc":"2.0","id":%s,"error":{"code":-32001,"message":"Session not found"}}`, true},
		{`{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"%.0sno such thing"}}`, true},
		{`%.0s`, true},
	} {
		s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			var m struct {
				ID     json.RawMessage
				Method string
			}
			json.NewDecoder(r.Body).Decode(&m)
			answer := `{"jsonrpc":"2.0","id":%s,"result":{}}`
			switch {
			case m.ID == nil:
				w.WriteHeader(http.StatusAccepted)
				return
			case m.Method == "initialize":
				w.Header().Set("Mcp-Session-Id", "0123456789abcdef0123456789abcdef")
				answer = `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`
			case m.Method != "ping":
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(http.StatusNotFound)
				fmt.Fprintf(w, tt.body, m.ID)
				return
			}
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, answer, m.ID)
		}))
		t.Run(tt.body, func(t *testing.T) {
			e := open(t, &Target{Command: server.Command{URL: s.URL}})
			for range 2 {
				execute(t, e, lineScript(`{"jsonrpc":"2.0","id":"@id","method":"teasel_no_such_a1"}`))
				if e.live.ended != tt.want {
					t.Errorf("the session has ended: %v", e.live.ended)
				}
			}
		})
		s.Close()
	}
}

package run

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// sessions is a server that counts its sessions, of which all but one may be ended.
type sessions struct {
	mu    sync.Mutex
	begun int
	open  map[string]bool
}

func (s *sessions) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	id := r.Header.Get("Mcp-Session-Id")
	var m struct {
		ID     json.RawMessage
		Method string
	}
	json.NewDecoder(r.Body).Decode(&m)
	switch {
	case r.Method == "GET":
		w.WriteHeader(http.StatusMethodNotAllowed)
	case r.Method == "DELETE":
		delete(s.open, id)
	case m.Method == "initialize":
		s.begun++
		if id == "" {
			id = fmt.Sprint("session-", s.begun)
			s.open[id] = true
		}
		w.Header().Set("Mcp-Session-Id", id)
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"a","version":"1"}}}`, m.ID)
	case m.ID == nil:
		w.WriteHeader(http.StatusAccepted)
	default:
		w.Header().Set("Content-Type", "application/json")
		fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{}}`, m.ID)
	}
}

// TestSessionsEnd: a server that runs already keeps no session of ours, whatever scripts have begun, and the sessions of others.
func TestSessionsEnd(t *testing.T) {
	s := &sessions{open: map[string]bool{"another client's": true}}
	web := httptest.NewServer(s)
	defer web.Close()
	ex, err := (&Target{Command: server.Command{URL: web.URL}}).Open(t.Context(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	begin := script.Step{Line: session.InitializeLine("2025-11-25"), Head: "Mcp-Session-Id:"}
	many, guessed := begin, begin
	many.Times, guessed.Head = 100, "Mcp-Session-Id: another client's"
	for _, in := range []script.Script{
		script.NewShared("", many),
		script.NewShared("", guessed),
		script.NewShared("", begin, script.Step{Head: "DELETE\nMcp-Session-Id: @{0:Mcp-Session-Id}"}),
		script.NewFresh("", append(script.Handshake("2025-11-25"), many)...),
	} {
		if err := ex.Exec(t.Context(), in, &teasel.Observation{Runs: 1}); err != nil {
			t.Fatal(err)
		}
	}
	if err := ex.Close(); err != nil {
		t.Fatal(err)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.open) != 1 || !s.open["another client's"] || s.begun < 203 {
		t.Errorf("%d sessions were begun, and these are open: %v", s.begun, s.open)
	}
}

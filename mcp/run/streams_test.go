package run

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// streams starts a server over HTTP that answers initialize and pings as every server does, and what else comes, requests and GETs, by
// a handler of the test. The id of a request is that of the answer that is due.
func streams(t *testing.T, c server.Command, handle func(w http.ResponseWriter, r *http.Request, method, id string)) *executor {
	t.Helper()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		json.NewDecoder(r.Body).Decode(&m)
		switch {
		case r.Method == "GET" && r.Header.Get("Last-Event-ID") == "":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.Method == "POST" && m.ID == nil:
			w.WriteHeader(http.StatusAccepted)
		case m.Method == "initialize", m.Method == "ping":
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprintf(w, `{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, m.ID)
		default:
			w.Header().Set("Content-Type", "text/event-stream")
			handle(w, r, m.Method, string(m.ID))
		}
	}))
	t.Cleanup(s.Close)
	c.URL = s.URL
	return open(t, &Target{Command: c})
}

// event writes one, and has it sent at once.
func event(w http.ResponseWriter, format string, args ...any) {
	fmt.Fprintf(w, format+"\n\n", args...)
	w.(http.Flusher).Flush()
}

const question = `{"jsonrpc":"2.0","id":"@id","method":"teasel"}`

// A response that breaks off after its answer has come is that answer.
func TestStreamBreaksOff(t *testing.T) {
	e := streams(t, server.Command{}, func(w http.ResponseWriter, r *http.Request, _, id string) {
		w.Header().Set("Mcp-Session-Id", "its-own")
		event(w, `data: {"jsonrpc":"2.0","id":%s,"result":{}}`, id)
		panic(http.ErrAbortHandler)
	})
	tr, obs := execute(t, e, lineScript(question))
	s := &tr.Sent[0]
	if s.Status != http.StatusOK || s.Header.Get("Mcp-Session-Id") != "its-own" || len(told(&obs, judge.RuleHTTPNoResponse)) > 0 {
		t.Errorf("it ended as %v with status %d and %v: %v", obs.Exit, s.Status, s.Header, told(&obs, judge.RuleHTTPNoResponse))
	}
}

// A server may close a stream after an event with an id: the rest comes to who asks for it by that id. That it does not come there
// either is no fault of the response.
func TestStreamResumes(t *testing.T) {
	for _, tt := range []struct {
		name    string
		first   string // events of the response
		status  int    // of the GET
		answers bool   // the GET has the answer
		want    int    // findings
	}{
		{"and the answer comes", "id: 1\ndata:\n\nid: 2\ndata:", http.StatusOK, true, 0},
		{"and nothing comes", "id: 2\ndata:", http.StatusOK, false, 0},
		{"and it is refused", "id: 2\ndata:", http.StatusMethodNotAllowed, false, 0},
		{"without an id", ": nothing", http.StatusOK, true, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			asked := ""
			e := streams(t, server.Command{}, func(w http.ResponseWriter, r *http.Request, _, id string) {
				switch last := r.Header.Get("Last-Event-ID"); {
				case r.Method == "POST":
					asked = id
					event(w, "%s", tt.first)
				case tt.status != http.StatusOK:
					http.Error(w, `{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no GET"}}`, tt.status)
				case last == "2" && tt.answers:
					event(w, `data: {"jsonrpc":"2.0","id":%s,"result":{"resumed":true}}`, asked)
				}
			})
			tr, obs := execute(t, e, lineScript(question))
			s := &tr.Sent[0]
			answered := s.Answer >= 0 && tr.Received[s.Answer].Message.Result != nil
			if found := told(&obs, judge.RuleHTTPNoResponse); len(found) != tt.want || answered != (tt.answers && tt.want == 0) || s.Status != http.StatusOK || obs.Exit != teasel.ExitOK {
				t.Errorf("it ended as %v with status %d, answered %v: %v", obs.Exit, s.Status, answered, found)
			}
		})
	}
}

// The response to a request may stay open after its answer. It does not keep others from being sent.
func TestStreamsStayOpen(t *testing.T) {
	for _, serial := range []bool{false, true} {
		e := streams(t, server.Command{Serial: serial, Timeout: 2 * time.Second}, func(w http.ResponseWriter, r *http.Request, _, id string) {
			event(w, `data: {"jsonrpc":"2.0","id":%s,"result":{}}`, id)
			<-r.Context().Done()
		})
		ins := slices.Repeat([]script.Script{lineScript(question, question)}, 50)
		if serial {
			ins = ins[:3]
		}
		obs := executeBatch(t, e, ins...)
		suspended := 0
		for i := range obs {
			if obs[i].Evidence == nil { // while others kept their places
				suspended++
			}
		}
		_, late := awaitLate(t, e, suspended)
		for _, o := range append(obs, late...) {
			if o.Exit != teasel.ExitOK || o.Runs != 2 && o.Evidence == nil {
				t.Errorf("a script ended as %v after %d answers: %s", o.Exit, o.Runs, o.Detail)
			}
		}
	}
}

// A request that was never written, since others that have no answer hold all connections, is not one that is not answered.
func TestStreamsHoldAll(t *testing.T) {
	const held = 64
	var asked atomic.Int32
	e := streams(t, server.Command{Timeout: time.Second}, func(w http.ResponseWriter, r *http.Request, method, id string) {
		if method == "hold" {
			asked.Add(1)
			event(w, ": wait")
			<-r.Context().Done()
			return
		}
		event(w, `data: {"jsonrpc":"2.0","id":%s,"result":{}}`, id)
	})
	var hold []string
	for range held {
		hold = append(hold, `{"jsonrpc":"2.0","id":"@id","method":"hold"}`)
	}
	holding := lineScript(hold...)
	for i := range holding.Steps {
		holding.Steps[i].NoWait = true
	}
	executeBatch(t, e, holding)
	if o := executeBatch(t, e, lineScript(question))[0]; o.Evidence != nil {
		t.Fatal("it was answered while all connections were held")
	}
	if _, o := execute(t, e, lineScript(question)); o.Exit != teasel.ExitOK {
		t.Errorf("by itself it ended as %v: %s", o.Exit, o.Detail)
	}
	ins, late := awaitLate(t, e, 1)
	executeBatch(t, e, lineScript(question)) // and tries the other one again
	in, o := awaitLate(t, e, 1)
	ins, late = append(ins, in...), append(late, o...)
	for i := range ins {
		tr := late[i].Evidence.(*script.Transcript)
		if len(ins[i].Steps) == held {
			if late[i].Exit != teasel.ExitHang || asked.Load() != held {
				t.Errorf("what has no answer ended as %v; %d requests came", late[i].Exit, asked.Load())
			}
		} else if late[i].Exit != teasel.ExitOK || tr.Unanswered() >= 0 {
			t.Errorf("what was never written ended as %v: %s", late[i].Exit, late[i].Detail)
		}
	}
}

// Over HTTP+SSE a request whose POST has no response holds up no other.
func TestStreamOfAll(t *testing.T) {
	answers := make(chan string, 100)
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		var m struct {
			ID     json.RawMessage
			Method string
		}
		json.NewDecoder(r.Body).Decode(&m)
		switch {
		case r.URL.Path == "/" && r.Method == "POST":
			w.WriteHeader(http.StatusMethodNotAllowed)
		case r.URL.Path == "/":
			w.Header().Set("Content-Type", "text/event-stream")
			for event(w, "event: endpoint\ndata: /post"); ; {
				select {
				case answer := <-answers:
					event(w, "data: %s", answer)
				case <-r.Context().Done():
					return
				}
			}
		case m.Method == "hold":
			<-r.Context().Done()
		case m.ID != nil:
			answers <- fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"protocolVersion":"2024-11-05","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}`, m.ID)
			fallthrough
		default:
			w.WriteHeader(http.StatusAccepted)
		}
	}))
	t.Cleanup(s.Close)
	e := open(t, &Target{Command: server.Command{URL: s.URL, Timeout: 500 * time.Millisecond}})
	for range 2 {
		if _, o := execute(t, e, lineScript(`{"jsonrpc":"2.0","id":"@id","method":"hold"}`)); o.Exit != teasel.ExitHang {
			t.Errorf("what has no answer ended as %v", o.Exit)
		}
		if tr, o := execute(t, e, lineScript(question)); o.Exit != teasel.ExitOK || tr.Unanswered() >= 0 {
			t.Errorf("what has one ended as %v: %s", o.Exit, o.Detail)
		}
	}
	if len(e.live.exchanges) > 0 {
		t.Errorf("%d exchanges go on", len(e.live.exchanges))
	}
}

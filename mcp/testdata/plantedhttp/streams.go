package main

import (
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"strings"
)

// An event is one of a stream, each of which has one: the answer to a request.
type event struct {
	session, id string
	body        []byte
}

// keep keeps an event for a client that resumes the stream, and returns its id, which has a number for the stream and the number of the
// event in it.
func (s *server) keep(session string, request json.RawMessage, body []byte) (id string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if id = fmt.Sprintf("%d-1", len(s.kept)); !s.clean && len(request)%2 == 0 {
		id = "1" // bug: many have this one
	}
	s.kept = append(s.kept, event{session, id, body})
	return id
}

// events returns an answer as the events of its stream: what comes before it, and where there are no bugs what to resume the stream from.
func (s *server) events(w http.ResponseWriter, id json.RawMessage, body []byte) (text []byte) {
	event := s.keep(w.Header().Get(sessionHeader), id, body)
	if stream, ok := strings.CutSuffix(event, "-1"); ok && s.clean && !s.stateless {
		text = fmt.Appendf(text, "id: %s-0\ndata: \n\n", stream)
	}
	if r, ok := w.(*response); ok {
		for _, m := range r.before {
			text = fmt.Appendf(text, "data: %s\n\n", m)
		}
	}
	return fmt.Appendf(text, "id: %s\nevent: message\ndata: %s\n\n", event, body)
}

// stream sends on the stream of a GET what there is to send, until the client closes it.
func (s *server) stream(w http.ResponseWriter, r *http.Request) {
	messages := make(chan string, 64)
	s.mu.Lock()
	s.streams[messages] = r.Header.Get(sessionHeader)
	if s.has("third-stream") && len(s.streams) > 2 {
		panicOutside()
	}
	s.mu.Unlock()
	defer func() {
		s.mu.Lock()
		defer s.mu.Unlock()
		delete(s.streams, messages)
	}()
	w.Header().Set("Content-Type", "text/event-stream")
	for w.(http.Flusher).Flush(); ; w.(http.Flusher).Flush() {
		select {
		case body := <-messages:
			fmt.Fprintf(w, "data: %s\n\n", body)
		case <-r.Context().Done():
			return
		}
	}
}

// progress sends the progress of a request that asks for it, on a stream of its session.
func (s *server) progress(session string, m *message) {
	var meta map[string]json.RawMessage
	var token any
	if json.Unmarshal(m.Params["_meta"], &meta) != nil || json.Unmarshal(meta["progressToken"], &token) != nil {
		return
	}
	number, isNumber := token.(float64)
	if _, isText := token.(string); !isText && (!isNumber || number != float64(int(number))) {
		return
	}
	body, _ := json.Marshal(map[string]any{"jsonrpc": "2.0", "method": "notifications/progress", "params": map[string]any{"progressToken": meta["progressToken"], "progress": 1}})
	s.push(session, body)
}

// push sends a message on the stream of a GET of a session, and reports whether there is one.
func (s *server) push(session string, body []byte) (sent bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for messages, of := range s.streams {
		if (of != session) != s.has("progress-elsewhere") {
			continue
		}
		select {
		case messages <- string(body):
			sent = true
		default: // it is not read
		}
		if s.clean { // bug: on all of them
			break
		}
	}
	return sent
}

// resume answers with what a stream has behind an event.
func (s *server) resume(w http.ResponseWriter, r *http.Request) {
	if s.refused(w, r) {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s.mu.Lock()
	defer s.mu.Unlock()
	session, last := r.Header.Get(sessionHeader), r.Header.Get("Last-Event-ID")
	stream, begins := strings.CutSuffix(last, "-0")
	found := false
	for _, e := range s.kept {
		own := e.session == session
		first := begins && e.id == stream+"-1"
		if found && (!s.clean && own || s.has("resumed-all")) || first && (s.clean && own || s.has("resumed-stream")) { // bug: and all other streams
			fmt.Fprintf(w, "id: %s\ndata: %s\n\n", e.id, e.body)
		}
		found = found || e.id == last || first
	}
}

// panicOutside ends the program, as a panic does where no handler recovers it.
func panicOutside() {
	fmt.Fprintln(os.Stderr, "panic: too many streams\n\ngoroutine 1 [running]:\nmain.(*server).stream(0x0)\n\t/src/streams.go:50 +0x1")
	os.Exit(2)
}

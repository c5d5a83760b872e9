package main

import (
	"encoding/json"
	"fmt"
	"net/http"
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

// resume answers with what a stream has behind an event, of which there is nothing.
func (s *server) resume(w http.ResponseWriter, r *http.Request) {
	if s.refused(w, r) {
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	s.mu.Lock()
	defer s.mu.Unlock()
	found := false
	for _, e := range s.kept {
		if found && !s.clean && e.session == r.Header.Get(sessionHeader) { // bug: and all other streams
			fmt.Fprintf(w, "id: %s\ndata: %s\n\n", e.id, e.body)
		}
		found = found || e.id == r.Header.Get("Last-Event-ID")
	}
}

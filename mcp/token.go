package mcp

import "github.com/teaselfuzz/teasel/mutate"

// How many progress tokens of one process are told apart, and how long they may be as JSON.
const (
	maxTaken     = 1024
	maxTakenText = 256
)

// takeToken notes the progress token of a request that is sent, and reports whether another request that has no answer yet
// may still be using it: what that has begun goes on, and the progress that is told may be its.
func (s *server) takeToken(m *Message) (taken bool) {
	token := s.madeUp(m)
	if token == nil {
		return false
	}
	key := token.String()
	n, known := s.tokens[key]
	switch {
	case !known && (len(s.tokens) >= maxTaken || len(key) > maxTakenText):
		return true
	case s.tokens == nil:
		s.tokens = make(map[string]int)
	}
	s.tokens[key] = n + 1
	return n > 0
}

// freeToken notes that a request was answered.
func (s *server) freeToken(m *Message) {
	token := s.madeUp(m)
	if token == nil {
		return
	}
	key := token.String()
	if s.tokens[key] > 1 {
		s.tokens[key]--
	} else {
		delete(s.tokens, key)
	}
}

// madeUp returns the progress token of a request unless it is an id of ours, which no other request has; nil: there is none.
func (s *server) madeUp(m *Message) *mutate.JSON {
	if m.Class != ClassRequest {
		return nil
	}
	token := tokenOf(m)
	if token == nil {
		return nil
	}
	if id, ok := looseID(jsonText(token)); ok && s.ours(id) {
		return nil
	}
	return token
}

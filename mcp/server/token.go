package server

import (
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// How many progress tokens of one process are told apart, and how long they may be as JSON.
const (
	maxTaken     = 1024
	maxTakenText = 256
)

// TakeToken notes the progress token of a request that is sent, and reports whether another request that has no answer yet
// may still be using it: what that has begun goes on, and the progress that is reported may be its. The key is for FreeToken; a
// token which is an id of ours has none, as no other request has the same.
func (s *Server) TakeToken(m *jsonrpc.Message) (key string, taken bool) {
	token := session.TokenOf(m)
	if m.Class != jsonrpc.ClassRequest || token == nil {
		return "", false
	}
	if _, ours := s.OurID(token); ours {
		return "", false
	}
	key = token.String()
	n, known := s.tokens[key]
	switch {
	case !known && (len(s.tokens) >= maxTaken || len(key) > maxTakenText):
		return "", true
	case s.tokens == nil:
		s.tokens = make(map[string]int)
	}
	s.tokens[key] = n + 1
	return key, n > 0
}

// FreeToken notes that a request was answered.
func (s *Server) FreeToken(key string) {
	if s.tokens[key] > 1 {
		s.tokens[key]--
	} else {
		delete(s.tokens, key)
	}
}

// OurID returns the id of ours that a value is, in whatever notation.
func (s *Server) OurID(v *mutate.JSON) (id int64, ok bool) {
	id, ok = jsonrpc.LooseID(jsonrpc.JSONText(v))
	return id, ok && s.Gave(id)
}

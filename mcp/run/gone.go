package run

import (
	"errors"
	"sync"

	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// GoneError says that a server which is not ours was there, and takes no connections any more. Nothing can be tried on it again.
type GoneError struct {
	Script script.Script // the last that it was sent: if a request has ended it, it is among that; without steps nobody knows
	err    error
}

func (e *GoneError) Error() string { return e.err.Error() }

// Unwrap returns why it could not be reached.
func (e *GoneError) Unwrap() error { return e.err }

// LastSent is the last that a server was sent which is not ours, and which has ended. The zero value is empty. It may be used by several
// goroutines.
type LastSent struct {
	mu sync.Mutex
	in script.Script
}

// gone returns the error for a server that could be reached before and cannot any more: a [*GoneError] if it is not ours.
func (t *Target) gone(err error) error {
	var start *server.StartError
	if len(t.Args) > 0 || !errors.As(err, &start) || !start.Refused() {
		return err
	}
	e := &GoneError{err: err}
	if t.Last != nil {
		t.Last.mu.Lock()
		defer t.Last.mu.Unlock()
		e.Script = t.Last.in
	}
	return e
}

// keepLast keeps the last that a server was sent which has ended, if it is not ours: as much as may have been in flight.
func (t *Target) keepLast(s *peer) {
	past := s.past.Before(s.past.Added())
	if len(t.Args) > 0 || t.Last == nil || len(past) == 0 {
		return
	}
	in := script.Script{Start: script.Shared}
	for _, piece := range past[max(0, len(past)-t.window()):] {
		before, steps := len(in.Steps), script.Unpack(piece).Steps
		for i := range steps {
			steps[i].Renumber(func(k int) int { return k + before })
		}
		in.Steps = append(in.Steps, steps...)
	}
	t.Last.mu.Lock()
	defer t.Last.mu.Unlock()
	t.Last.in = in
}

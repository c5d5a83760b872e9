package server

import (
	"errors"
	"sync"

	"github.com/teaselfuzz/teasel/mcp/script"
)

// GoneError says that a server which is not ours was there, and serves nobody any more. Nothing can be tried on it again.
type GoneError struct {
	Why    string        // what it does with a new client, a sentence's second half
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

// Gone returns the error for a server that served its clients before and serves none any more: a [*GoneError] if it is not ours.
func (c *Command) Gone(err error) error {
	var start *StartError
	if len(c.Args) > 0 || !errors.As(err, &start) {
		return err
	}
	e := &GoneError{err: err, Why: start.What}
	if start.Refused() {
		e.Why = "takes no connections"
	}
	if l := c.Last; l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		e.Script = l.in
	}
	return e
}

// Keep keeps what a server has been sent which has ended: packed scripts, the last of which is what it was sent last.
func (l *LastSent) Keep(packed [][]byte) {
	in := script.Script{Start: script.Shared}
	for _, piece := range packed {
		before, steps := len(in.Steps), script.Unpack(piece).Steps
		for i := range steps {
			steps[i].Renumber(func(k int) int { return k + before })
		}
		in.Steps = append(in.Steps, steps...)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.in = in
}

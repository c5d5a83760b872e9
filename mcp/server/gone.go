package server

import (
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
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
	mu     sync.Mutex
	in     script.Script
	beside []begun
}

// begun is a session that was begun for ourselves: no script has its lines.
type begun struct {
	at    time.Time
	steps []script.Step
}

// aroundTime: a session that was begun at most this long before the server was seen to be gone may have ended it.
const aroundTime = time.Second

// Gone returns the error for a server that served its clients before and serves none any more: a [*GoneError] if it is not ours, unless it
// declines them with a status, which it may do for what they are. An error of JSON-RPC is no such reason: it accepted the same request before.
func (c *Command) Gone(err error) error {
	var start *StartError
	switch {
	case !errors.As(err, &start):
		return err
	case conn.Declined(start.status):
		again := *start
		again.Hint = "it served teasel before: the credentials may have expired, or it limits how often it is asked (--rate)"
		return &again
	case len(c.Args) > 0:
		return err
	}
	e := &GoneError{err: err, Why: start.What}
	if start.Refused() {
		e.Why = "takes no connections from a new client"
	}
	if l := c.Last; l != nil {
		l.mu.Lock()
		defer l.mu.Unlock()
		e.Script = l.in
	}
	return e
}

// Begun notes what begins a session, which is sent now.
func (l *LastSent) Begun(steps ...script.Step) {
	if l == nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	l.beside = slices.DeleteFunc(l.beside, func(b begun) bool { return now.Sub(b.at) > time.Minute })
	l.beside = append(l.beside, begun{now, steps})
}

// Keep keeps what a server has been sent which was seen to have ended at a time: packed scripts, the last of which is what it was sent last. With
// them it keeps the sessions that were begun shortly before.
func (l *LastSent) Keep(packed [][]byte, ended time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	in := script.Script{Start: script.Shared}
	for _, b := range l.beside {
		if ended.Sub(b.at) < aroundTime {
			in.Steps = append(in.Steps, b.steps...)
		}
	}
	for _, piece := range packed {
		before, steps := len(in.Steps), script.Unpack(piece).Steps
		for i := range steps {
			steps[i].Renumber(func(k int) int { return k + before })
		}
		in.Steps = append(in.Steps, steps...)
	}
	l.in = in
}

package conn

import (
	"context"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// State is what a server is doing when nothing is on its way to it.
type State = proc.Activity

// The states of a server.
const (
	Asleep   = proc.Asleep   // all its threads wait: it is done with what it was sent
	Ended    = proc.Ended    // it is no more
	Spinning = proc.Spinning // it has used processor time up to the limit and goes on
	Stuck    = proc.Stuck    // it neither sleeps nor gets anywhere, such as when it waits for a disk
	Waiting  = proc.Waiting  // a thread waits for a timer, and what the server will say then is not known yet
)

const (
	firstSleep = time.Second           // that a server may let pass once it listens
	nextSleep  = 20 * time.Millisecond // the same, where it has let more pass when it was started before
)

// firstRest waits until a server that listens sleeps. Threads that wait for a timer then do nothing else, for nothing was sent yet.
func (s *Server) firstRest(ctx context.Context, limit time.Duration) (State, error) {
	sleepLimit := firstSleep
	if s.paced {
		sleepLimit = nextSleep
	}
	state, err := s.quiet.Settle(ctx, -1, limit, sleepLimit)
	if state == Waiting {
		s.paced = true
		s.quiet.Rested()
	}
	return state, err
}

package run

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// lives returns a [*server.GoneError] if a server has ended that is not ours, or answers nothing any more, and serves no new client either:
// nothing can be tried on it again, so that whatever else is seen is of the same cause. One that somebody else starts again, or of which only
// a session was over, lives. The talks are those in flight.
func (e *executor) lives(ctx context.Context, s *peer, f waitEnd, inFlight []*talk) error {
	if len(e.target.Args) > 0 || !slices.Contains([]waitEnd{waitBusy, waitUnresponsive, waitRefuses, waitEnded}, f) {
		return nil
	}
	s.noticed = time.Now()
	err := proc.Restart(ctx, func() error {
		why, err := e.target.command().Refuses(ctx, s.Server)
		if why == nil {
			return err
		}
		return why
	}, refusesConnections)
	if start := (*server.StartError)(nil); !errors.As(err, &start) {
		return err
	}
	e.forget(s)
	var sent [][]byte
	for _, k := range inFlight {
		in := *k.in
		in.Steps = in.Steps[:min(k.step+1, len(in.Steps))]
		sent = append(sent, script.AppendPacked(nil, &in))
	}
	if len(sent) > 0 && e.target.Last != nil {
		e.target.Last.Keep(sent, s.noticed)
	}
	return e.target.Gone(err)
}

// mayServeSoon reports whether a server that is not ours may serve a new client if it is asked again.
func mayServeSoon(err error) bool {
	var start *server.StartError
	return refusesConnections(err) || errors.As(err, &start) && start.Declined()
}

// refusesConnections reports whether nobody listens at a server's address. Somebody may soon.
func refusesConnections(err error) bool {
	var start *server.StartError
	return errors.As(err, &start) && start.Refused()
}

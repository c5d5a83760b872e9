package conn

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

const (
	renewTries = 5                      // in a row, before a server that has been up counts as one that does not start any more
	renewPause = 100 * time.Millisecond // after the first that fails; each later pause is twice as long
)

// Renew ends the server, empties its folder, and starts it anew, as [Server.Restart] does. A start that fails is tried again, with
// a pause before it: the port may be in use for a moment, or what the server needs not yet there.
func (s *Server) Renew(ctx context.Context) error {
	pause := renewPause
	for try := 1; ; try++ {
		err := s.Restart(ctx)
		var in *StartError
		if err == nil || ctx.Err() != nil || !errors.As(err, &in) {
			return err
		}
		if try == renewTries {
			last := *in
			last.Reason = fmt.Sprintf("it does not start any more: %d attempts in a row have failed, and of the last: %s", renewTries, in.Reason)
			return &last
		}
		if err := s.avoidPort(in); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(pause):
		}
		pause *= 2
	}
}

// avoidPort gives the server another {port} if the error says that somebody else has taken it meanwhile.
func (s *Server) avoidPort(failed *StartError) (err error) {
	if s.command.Address.Own() && inUse(failed) {
		s.place.Port, err = proc.FreePort()
	}
	return err
}

// inUse reports whether a server has ended because its port was taken.
func inUse(e *StartError) bool {
	return strings.Contains(strings.ToLower(e.Stderr), "address already in use")
}

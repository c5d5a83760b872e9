package conn

import (
	"context"
	"errors"
	"strings"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// Renew ends the server, empties its folder, and starts it anew, as [Server.Restart] does. A start that fails is tried again, with
// a pause before it: the port may be in use for a moment, or what the server needs not yet there.
func (s *Server) Renew(ctx context.Context) error {
	var failed *StartError
	err := proc.Restart(ctx, func() error {
		err := s.Restart(ctx)
		if failed = nil; errors.As(err, &failed) {
			err = errors.Join(err, s.avoidPort(failed))
		}
		return err
	}, func(err error) bool { return failed != nil })
	if failed != nil && ctx.Err() == nil {
		last := *failed
		last.Reason = "it does not start any more: several attempts in a row have failed, and of the last: " + failed.Reason
		return &last
	}
	return err
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

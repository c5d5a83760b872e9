package conn

import (
	"github.com/teaselfuzz/teasel/internal/proc"
)

// Daemon reports whether the server has gone into the background, where it was followed.
func (s *Server) Daemon() bool { return s.daemon }

// followed reports whether the process is the one that serves: a daemon's is not the first.
func (s *Server) followed() bool { return !s.daemon || s.process.PID() != s.started }

// follow makes the process the server's that a daemon has left behind. It returns false if there is none.
func (s *Server) follow() bool {
	if !s.daemon {
		return false
	}
	next, err := s.process.Follow(func(pid int) bool {
		return len(s.network.heldBy(pid)) > 0
	})
	if err != nil {
		return false
	}
	s.quiet.Close()
	s.process, s.quiet = next, proc.NewQuiet(next.PID())
	return s.guardian.Watch(next.PID()) == nil
}

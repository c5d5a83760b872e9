package server

import (
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// Activity is what a server does while nothing comes of it.
type Activity uint8

// The activities of a server.
const (
	ActivityInvalid Activity = iota
	Working                  // it runs, or wants to
	Asleep                   // it sleeps until something comes, and has taken all that was sent
	Waiting                  // it waits for a timer, or does not read what was sent
	Ended                    // its process has ended
)

// WaitTime is how long a server that waits for a timer is waited for although no answer is due: one that dies in a timer, or sends
// what it must not, mostly does so by then. A server that sleeps until a later time counts as asleep.
const WaitTime = 250 * time.Millisecond

// Running reports whether the process of the server, if that is ours, goes on.
func (s *Server) Running() bool { return s.proc == nil || s.proc.Running() }

// Look says what the server does now. One whose process is not ours works until it has answered. Look is called while the server is silent, and notes how much of the processor it uses meanwhile.
func (s *Server) Look(silent time.Duration) Activity {
	if s.proc == nil {
		s.watch.used = silent
		if s.Unread() {
			return Working
		}
		return Asleep
	}
	a := Working
	switch s.quiet.Look() {
	case proc.Asleep:
		if a = Asleep; s.Unread() {
			a = Waiting
		}
	case proc.Waiting:
		a = Waiting
	case proc.Ended:
		a = Ended
	}
	s.watch.note(s.proc, a, silent)
	return a
}

// WaitedInVain says that the server was waited for while it waited for a timer, and nothing has come of it.
func (s *Server) WaitedInVain() {
	if s.quiet != nil {
		s.quiet.Fruitless()
	}
}

// A watch is what a server was seen doing since it was last heard.
type watch struct {
	clock   proc.Clock
	looked  time.Time     // last; zero: not yet
	before  time.Duration // of the processor that it had used at the first look
	used    time.Duration // at the last look
	starved time.Duration // that it had work to do and no processor to do it on
}

// watchFrom is how long a server is silent before it matters how much of the processor it uses.
const watchFrom = WaitTime / 5

func (w *watch) note(p *proc.Process, a Activity, silent time.Duration) {
	if silent < watchFrom {
		return
	}
	now := time.Now()
	if w.looked.IsZero() {
		w.clock = p.Clock()
		w.before = w.clock.Read()
		w.looked, w.used = now, w.before
		return
	}
	used := w.clock.Read()
	if a == Working {
		w.starved += max(now.Sub(w.looked)-(used-w.used), 0)
	}
	w.looked, w.used = now, used
}

// Heard says that something has come of the server: what it does from now on is noted anew. It returns for how long it had work to do
// before that and no processor to do it on.
func (s *Server) Heard() (starved time.Duration) {
	starved = s.watch.starved
	s.watch = watch{}
	return starved
}

// Worked returns how much of the processor the server has used while it was silent; of one whose process is not ours, the time.
func (s *Server) Worked() time.Duration { return s.watch.used - s.watch.before }

// Threads returns how many threads the server has and how many of them run, or want to; 0: its process is not ours, or has ended.
func (s *Server) Threads() (running, all int) {
	if s.proc == nil {
		return 0, 0
	}
	return s.proc.Threads()
}

// WaitsFor says what a server that answers nothing may wait for: something beyond it that can be seen, which is a connection or a child
// that works, or nothing. The clock is nothing: who polls a lock that is never free waits for it again and again.
func (s *Server) WaitsFor() script.Waiting {
	switch {
	case s.proc == nil:
		return script.WaitsUnknown
	case !proc.Works(s.proc.PID()) && proc.Outside(s.proc.PID()):
		return script.WaitsOutside
	}
	return script.WaitsInside
}

// Memory returns how many bytes of memory the server takes; 0: its process is not ours.
func (s *Server) Memory() uint64 {
	if s.proc == nil {
		return 0
	}
	return s.proc.RSS()
}

// Files returns how many files and sockets the server has open; 0: its process is not ours, or the system does not say.
func (s *Server) Files() int {
	if s.proc == nil {
		return 0
	}
	return s.proc.Files()
}

// Processes returns how many processes the server has, with those that have ended and that it has not waited for; 0: its process is not ours, or
// the system does not say.
func (s *Server) Processes() int {
	if s.proc == nil {
		return 0
	}
	return s.proc.Count()
}

// Clock returns a function that says how much of the processor the server has used, of what it has started only what is there now;
// nil: its process is not ours.
func (s *Server) Clock() func() time.Duration {
	if s.proc == nil {
		return nil
	}
	return s.proc.Clock().Read
}

// Used returns how much of the processor the server has used, and what it has started that a Look has found; 0: its process is not ours. It
// takes a system call for each process, where a [Server.Clock] lists all processes of the machine first.
func (s *Server) Used() time.Duration {
	if s.quiet == nil {
		return 0
	}
	return s.quiet.Used()
}

// Written returns how much the server has written to standard error, as far as that was read.
func (s *Server) Written() int64 {
	if s.proc == nil {
		return 0
	}
	return s.proc.Written()
}

// Stderr returns what the server has written to standard error after the first from bytes, of which only the end is kept, and how much
// it has written in all.
func (s *Server) Stderr(from int64) ([]byte, int64) {
	if s.proc == nil {
		return nil, 0
	}
	return s.proc.Stderr(from)
}

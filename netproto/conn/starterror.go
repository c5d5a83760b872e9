package conn

import (
	"cmp"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// StartError is the error of a server that cannot be started, or does not do what a server should when it is.
type StartError struct {
	Reason string // one sentence without a full stop
	Stderr string // the last of what it has written
	Hint   string // what may help; "": nothing comes to mind

	background bool // the server goes on as a process that we have not started
}

func (e *StartError) Error() string { return "starting the server: " + e.Reason }

// rested judges how a server has come to rest that listens.
func (s *Server) rested(state State, limit time.Duration, err error) error {
	switch {
	case err != nil:
		return err
	case state == Ended:
		s.process.Stop(limit) // all its threads have ended: that it has will be known soon
		return s.notReady(limit)
	case state == Spinning:
		return &StartError{Reason: fmt.Sprintf("a thread of it never sleeps: it has used %v of processor time since it listens, and nothing was sent to it", limit),
			Hint: "when it is done with a message cannot be seen then: start it yourself and leave the command out, and answers are waited for as those of a server on another machine are; if it is only slow to start, --start-timeout gives it more"}
	}
	return nil
}

// notReady explains a server that does not listen.
func (s *Server) notReady(limit time.Duration) error {
	text, _ := s.process.Stderr(0)
	e := &StartError{Stderr: tailOf(string(text))}
	left := s.process.Living()
	if s.process.Running() {
		e.Reason = fmt.Sprintf("it runs, but nothing listens on %v after %v", s.address, limit)
		if where := s.Listens(); len(where) > 0 {
			e.Reason += "; it listens on " + strings.Join(where, " and ")
			e.Hint = "let --connect and the command name the same port, for example {port}"
		} else {
			e.Hint = cmp.Or(s.command.unaddressed(), s.Lacks(e.Stderr), "--start-timeout gives it more time, if it is slow to start")
		}
		return e
	}
	if len(left) > 0 {
		e.background = true
		e.Reason = "it has gone into the background: the process that was started has ended, another one goes on"
		e.Hint = "give the command the flag that keeps it in the foreground, such as -F, -f, -n or --nodaemon"
		return e
	}
	_ = s.process.Close() // it has ended; what is left of it is nobody's
	d := s.Death()
	e.Reason = fmt.Sprintf("it ended with exit status %d before it listened on %v", d.Code, s.address)
	if d.Signal != 0 {
		e.Reason = fmt.Sprintf("%v ended it before it listened on %v", d.Signal, s.address)
	}
	const notExecutable = 126 // of a shell
	switch {
	case s.credential == nil:
	case d.Code == notExecutable:
		e.Hint = "it runs as an ordinary user, who may not run the command: let everybody into its folder and those above, move it to one such as /tmp, or use --user root"
	default:
		e.Hint = denied(e.Stderr)
	}
	if e.Hint == "" {
		e.Hint = cmp.Or(noLibrary(e.Stderr), s.command.elsewhere())
	}
	if e.Hint == "" {
		e.Hint = missing(e.Stderr, s.credential != nil)
	}
	if what, hint := proc.ShellFailure(s.command.Args[0], d.Code, e.Stderr); what != "" && (s.credential == nil || d.Code != notExecutable) {
		e.Reason, e.Hint = what, hint
	}
	switch {
	case e.Hint != "":
	case s.network == nil:
		e.Hint = cmp.Or(s.command.unaddressed(), "run the command by hand: it may want other arguments, or environment variables (--env NAME=value)")
	case s.command.Sandbox:
		e.Hint = "it runs in a sandbox, which --sandbox-allow opens: try it without --sandbox"
	default:
		e.Hint = "it has a network namespace of its own, in which it reaches no other server: with --workers 1 it has the network of this machine"
	}
	return e
}

// unaddressed says that nothing tells the server which port it is to listen on, where that is a free one; "": something may.
func (c *Command) unaddressed() string {
	if c.Address.Port != "{port}" || slices.ContainsFunc(slices.Concat(c.Args, c.Env), func(a string) bool { return strings.Contains(a, "{port}") }) {
		return ""
	}
	return "the command has no {port} in it, which stands for the port to listen on: write it where the server takes that, as in -- SERVER -p {port} or --env PORT={port}"
}

// elsewhere says of an argument that it names a file here, where the server does not run; "": there is none.
func (c *Command) elsewhere() string {
	if c.Dir != "" {
		return ""
	}
	for _, a := range c.Args[1:] {
		if whole, err := filepath.Abs(a); err == nil && !filepath.IsAbs(a) && a != "" {
			if _, err := os.Stat(whole); err == nil {
				return fmt.Sprintf("its working directory is an empty one, where there is no %s: write %s, or --dir . before the --", a, whole)
			}
		}
	}
	return ""
}

// Lacks says what may help a server that has written this, as one does that runs and is of no use; "": nothing comes to mind.
func (s *Server) Lacks(stderr string) string {
	hint := missing(stderr, s.credential != nil)
	if s.credential != nil {
		hint = cmp.Or(denied(stderr), hint)
	}
	return hint
}

// denied says what may help a server that runs as an ordinary user and has written that it may not do something; "": it has not.
func denied(stderr string) string {
	if strings.Contains(strings.ToLower(stderr), "permission denied") {
		return "it runs as an ordinary user: give it {dir} to write to, or use --user"
	}
	return ""
}

// noLibrary says which shared library the dynamic linker has not found, and how to name its folder; "": it has not said so.
func noLibrary(stderr string) string {
	_, rest, found := strings.Cut(stderr, "error while loading shared libraries: ")
	name, _, opened := strings.Cut(rest, ": cannot open shared object file")
	if !found || !opened {
		return ""
	}
	return fmt.Sprintf("install the shared library %s, or name its folder: -- env LD_LIBRARY_PATH=FOLDER SERVER", name)
}

// missing says what a server lacks that has written why it ended; "": it has not said that it lacks anything. ordinary says that we are root,
// and it is not.
func missing(stderr string, ordinary bool) string {
	text := strings.ToLower(stderr)
	says := func(phrases ...string) bool {
		return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(text, p) })
	}
	switch {
	case says("must be root", "must be run as root", "need root", "needs root", "requires root", "root privileges", "operation not permitted", "cannot set groups", "can't set groups", "must be started as root"):
		if ordinary {
			return "it wants to be started by root, and runs as an ordinary user: use --user root"
		}
		return "it wants to be started by root: run teasel as root with --user root, in a container for example"
	case says("missing privilege separation directory", "no such file or directory"):
		return "it lacks a file or folder, which its message names: make it, or have a shell line do so: -- sh -c 'mkdir -p FOLDER && exec SERVER'"
	}
	return ""
}

// tailOf returns the last lines.
func tailOf(text string) string {
	const most = 2000
	text = strings.TrimSpace(text)
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return text
}

package conn

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// Command says what server to start. In Args, Env and Dir {port}, {dir} and {socket} stand for what the server has for itself.
type Command struct {
	Args    []string      // Args[0] is looked up in PATH
	Env     []string      // added to our own environment, NAME=value
	Dir     string        // working directory; "": the folder that the server has for itself
	User    string        // name or number of the user it runs as; "": nobody, if we are root, or else ourselves
	Address Address       // where it will listen
	Start   time.Duration // how long it may take until it does; 0: 10 s
	// Namespace starts the server in a network namespace of its own, where it has the loopback interface to itself and reaches nothing
	// else. Address has to be on the loopback interface. [NamespaceAllowed] says whether that can be done.
	Namespace bool
	// Scratch is the folder in which the server has a home and a temporary directory of its own; "": it has ours. With Sandbox it runs in a
	// sandbox too, with a network namespace of its own, which Allow opens as --sandbox-allow has it.
	Scratch string
	Sandbox bool
	Allow   []string
}

const (
	startTime  = 10 * time.Second
	firstLook  = 200 * time.Microsecond // between two looks whether it listens, at first
	lastLook   = 5 * time.Millisecond
	portTries  = 3
	nobody     = "nobody"
	stopTime   = 2 * time.Second
	markerName = "TEASEL_NET_SERVER"
)

// Death is how a server ended.
type Death struct {
	Code   int            // exit status; -1: ended by Signal
	Signal syscall.Signal // 0: it exited
}

// Server is a running server with what it has for itself. One goroutine at a time uses it.
type Server struct {
	command    Command
	credential *syscall.Credential
	network    *namespace // nil: ours
	home       *isolation.Home
	place      Place
	address    Address
	process    *proc.Process
	guardian   *proc.Guardian
	quiet      *proc.Quiet
	fallen     int   // processes that it had forked and that had ended when Fallen was called last
	read       int64 // of what it has written
	stdio      bool  // the process is in a conversation
	started    int   // the process that we have started; of a daemon, it has ended
	daemon     bool  // the process that is started ends, and leaves another one
	paced      bool  // it has threads that do nothing but sleep
}

// Open makes a place for a server and starts it there. It returns when the server listens and sleeps.
func Open(ctx context.Context, c Command) (*Server, error) {
	if len(c.Args) == 0 {
		return nil, &StartError{Reason: "the command is empty"}
	}
	uid, credential, err := credential(c.User)
	if err != nil {
		return nil, err
	}
	if c.Namespace && !c.Address.Loopback() {
		return nil, &StartError{Reason: fmt.Sprintf("%v is not on the loopback interface, and there is no other one in a network namespace", c.Address)}
	}
	s := &Server{command: c, credential: credential}
	if s.place, err = newPlace(uid, c.Scratch); err == nil {
		s.guardian, err = proc.Guard(proc.MarkerPrefix(), s.place.Dir)
	}
	if err == nil {
		err = s.setUp(uid)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("making a place for the server: %w", err), s.Close())
	}
	for try := 1; ; try++ {
		err = s.Restart(ctx)
		var in *StartError
		if err == nil {
			return s, nil
		}
		if !s.daemon && errors.As(err, &in) && in.background && s.home.On() == nil && proc.AdoptOrphans() == nil {
			s.daemon = true
			continue
		}
		if !errors.As(err, &in) || try == portTries || !c.Address.Own() || !inUse(in) {
			return nil, errors.Join(err, s.Close())
		}
		if err := s.avoidPort(in); err != nil {
			return nil, errors.Join(err, s.Close())
		}
	}
}

// setUp makes the home and the network of the server.
func (s *Server) setUp(uid int) (err error) {
	c := s.command
	of, err := s.args()
	if err != nil {
		return err
	}
	dir := s.place.fill(c.Dir)
	if dir == "" {
		dir = s.place.Dir
	}
	config := isolation.Config{Scratch: c.Scratch, Sandbox: isolation.NewSandbox(c.Sandbox, c.Allow, of, dir, s.place.Dir)}
	if uid != os.Geteuid() {
		config.Owner = uid
	}
	if s.home, err = isolation.Make(config); err != nil {
		return err
	}
	switch {
	case c.Sandbox && !slices.Contains(c.Allow, isolation.AllowNetwork):
		s.network = joined(s.home)
	case c.Namespace:
		s.network, err = newNamespace(unix.Unshare)
	}
	return err
}

// Restart ends the server, empties its folder, and starts it anew.
func (s *Server) Restart(ctx context.Context) error {
	if err := s.stop(); err != nil {
		return err
	}
	if err := errors.Join(s.place.empty(), s.home.Empty(), s.place.renewPort()); err != nil {
		return err
	}
	s.address = s.command.Address.At(s.place)
	if s.address.Network == Stdio {
		return s.launch()
	}
	if s.address.Loopback() && s.network.taken(s.address) {
		return &StartError{Reason: fmt.Sprintf("another program already listens on %v", s.address), Hint: "write {port} for the port, here and in the command, and each server gets a free one"}
	}
	if err := s.launch(); err != nil {
		return err
	}
	return s.ready(ctx)
}

// args returns the server's command.
func (s *Server) args() (args []string, err error) {
	for _, a := range s.command.Args {
		args = append(args, s.place.fill(a))
	}
	path, err := exec.LookPath(args[0])
	if err == nil {
		path, err = filepath.Abs(path) // it runs in another folder
	}
	if err != nil {
		reason, hint := proc.StartFailure(args[0], err)
		return nil, &StartError{Reason: cmp.Or(reason, err.Error()), Hint: hint}
	}
	args[0] = path
	return args, nil
}

// launch starts the process.
func (s *Server) launch() (err error) {
	c := proc.Command{Dir: s.place.fill(s.command.Dir), Merge: s.address.Network != Stdio, Credential: s.credential}
	if c.Args, err = s.args(); err != nil {
		return err
	}
	c.Env = append(c.Env, s.home.Env()...)
	for _, e := range s.command.Env {
		c.Env = append(c.Env, s.place.fill(e))
	}
	c.Env = append(c.Env, s.marker())
	if c.Dir == "" {
		c.Dir = s.place.Dir
	}
	if c.On = s.home.On(); c.On != nil {
		c.Bound = true
	} else if s.network != nil {
		c.On = s.network.do
	}
	c.Args = withCore(c.Args)
	p, err := proc.Start(c)
	if err != nil {
		reason, hint := proc.StartFailure(s.command.Args[0], err)
		if errors.Is(err, os.ErrPermission) && s.credential != nil {
			reason, hint = "", "it runs as an ordinary user, who has to be allowed into the folders of the command and of temporary files: move it, set TMPDIR, or use --user root"
		}
		return &StartError{Reason: cmp.Or(reason, err.Error()), Hint: hint}
	}
	s.process, s.quiet, s.fallen, s.read, s.stdio, s.started = p, proc.NewQuiet(p.PID()), 0, 0, false, p.PID()
	if err := s.guardian.Watch(p.PID()); err != nil {
		return fmt.Errorf("telling the guardian: %w", err)
	}
	return nil
}

// marker is a variable that all processes of this server have, those that have left it included.
func (s *Server) marker() string { return markerName + "=" + s.place.Dir }

// ready waits until the server listens and sleeps.
func (s *Server) ready(ctx context.Context) error {
	limit := s.command.Start
	if limit == 0 {
		limit = startTime
	}
	deadline := time.Now().Add(limit)
	for pause := firstLook; ; pause = min(2*pause, lastLook) {
		running := s.process.Running() || s.follow()
		if running && s.followed() && s.network.taken(s.address) {
			state, err := s.firstRest(ctx, limit)
			if state != Ended || !s.daemon {
				return s.rested(state, limit, err)
			}
			s.process.Stop(limit) // all its threads have ended: that it has will be known soon
			continue
		}
		if !running || time.Now().After(deadline) {
			return s.notReady(limit)
		}
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-s.process.Ended():
		case <-time.After(pause):
		}
	}
}

// Listens returns the addresses that a process of the server listens on.
func (s *Server) Listens() []string {
	for _, pid := range s.process.Living() {
		if where := s.network.heldBy(pid); len(where) > 0 {
			return where
		}
	}
	return nil
}

// Address returns where the server listens.
func (s *Server) Address() Address { return s.address }

// Dir returns the folder that the server has for itself.
func (s *Server) Dir() string { return s.place.Dir }

// Fill replaces {port}, {dir} and {socket} in an argument.
func (s *Server) Fill(argument string) string { return s.place.fill(argument) }

// Connect begins a conversation. One over standard input and output begins with a new process. A server that would not have
// it is an error that [Refused] knows.
func (s *Server) Connect(ctx context.Context, limit time.Duration) (*Connection, error) {
	if s.address.Network != Stdio {
		return s.network.dial(ctx, s.address, nil, limit)
	}
	if s.stdio || !s.process.Running() {
		if err := s.Renew(ctx); err != nil {
			return nil, err
		}
	}
	s.stdio = true
	in, err := dup(s.process.Stdout)
	if err != nil {
		return nil, err
	}
	out, err := dup(s.process.Stdin)
	if err != nil {
		return nil, errors.Join(err, syscall.Close(in))
	}
	return &Connection{in: in, out: out, network: Stdio, end: EndOpen}, s.process.Stdin.Close()
}

// HasStrangers reports whether ConnectAsStranger can do what it says.
func (s *Server) HasStrangers() bool {
	host := s.address.Host
	return (s.address.Network == TCP || s.address.Network == TLS || s.address.Network == UDP) && (host == "localhost" || host == "127.0.0.1")
}

// ConnectAsStranger is Connect from an address that no other client of ours has, of which the server has heard nothing yet.
func (s *Server) ConnectAsStranger(ctx context.Context, limit time.Duration) (*Connection, error) {
	return s.network.dial(ctx, s.address, &unix.SockaddrInet4{Addr: [4]byte{127, 0, 0, 2}}, limit)
}

// dup returns a second descriptor of a pipe, which does not block as the first does not.
func dup(f *os.File) (fd int, err error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return -1, err
	}
	controlErr := conn.Control(func(from uintptr) {
		fd, err = unix.FcntlInt(from, unix.F_DUPFD_CLOEXEC, 0) // at once: another server may be started meanwhile
	})
	return fd, errors.Join(err, controlErr)
}

// Start starts a command that is to talk to the server: it is in the same network.
func (s *Server) Start(c *exec.Cmd) error {
	if c.Env == nil {
		c.Env = os.Environ()
	}
	c.Env = append(c.Env, s.home.Env()...)
	if s.home.Thread() != 0 {
		return s.home.Do(c.Start)
	}
	return s.network.do(c.Start)
}

// Settle waits until the server has handled what it was sent over c, which may be nil. work is the processor time that it
// may use for that, and sleep how long it may let time pass.
func (s *Server) Settle(ctx context.Context, c *Connection, work, sleep time.Duration) (State, error) {
	fd := -1
	if c != nil {
		fd = c.in
	}
	return s.quiet.Settle(ctx, fd, work, sleep)
}

// Running reports whether the server has not ended.
func (s *Server) Running() bool { return s.process != nil && s.process.Running() }

// Output returns what the server has written to standard output and standard error since the last call.
func (s *Server) Output() []byte {
	if s.process == nil {
		return nil
	}
	text, next := s.process.Stderr(s.read)
	s.read = next
	return text
}

// Stop ends the server and everything it has started.
func (s *Server) Stop() error { return s.stop() }

func (s *Server) stop() error {
	if s.process == nil {
		return nil
	}
	err := errors.Join(s.process.Close(), s.guardian.Watch(0))
	s.quiet.Close()
	return err
}

// Death says how the server ended. It has to have been stopped.
func (s *Server) Death() Death {
	st := s.process.State()
	return Death{Code: st.Code, Signal: st.Signal}
}

// PID is the number of the process that was started.
func (s *Server) PID() int { return s.process.PID() }

// CPU returns how much processor time the server has used.
func (s *Server) CPU() time.Duration { return s.quiet.Used() }

// Close ends the server and removes its folder, and its network namespace if it has one.
func (s *Server) Close() error {
	err := errors.Join(s.stop(), s.network.close(), s.home.Close())
	s.network = nil
	if s.guardian != nil {
		err = errors.Join(err, s.guardian.Close())
	}
	return errors.Join(err, s.place.remove())
}

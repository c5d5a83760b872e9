package forkserver

import (
	"context"
	"encoding/binary"
	"errors"
	"os"
	"os/exec"
	"syscall"
	"time"
	"unsafe"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/shm"
	"golang.org/x/sys/unix"
)

// Command says what to start.
type Command struct {
	Args   []string // Args[0] is a path
	Env    []string // all of it
	Dir    string   // "": ours
	Input  string   // file that gets the input; "": standard input
	Memory uint64   // bytes that a run may hold; 0: no limit
	Map    int      // bytes of the map to begin with; 0: 8 MiB. A server that wants more is started again with more
	Folder string   // removed if we die; "": none
	Loops  bool     // the program says that its children run many inputs
	Defers bool     // and that it starts its server by itself
}

// Server is a running program. One goroutine at a time uses it.
type Server struct {
	Hello Hello

	cmd      Command
	marker   string
	process  *exec.Cmd
	guardian *proc.Guardian
	control  int // our ends of the pipes
	status   int
	trace    *shm.Segment
	shared   *shm.Segment // of the input
	input    *inputFile
	stderr   *proc.Capture
	gone     bool
	asleep   int  // child that has stopped itself and waits for an input; 0: none
	stale    bool // a child that had stopped itself was killed

	watch watch
	wire  wire
}

// MaxInput is how long an input may be that goes through shared memory: what AFL++ calls MAX_FILE.
const MaxInput = 1 << 20

// Result is how a run ended.
type Result struct {
	Status syscall.WaitStatus // of a child that loops and is ready for more: stopped
	Killed proc.Reason        // by us
	Waited bool               // it was killed because it waited, and had used little processor time
	Gone   bool               // the server is gone as well, and has to be started anew
}

// Trace returns the counters of the last run. They are valid until the next run.
func (s *Server) Trace() []byte { return s.trace.Bytes[:s.Hello.MapSize] }

// Gone reports whether the server has died, so that it is of no more use but to be closed.
func (s *Server) Gone() bool { return s.gone }

// Stderr returns what the last run has written to standard error. It is valid until the next run.
func (s *Server) Stderr() []byte { return s.stderr.Bytes() }

// errGone is how it shows that the server itself is dead.
var errGone = errors.New("target is gone")

func (s *Server) send(word uint32) error {
	s.wire.out = word
	for {
		// A pipe has room for a word, so that this does not block.
		_, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(s.control), uintptr(unsafe.Pointer(&s.wire.out)), wordSize)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EINTR {
			return errno
		}
	}
}

// wire is what the kernel reads and writes in the hot path.
type wire struct {
	out  uint32
	in   [2 * wordSize]byte
	poll unix.PollFd
	wait unix.Timespec
}

const (
	wordSize = 4
	// shortWait is how long the kernel is asked to wait for a word behind the scheduler's back. Telling the scheduler of
	// every wait costs a third of a short run; not to tell it of a long one would hold up all that it runs. Less than a tick
	// of the kernel's clock would cost more than the run, for the timer would have to be set each time.
	shortWait = 20 * time.Millisecond
)

// soon reports whether there is a word within a moment.
func (s *Server) soon() bool {
	w := &s.wire
	w.poll = unix.PollFd{Fd: int32(s.status), Events: unix.POLLIN}
	w.wait = unix.Timespec{Nsec: int64(shortWait)} // the kernel writes there what is left of it
	n, _, errno := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&w.poll)), 1, uintptr(unsafe.Pointer(&w.wait)), 0, 0, 0)
	return errno == 0 && n == 1
}

// receive reads both words of a run: the child's number, which is passed on as soon as it is there, and how it ended.
func (s *Server) receive() (status uint32, err error) {
	w := &s.wire
	for got := uintptr(0); got < uintptr(len(w.in)); {
		var n uintptr
		var errno syscall.Errno
		at, room := uintptr(unsafe.Pointer(&w.in[got])), uintptr(len(w.in))-got
		if s.soon() {
			n, _, errno = syscall.RawSyscall(syscall.SYS_READ, uintptr(s.status), at, room)
		} else {
			n, _, errno = syscall.Syscall(syscall.SYS_READ, uintptr(s.status), at, room)
		}
		if errno == syscall.EINTR {
			continue
		}
		if errno != 0 || n == 0 {
			s.gone = true
			return 0, errGone
		}
		if got += n; got-n < wordSize && got >= wordSize {
			s.watch.pid.Store(int64(binary.NativeEndian.Uint32(w.in[:])))
		}
	}
	return binary.NativeEndian.Uint32(w.in[wordSize:]), nil
}

// Run runs one input. An error is a failure of ours.
func (s *Server) Run(ctx context.Context, in []byte, limit time.Duration) (Result, error) {
	if err := s.place(in); err != nil {
		return Result{}, err
	}
	s.stderr.RewindText()
	clear(s.Trace())
	var killed uint32
	if s.stale {
		killed, s.stale = 1, false
	}
	s.watch.begin(ctx, s.asleep, limit)
	status, err := s.exchange(killed)
	reason := s.watch.dog.End()
	if err != nil {
		s.asleep = 0
		return Result{Status: syscall.WaitStatus(syscall.SIGKILL), Killed: reason, Waited: s.watch.dog.Waited(), Gone: true}, nil
	}
	ws := syscall.WaitStatus(status)
	s.asleep = 0
	if ws.Stopped() {
		if s.asleep = int(s.watch.pid.Load()); reason != proc.NotKilled { // it was ready just before it was hit
			s.asleep, s.stale = 0, true
		}
	}
	return Result{Status: ws, Killed: reason, Waited: s.watch.dog.Waited()}, nil
}

// exchange is the hot path: one word there, two back.
func (s *Server) exchange(killed uint32) (status uint32, err error) {
	if s.send(killed) != nil {
		s.gone = true
		return 0, errGone
	}
	return s.receive()
}

func (s *Server) place(in []byte) error {
	if s.shared == nil {
		return s.input.write(in)
	}
	binary.NativeEndian.PutUint32(s.shared.Bytes, uint32(len(in)))
	copy(s.shared.Bytes[4:], in)
	return nil
}

// Room is how long an input may be.
func (s *Server) Room() int {
	if s.shared != nil {
		return MaxInput
	}
	return 1 << 30
}

// Renew has the next run begin in a fresh child.
func (s *Server) Renew() {
	if s.asleep == 0 {
		return
	}
	syscall.Kill(s.asleep, syscall.SIGKILL) // it is the server's, which has not waited for it
	s.asleep, s.stale = 0, true
}

// PID is the number of the process that forks.
func (s *Server) PID() int {
	if s.process == nil {
		return 0
	}
	return s.process.Process.Pid
}

// Marker is what everything that the program starts has in its environment.
func (s *Server) Marker() string { return s.marker }

// Close ends the program and everything it has started, and returns when all of it is gone.
func (s *Server) Close() error {
	s.watch.dog.Stop()
	var errs []error
	if s.process != nil {
		errs = append(errs, proc.KillAll(s.process.Process.Pid, s.marker))
		s.process.Wait() // we have killed it
		s.process = nil
	}
	if s.guardian != nil {
		errs = append(errs, s.guardian.Close())
		s.guardian = nil
	}
	for _, fd := range [2]*int{&s.control, &s.status} {
		if *fd >= 0 {
			syscall.Close(*fd)
			*fd = -1
		}
	}
	errs = append(errs, s.trace.Close(), s.shared.Close(), s.input.close(), s.stderr.Close())
	return errors.Join(errs...)
}

// closeFiles closes what is not nil.
func closeFiles(fs ...*os.File) {
	for _, f := range fs {
		if f != nil {
			f.Close()
		}
	}
}

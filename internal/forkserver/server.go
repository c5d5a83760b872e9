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

// Command describes a program to start.
type Command struct {
	Args       []string                       // program and arguments; Args[0] is a path
	Env        []string                       // the complete environment
	Dir        string                         // "": ours
	Input      string                         // file from which the program reads its input; "": standard input
	Memory     uint64                         // bytes that a run may hold; 0: no limit
	Map        int                            // initial size of the coverage map, in bytes; 0: 8 MiB. Start enlarges it if the server asks for more
	On         func(start func() error) error // calls start on the thread that is to start the program; nil: any
	Start      time.Duration                  // time limit of the handshake; 0: 30 s
	Folder     string                         // removed if this process dies; "": none
	Persistent bool                           // the program has AFL++'s signature of persistent mode
	Deferred   bool                           // the program has AFL++'s signature of a deferred fork server
	Look       func(pid int) bool             // called before a process is killed for its time or memory; false: it has seen nothing. nil: nothing is called
}

// Server is a running program with a fork server. It is for one goroutine at a time.
type Server struct {
	Hello Hello

	cmd           Command
	marker        string
	process       *exec.Cmd
	guardian      *proc.Guardian
	control       int // our ends of the pipes
	status        int
	trace         *shm.Segment
	shared        *shm.Segment // of the input
	input         *inputFile
	stderr        *proc.Capture
	gone          bool
	stopped       int  // number of the child that has stopped itself and waits for an input; 0: none
	killedStopped bool // the stopped child was killed, which the next run reports to the server

	watch watch
	wire  wire
}

// maxInput is the length of the longest input, in bytes, that is passed in shared memory: MAX_FILE of AFL++.
const maxInput = 1 << 20

// Result is how a run ended.
type Result struct {
	Status syscall.WaitStatus // stopped: a persistent child that is ready for the next input
	Killed proc.Reason        // why the run was killed by us, if it was
	Waited bool               // the run timed out while it waited, and had used less processor time than the limit
	Looked bool               // Command.Look has seen the process before it was killed
	Gone   bool               // the fork server has died too and has to be started again
}

// Trace returns the coverage map of the last run. It is valid until the next run.
func (s *Server) Trace() []byte { return s.trace.Bytes[:s.Hello.MapSize] }

// Gone reports whether the server has died: then it can only be closed.
func (s *Server) Gone() bool { return s.gone }

// Stderr returns the end of the last run's standard error, at most 64 KiB. It is valid until the next run.
func (s *Server) Stderr() []byte { return s.stderr.Bytes() }

// errGone is the error of a pipe whose other end the server, which has died, had open.
var errGone = errors.New("target is gone")

func (s *Server) send(word uint32) error {
	s.wire.out = word
	for {
		// The pipe has room for a word, so that this does not block.
		_, _, errno := syscall.RawSyscall(syscall.SYS_WRITE, uintptr(s.control), uintptr(unsafe.Pointer(&s.wire.out)), wordSize)
		if errno == 0 {
			return nil
		}
		if errno != syscall.EINTR {
			return errno
		}
	}
}

// wire holds the memory that system calls in the hot path read and write, so that it is not allocated for each run.
type wire struct {
	out  uint32
	in   [2 * wordSize]byte
	poll unix.PollFd
	wait unix.Timespec
}

const (
	wordSize = 4
	// shortWait is how long readableSoon blocks without notifying Go's scheduler. A notification for every wait costs a third
	// of a short run; without one, a long wait would block other goroutines. A timeout shorter than a tick of the kernel's
	// clock would cost more than the run, since the kernel would program its timer each time.
	shortWait = 20 * time.Millisecond
)

// readableSoon waits for data from the server, at most shortWait, and reports whether there is some.
func (s *Server) readableSoon() bool {
	w := &s.wire
	w.poll = unix.PollFd{Fd: int32(s.status), Events: unix.POLLIN}
	w.wait = unix.Timespec{Nsec: int64(shortWait)} // the kernel writes the remaining time there
	n, _, errno := syscall.RawSyscall6(syscall.SYS_PPOLL, uintptr(unsafe.Pointer(&w.poll)), 1, uintptr(unsafe.Pointer(&w.wait)), 0, 0, 0)
	return errno == 0 && n == 1
}

// receive reads the two words of a run: the process number of the child, which the watchdog gets immediately, and the wait status.
func (s *Server) receive() (status uint32, err error) {
	w := &s.wire
	for got := uintptr(0); got < uintptr(len(w.in)); {
		var n uintptr
		var errno syscall.Errno
		at, space := uintptr(unsafe.Pointer(&w.in[got])), uintptr(len(w.in))-got
		if s.readableSoon() {
			n, _, errno = syscall.RawSyscall(syscall.SYS_READ, uintptr(s.status), at, space)
		} else {
			n, _, errno = syscall.Syscall(syscall.SYS_READ, uintptr(s.status), at, space)
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

// Run runs one input, for no more processor time than limit. An error is a failure of ours; how the child ended is in the
// Result.
func (s *Server) Run(ctx context.Context, in []byte, limit time.Duration) (Result, error) {
	if err := s.placeInput(in); err != nil {
		return Result{}, err
	}
	s.stderr.RewindText()
	clear(s.Trace())
	var killed uint32
	if s.killedStopped {
		killed, s.killedStopped = 1, false
	}
	s.watch.begin(ctx, s.stopped, limit)
	status, err := s.exchange(killed)
	reason := s.watch.dog.End()
	if err != nil {
		s.stopped = 0
		return Result{Status: syscall.WaitStatus(syscall.SIGKILL), Killed: reason, Waited: s.watch.dog.Waited(), Looked: s.watch.saw, Gone: true}, nil
	}
	ws := syscall.WaitStatus(status)
	s.stopped = 0
	if ws.Stopped() {
		if s.stopped = int(s.watch.pid.Load()); reason != proc.NotKilled { // the child had stopped itself just before it was killed
			s.stopped, s.killedStopped = 0, true
		}
	}
	return Result{Status: ws, Killed: reason, Waited: s.watch.dog.Waited(), Looked: s.watch.saw}, nil
}

// exchange is the hot path: it sends one word and receives two.
func (s *Server) exchange(killed uint32) (status uint32, err error) {
	if s.send(killed) != nil {
		s.gone = true
		return 0, errGone
	}
	return s.receive()
}

func (s *Server) placeInput(in []byte) error {
	if s.shared == nil {
		return s.input.write(in)
	}
	binary.NativeEndian.PutUint32(s.shared.Bytes, uint32(len(in)))
	copy(s.shared.Bytes[4:], in)
	return nil
}

// MaxLength returns the length of the longest input, in bytes.
func (s *Server) MaxLength() int {
	if s.shared != nil {
		return maxInput
	}
	return 1 << 30
}

// Renew makes the next run start in a fresh child. It does nothing if no child is stopped.
func (s *Server) Renew() {
	if s.stopped == 0 {
		return
	}
	syscall.Kill(s.stopped, syscall.SIGKILL) // the server has not waited for it, so that the number is still its own
	s.stopped, s.killedStopped = 0, true
}

// pid returns the process number of the fork server, 0 if it does not run.
func (s *Server) pid() int {
	if s.process == nil {
		return 0
	}
	return s.process.Process.Pid
}

// Close kills the program and all processes that it has started, and returns when they are gone.
func (s *Server) Close() error {
	s.watch.dog.Stop()
	var errs []error
	if s.process != nil {
		errs = append(errs, proc.KillAll(s.process.Process.Pid, s.marker))
		s.process.Wait() // the error says that it was killed
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

// closeFiles closes the files that are not nil.
func closeFiles(fs ...*os.File) {
	for _, f := range fs {
		if f != nil {
			f.Close()
		}
	}
}

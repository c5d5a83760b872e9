package sancov

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"

	"github.com/teaselfuzz/teasel/internal/proc"
	"golang.org/x/sys/unix"
)

// firstFD is the first of the descriptors that a target inherits. The numbers are high because some programs close low
// descriptors or rely on them.
const firstFD = 200

const (
	reportSize = 256 << 10
	closeTime  = 10 * time.Second // for a guardian to clean up
	renewTime  = time.Second      // for a child to end
)

// Command describes a target to start.
type Command struct {
	Args   []string                       // program and arguments; Args[0] is a path
	Env    []string                       // the complete environment
	Dir    string                         // working directory; "": oursKnown
	On     func(start func() error) error // calls start on the thread that is to start the program; nil: any
	Input  string                         // file from which the program reads its input; "": standard input, or none for a harness
	Hooks  []uint64                       // file addresses of calls of comparison hooks that are to be switched off
	Memory uint64                         // bytes that a run may hold; 0: no limit
	Start  time.Duration                  // time limit until the target is ready for its first input; 0: 30 s
	Runs   uint32                         // after which a child is replaced by a fresh one; 0: never
	Look   func(pid int) bool             // called before a process is killed for its time or memory where it cannot say itself what it does; false: it has seen nothing. nil: nothing is called
}

// Server is a running target. It is for one goroutine at a time.
type Server struct {
	Hello Hello

	mem      *Memory
	cmd      Command
	process  *exec.Cmd
	command  int // our ends of the pipes
	status   int
	lifeline *os.File
	stderr   *os.File
	report   *os.File
	ended    chan struct{}
	gone     bool
	nonce    uint64 // with which its answers begin
	inside   proc.Inside
	pid      int // process number of the server, which has the same mappings as its children

	received []byte // bytes from the target that were not parsed yet

	unhooked int

	watch watch
}

// release makes the guardian clean up and end, and returns a channel that is closed when it has.
func (s *Server) release() <-chan struct{} {
	if s.lifeline != nil {
		s.lifeline.Write([]byte{0}) // without this byte the guardian assumes that we died, and removes the input file that our next server needs
		s.lifeline.Close()
		s.lifeline = nil
	}
	return s.ended
}

func read(fd int, b []byte) (int, error) {
	for {
		n, err := syscall.Read(fd, b)
		if err != syscall.EINTR {
			return n, err
		}
	}
}

// send sends a command, which starts a new round.
func (s *Server) send(word uint32) error {
	c := command{atomic.AddUint32(&s.mem.c.round, 1), word}
	b := (*[unsafe.Sizeof(c)]byte)(unsafe.Pointer(&c))
	for {
		_, err := syscall.Write(s.command, b[:])
		if err != syscall.EINTR {
			atomic.StoreUint32(&s.mem.c.sent, c.round)
			return err
		}
	}
}

// errGone is the error of a pipe whose other end the server, which has died, had open.
var errGone = errors.New("target is gone")

// answer waits for the answer to the last command. The target may write to any of its descriptors, so that the answer may be
// preceded by other bytes and by answers to earlier rounds, which are skipped.
func (s *Server) answer() (answer, error) {
	for {
		if a, ok := s.parse(); ok {
			return a, nil
		}
		room := slices.Grow(s.received, 256)
		n, err := read(s.status, room[len(room):cap(room)])
		if err != nil || n <= 0 {
			s.gone = true
			return answer{}, errGone
		}
		s.received = room[:len(room)+n]
	}
}

// parse removes the answer to the last command, and everything before it, from the received bytes. ok is false if it is not
// complete.
func (s *Server) parse() (a answer, ok bool) {
	const size = int(unsafe.Sizeof(answer{}))
	var nonce [8]byte
	binary.NativeEndian.PutUint64(nonce[:], s.nonce)
	for {
		i := bytes.Index(s.received, nonce[:])
		if i < 0 {
			i = max(len(s.received)-len(nonce)+1, 0) // the last bytes may be the beginning of a nonce
		}
		s.received = slices.Delete(s.received, 0, i)
		if len(s.received) < size {
			return a, false
		}
		copy((*[size]byte)(unsafe.Pointer(&a))[:], s.received)
		s.received = slices.Delete(s.received, 0, size)
		if a.round == s.mem.c.round {
			return a, true
		}
	}
}

// Death is how a child ended.
type Death struct {
	Status syscall.WaitStatus
	Killed proc.Reason // why the child was killed by us, if it was
	Server bool        // the server has died too and has to be started again
	Fault  Fault       // zero: no fatal signal was handled
	Stderr string      // the end of standard error, at most 64 KiB
	Report string      // of a sanitizer; "": none
	Forked bool        // a process that the target has forked has died of the fault, and the target itself has not
	Waited bool        // the run timed out while it waited, and had used less processor time than the limit
	Looked bool        // Command.Look has seen the child before it was killed
}

// Fault is what the handler of a fatal signal has recorded. It is zero if there was none. For a run that timed out, Frames and
// Samples tell where its time was spent.
type Fault struct {
	Signal      syscall.Signal
	Code        int32
	Access      Access
	Address, PC uint64
	SP          uint64
	Frames      []uint64
	Samples     int // the first Samples frames are positions, in successive samples, in the innermost common function; the rest are its callers
}

// fault returns what the handler has recorded, without the frames.
func (r *results) fault() Fault {
	return Fault{Signal: syscall.Signal(r.signal), Code: int32(r.code), Access: Access(min(r.access, 3)), Address: r.address, PC: r.pc, SP: r.sp}
}

// Access is the kind of access of a faulting instruction.
type Access uint8

// The accesses.
const (
	AccessUnknown Access = iota
	AccessRead
	AccessWrite
	AccessExecute
)

// ErrDamaged is the error of a batch in which the target has overwritten the memory that it shares with teasel. The memory was
// restored, and the results of the batch are unknown.
var ErrDamaged = errors.New("the target has overwritten memory that it shares with teasel")

// Run runs the inputs of the batch from index from on, each for no more processor time than limit. done is the index after the
// last input that was run; if death is not nil, that input caused it. After [ErrDamaged] the server continues with a fresh
// child.
func (s *Server) Run(ctx context.Context, from int, limit time.Duration) (done int, death *Death, err error) {
	return s.batch(ctx, commandRun, from, limit)
}

// batch sends a command for the batch and waits for its end.
func (s *Server) batch(ctx context.Context, command uint32, from int, limit time.Duration) (done int, death *Death, err error) {
	n, r := s.mem.count, s.mem.r
	c := s.mem.c
	c.from, c.count, c.maxRuns = uint32(from), uint32(n), s.cmd.Runs
	atomic.StoreUint32(&r.cur, uint32(from))
	s.watch.begin(limit)
	cancelled := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(cancelled)
		s.watch.dog.Cancel()
	})
	err = s.send(command)
	var a answer
	if err == nil {
		a, err = s.answer()
	} else {
		s.gone, err = true, errGone
	}
	if !stop() {
		<-cancelled // otherwise the next batch could be cancelled
	}
	reason := s.watch.dog.End()
	s.gone = s.gone || s.lifeline == nil // the watchdog has ended the server, though it may have answered before
	if err == nil && a.word == statusDone {
		s.gone = s.gone || reason != proc.NotKilled // the child was killed after its answer: the next answer would report that
		damaged := s.mem.audit(from, n, false)
		if (s.watch.tooManyLeftovers.Swap(false) || damaged) && !s.gone {
			s.Renew()
		}
		if damaged {
			return 0, nil, ErrDamaged
		}
		return n, nil, nil
	}
	at := min(max(int(atomic.LoadUint32(&r.cur)), from), n-1)
	d := &Death{Status: syscall.WaitStatus(a.status), Killed: reason, Waited: s.watch.dog.Waited(), Looked: s.watch.looked.Load(), Server: s.gone, Stderr: s.Stderr(), Report: readTail(s.report, reportSize)}
	forked := r.forked == uint32(s.nonce)|1
	if s.gone {
		d.Status = syscall.WaitStatus(syscall.SIGKILL)
	} else if sig := syscall.Signal(r.signal); sig != 0 && (d.Status.Signaled() || d.Status.ExitStatus() > 0 || forked) { // a sanitizer that reports the signal may exit
		d.Fault = r.fault()
	}
	d.Forked = forked && reason == proc.NotKilled && d.Status.Exited()
	if reason == proc.Timeout || reason == proc.MemoryLimit {
		d.Fault.Samples = int(min(r.samples, r.frameCount, maxSamples))
	}
	if d.Fault.Signal != 0 || d.Fault.Samples > 0 {
		d.Fault.Frames = append(d.Fault.Frames, r.frames[:min(r.frameCount, maxFrames)]...)
	}
	if s.mem.audit(from, at+1, true) {
		return 0, nil, ErrDamaged
	}
	return at + 1, d, nil
}

// Renew makes the next run start in a fresh child.
func (s *Server) Renew() error {
	s.watch.begin(renewTime)
	err := s.send(commandRenew)
	if err == nil {
		_, err = s.answer()
	} else {
		s.gone, err = true, errGone
	}
	if s.watch.dog.End() != proc.NotKilled || s.lifeline == nil {
		s.gone = true
	}
	return err
}

// Gone reports whether the server itself has died: then it can only be closed.
func (s *Server) Gone() bool { return s.gone }

// PID returns the process number of the server, which has the same mappings as its children.
func (s *Server) PID() int { return s.pid }

// child returns the process number of the child, as the target gives it.
func (s *Server) child() int { return s.inside.PID(int(atomic.LoadInt32(&s.mem.r.pid))) }

// Uncounted returns the number of counters in modules that the target has loaded after its start and for which there was no
// room, summed over all its processes.
func (s *Server) Uncounted() int { return int(s.mem.r.uncounted) }

// Unhooked returns the number of calls of comparison hooks that were switched off.
func (s *Server) Unhooked() int { return s.unhooked }

// Stderr returns what the target has written to standard error since the batch began, at most the last 64 KiB.
func (s *Server) Stderr() string { return readTail(s.stderr, stderrKept) }

const (
	stderrKept    = 64 << 10 // bytes of standard error that are kept, the last ones
	maxStderrFile = 16 << 20 // bytes that the file may occupy before trim gives memory back
)

// readTail returns the last bytes before the offset of a file, at most limit of them. The target shares the file and its offset,
// which may therefore have any value.
func readTail(f *os.File, limit int64) string {
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil || end <= 0 {
		return ""
	}
	b := make([]byte, min(end, limit))
	n, _ := f.ReadAt(b, end-int64(len(b)))
	return string(b[:n])
}

// trim gives back the memory of output that is no longer kept: writes of the target do not fail, however much it writes, and do
// not use up memory.
func trim(f *os.File) {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || st.Blocks*512 < maxStderrFile {
		return
	}
	end, err := f.Seek(0, io.SeekCurrent)
	if err == nil && end > stderrKept {
		unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, end-stderrKept)
	}
}

// Close kills the target and all processes that it has started, and returns when they are gone.
func (s *Server) Close() error {
	var err error
	s.watch.dog.Stop()
	if s.process != nil {
		if s.pid == 0 { // the target is not known to have started a guardian
			syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
		}
		select {
		case <-s.release():
		case <-time.After(closeTime):
			syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
			<-s.ended
			err = fmt.Errorf("closing %s: processes were still alive after %v", s.cmd.Args[0], closeTime)
		}
		s.process = nil
	}
	for _, fd := range [2]*int{&s.command, &s.status} {
		if *fd >= 0 {
			syscall.Close(*fd)
			*fd = -1
		}
	}
	for _, f := range [3]**os.File{&s.lifeline, &s.stderr, &s.report} {
		if *f != nil {
			(*f).Close()
			*f = nil
		}
	}
	return err
}

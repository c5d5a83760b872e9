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

// firstFD is the first of the descriptors that a target is started with. They are high, for some programs close or
// count on the low ones.
const firstFD = 200

const (
	reportRoom = 256 << 10
	closeTime  = 10 * time.Second // for a guardian to clear up
	renewTime  = time.Second      // for a child to make room
)

// Command says what to start.
type Command struct {
	Args   []string      // Args[0] is a path
	Env    []string      // all of it
	Dir    string        // "": ours
	Input  string        // file that gets the input; "": standard input, or none for a harness
	Hooks  []uint64      // file addresses of calls of comparison hooks that are to be switched off
	Memory uint64        // bytes that a run may hold; 0: no limit
	Start  time.Duration // for the target to get ready for its first input; 0: 30 s
	Runs   uint32        // after which a child makes room for a fresh one; 0: never
}

// Server is a running target. One goroutine at a time uses it.
type Server struct {
	Hello Hello

	mem     *Memory
	cmd     Command
	process *exec.Cmd
	command int // our ends of the pipes
	status  int
	life    *os.File
	stderr  *os.File
	report  *os.File
	ended   chan struct{}
	gone    bool
	nonce   uint64 // that its answers begin with
	pid     int    // of the process that forks, which has the same mappings as its children

	heard []byte // from the target, and not yet read as an answer

	unhooked int

	watch watch
}

// left ends the guardian's wait and returns what is closed when it has cleared up.
func (s *Server) left() <-chan struct{} {
	if s.life != nil {
		s.life.Write([]byte{0}) // without a word it takes us for dead, and removes the input that our next server needs
		s.life.Close()
		s.life = nil
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

// send begins a round.
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

// errGone is how it shows that the server itself is dead.
var errGone = errors.New("target is gone")

// answer waits for the answer to the last command. The target may write to any of its descriptors, so anything else may come
// before it, or belong to an earlier round.
func (s *Server) answer() (answer, error) {
	for {
		if a, ok := s.parse(); ok {
			return a, nil
		}
		room := slices.Grow(s.heard, 256)
		n, err := read(s.status, room[len(room):cap(room)])
		if err != nil || n <= 0 {
			s.gone = true
			return answer{}, errGone
		}
		s.heard = room[:len(room)+n]
	}
}

// parse takes an answer out of what was heard.
func (s *Server) parse() (a answer, ok bool) {
	const size = int(unsafe.Sizeof(answer{}))
	var nonce [8]byte
	binary.NativeEndian.PutUint64(nonce[:], s.nonce)
	for {
		i := bytes.Index(s.heard, nonce[:])
		if i < 0 {
			i = max(len(s.heard)-len(nonce)+1, 0) // of which the last bytes may begin one
		}
		s.heard = slices.Delete(s.heard, 0, i)
		if len(s.heard) < size {
			return a, false
		}
		copy((*[size]byte)(unsafe.Pointer(&a))[:], s.heard)
		s.heard = slices.Delete(s.heard, 0, size)
		if a.round == s.mem.c.round {
			return a, true
		}
	}
}

// Death is how a child ended.
type Death struct {
	Status syscall.WaitStatus
	Killed proc.Reason // by us
	Server bool        // the server is gone as well, and has to be started anew
	Fault  Fault
	Stderr string
	Report string // of a sanitizer
	Waited bool   // it was killed because it waited, and had used less processor time than the limit
}

// Fault is what the handler of a fatal signal has seen. It is zero if there was none. Of a run that was killed for its
// time it has the frames that it was in when it was looked at.
type Fault struct {
	Signal      syscall.Signal
	Code        int32
	Access      Access
	Address, PC uint64
	SP          uint64
	Frames      []uint64
	Samples     int // so many of the frames are of one function, which the run was in each time; the rest led there
}

// fault returns what the handler has written down, the frames left out.
func (r *results) fault() Fault {
	return Fault{Signal: syscall.Signal(r.signal), Code: int32(r.code), Access: Access(min(r.access, 3)), Address: r.address, PC: r.pc, SP: r.sp}
}

// Access is what a faulting instruction did.
type Access uint8

// The accesses.
const (
	AccessUnknown Access = iota
	AccessRead
	AccessWrite
	AccessExecute
)

// ErrDamaged is returned for a batch in which the target has written over the memory that it shares with us. That memory has
// been put right, and nothing is known of the batch.
var ErrDamaged = errors.New("the target has overwritten memory that it shares with teasel")

// Run has the target run the batch from slot from on. It returns how many slots have been run, counted from the first
// of all; with a death, the last of them is the culprit. After [ErrDamaged] the server goes on with a fresh child.
func (s *Server) Run(ctx context.Context, from int, limit time.Duration) (done int, death *Death, err error) {
	return s.batch(ctx, commandRun, from, limit)
}

// batch has the target do one thing with the batch.
func (s *Server) batch(ctx context.Context, command uint32, from int, limit time.Duration) (done int, death *Death, err error) {
	n, r := s.mem.count, s.mem.r
	c := s.mem.c
	c.from, c.count, c.mostRuns = uint32(from), uint32(n), s.cmd.Runs
	atomic.StoreUint32(&r.cur, uint32(from))
	s.watch.begin(limit)
	given := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(given)
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
		<-given // or it would give up the next batch
	}
	reason := s.watch.dog.End()
	s.gone = s.gone || s.life == nil // given up, though it may have answered at last
	if err == nil && a.word == statusDone {
		s.gone = s.gone || reason != proc.NotKilled // it was killed when it had answered, and what it says next would be of that
		damaged := s.mem.audit(from, n, false)
		if (s.watch.crowded.Swap(false) || damaged) && !s.gone {
			s.Renew()
		}
		if damaged {
			return 0, nil, ErrDamaged
		}
		return n, nil, nil
	}
	at := min(max(int(atomic.LoadUint32(&r.cur)), from), n-1)
	d := &Death{Status: syscall.WaitStatus(a.status), Killed: reason, Waited: s.watch.dog.Waited(), Server: s.gone, Stderr: s.Stderr(), Report: text(s.report, reportRoom)}
	if s.gone {
		d.Status = syscall.WaitStatus(syscall.SIGKILL)
	} else if sig := syscall.Signal(r.signal); sig != 0 && (d.Status.Signaled() || d.Status.ExitStatus() > 0) { // a sanitizer that reports the signal may exit
		d.Fault = r.fault()
	}
	if reason == proc.Timeout {
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

// Renew has the next run begin in a fresh child.
func (s *Server) Renew() error {
	s.watch.begin(renewTime)
	err := s.send(commandRenew)
	if err == nil {
		_, err = s.answer()
	} else {
		s.gone, err = true, errGone
	}
	if s.watch.dog.End() != proc.NotKilled || s.life == nil {
		s.gone = true
	}
	return err
}

// Gone reports whether the server itself has died, so that it is of no more use but to be closed.
func (s *Server) Gone() bool { return s.gone }

// PID returns the number of the process that forks the children, which has the same mappings.
func (s *Server) PID() int { return s.pid }

// Late returns how many counters the target has loaded after its start for which there was no room, of all its processes together.
func (s *Server) Late() int { return int(s.mem.r.late) }

// Unhooked returns how many calls of comparison hooks were switched off.
func (s *Server) Unhooked() int { return s.unhooked }

// Stderr returns what the target has written to standard error since the batch began, the end of it if that is long.
func (s *Server) Stderr() string { return text(s.stderr, stderrKept) }

const (
	stderrKept = 64 << 10 // bytes of standard error that are looked at
	stderrMost = 16 << 20 // that it may take, about
)

// text returns the last bytes of what was written to a file that the target shares with us, its place included, which may
// therefore be anywhere.
func text(f *os.File, most int64) string {
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil || end <= 0 {
		return ""
	}
	b := make([]byte, min(end, most))
	n, _ := f.ReadAt(b, end-int64(len(b)))
	return string(b[:n])
}

// trim gives back what a file takes beyond its end: a target that writes without end is not refused, and takes no more memory.
func trim(f *os.File) {
	var st unix.Stat_t
	if unix.Fstat(int(f.Fd()), &st) != nil || st.Blocks*512 < stderrMost {
		return
	}
	end, err := f.Seek(0, io.SeekCurrent)
	if err == nil && end > stderrKept {
		unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_PUNCH_HOLE|unix.FALLOC_FL_KEEP_SIZE, 0, end-stderrKept)
	}
}

// Close ends the target and everything it has started, and returns when all of it is gone.
func (s *Server) Close() error {
	var err error
	s.watch.dog.Stop()
	if s.process != nil {
		if s.pid == 0 { // there is no guardian
			syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
		}
		select {
		case <-s.left():
		case <-time.After(closeTime):
			syscall.Kill(-s.process.Process.Pid, syscall.SIGKILL)
			<-s.ended
			err = fmt.Errorf("closing %s: processes were left after %v", s.cmd.Args[0], closeTime)
		}
		s.process = nil
	}
	for _, fd := range [2]*int{&s.command, &s.status} {
		if *fd >= 0 {
			syscall.Close(*fd)
			*fd = -1
		}
	}
	for _, f := range [3]**os.File{&s.life, &s.stderr, &s.report} {
		if *f != nil {
			(*f).Close()
			*f = nil
		}
	}
	return err
}

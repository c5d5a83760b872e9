package sancov

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync/atomic"
	"syscall"
	"time"
)

// firstFD is the first of the descriptors that a target is started with. They are high, for some programs close or
// count on the low ones.
const firstFD = 200

const (
	stderrRoom = 64 << 10 // bytes of standard error that are kept; more is refused to the target
	reportRoom = 256 << 10
	startTime  = 30 * time.Second // for a target to say hello
	closeTime  = 10 * time.Second // for a guardian to clear up
	renewTime  = time.Second      // for a child to make room
)

// Command says what to start.
type Command struct {
	Args   []string // Args[0] is a path
	Env    []string // all of it
	Dir    string   // "": ours
	Input  string   // file that gets the input; "": standard input, or none for a harness
	Hooks  []uint64 // file addresses of calls of comparison hooks that are to be switched off
	Memory uint64   // bytes that a run may hold; 0: no limit
	Runs   uint32   // after which a child makes room for a fresh one; 0: never
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
	pid     int // of the process that forks, which has the same mappings as its children

	unhooked int

	watch watchdog
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

func (s *Server) send(word uint32) error {
	var b [4]byte
	binary.NativeEndian.PutUint32(b[:], word)
	for {
		_, err := syscall.Write(s.command, b[:])
		if err != syscall.EINTR {
			return err
		}
	}
}

// errGone is how it shows that the server itself is dead.
var errGone = errors.New("target is gone")

func (s *Server) answer() (uint32, error) {
	var b [4]byte
	n, err := read(s.status, b[:])
	if err != nil || n < len(b) {
		s.gone = true
		return 0, errGone
	}
	return binary.NativeEndian.Uint32(b[:]), nil
}

// Death is how a child ended.
type Death struct {
	Status syscall.WaitStatus
	Killed Reason // by us
	Server bool   // the server is gone as well, and has to be started anew
	Fault  Fault
	Stderr string
	Report string // of a sanitizer
	Asleep bool   // killed after a timeout of the clock: it had used less processor time than the limit
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

// Access is what a faulting instruction did.
type Access uint8

// The accesses.
const (
	AccessUnknown Access = iota
	AccessRead
	AccessWrite
	AccessExecute
)

// Run has the target run the batch from slot from on. It returns how many slots have been run, counted from the first
// of all; with a death, the last of them is the culprit.
func (s *Server) Run(ctx context.Context, from int, limit time.Duration) (done int, death *Death, err error) {
	return s.batch(ctx, commandRun, from, limit)
}

// batch has the target do one thing with the batch.
func (s *Server) batch(ctx context.Context, command uint32, from int, limit time.Duration) (done int, death *Death, err error) {
	n := int(s.mem.h.count)
	h := s.mem.h
	h.from, h.mostRuns = uint32(from), s.cmd.Runs
	s.watch.begin(limit)
	given := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(given)
		s.watch.cancel()
	})
	err = s.send(command)
	var word uint32
	if err == nil {
		word, err = s.answer()
	} else {
		s.gone, err = true, errGone
	}
	if !stop() {
		<-given // or it would give up the next batch
	}
	reason := s.watch.end()
	s.gone = s.gone || s.life == nil // given up, though it may have answered at last
	if err == nil && word == statusDone {
		s.gone = s.gone || reason != NotKilled // it was killed when it had answered, and what it says next would be of that
		return n, nil, nil
	}
	at := min(max(int(atomic.LoadUint32(&h.cur)), from), n-1)
	d := &Death{Status: syscall.WaitStatus(h.status), Killed: reason, Asleep: s.watch.asleep.Load(), Server: s.gone, Stderr: s.Stderr(), Report: text(s.report)}
	if s.gone {
		d.Status = syscall.WaitStatus(syscall.SIGKILL)
	} else if sig := syscall.Signal(h.signal); sig != 0 && d.Status.Signaled() {
		d.Fault = Fault{Signal: sig, Code: int32(h.code), Access: Access(min(h.access, 3)), Address: h.address, PC: h.pc, SP: h.sp}
	}
	if reason == Timeout {
		d.Fault.Samples = int(min(h.samples, h.frameCount, maxSamples))
	}
	if d.Fault.Signal != 0 || d.Fault.Samples > 0 {
		d.Fault.Frames = append(d.Fault.Frames, h.frames[:min(h.frameCount, maxFrames)]...)
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
	if s.watch.end() != NotKilled || s.life == nil {
		s.gone = true
	}
	return err
}

// Gone reports whether the server itself has died, so that it is of no more use but to be closed.
func (s *Server) Gone() bool { return s.gone }

// PID returns the number of the process that forks the children, which has the same mappings.
func (s *Server) PID() int { return s.pid }

// Unhooked returns how many calls of comparison hooks were switched off.
func (s *Server) Unhooked() int { return s.unhooked }

// Stderr returns what the target has written to standard error since the batch began.
func (s *Server) Stderr() string { return text(s.stderr) }

// text returns what was written to a file that the target shares with us, its place included.
func text(f *os.File) string {
	end, err := f.Seek(0, io.SeekCurrent)
	if err != nil || end == 0 {
		return ""
	}
	b := make([]byte, end)
	n, _ := f.ReadAt(b, 0)
	return string(b[:n])
}

// Close ends the target and everything it has started, and returns when all of it is gone.
func (s *Server) Close() error {
	var err error
	s.watch.stop()
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

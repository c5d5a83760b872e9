// Package proc runs one program together with everything that it starts, and sees to it that nothing of it is left.
// It needs Linux: it asks the kernel to end the program when we die, and finds what it has started in /proc.
package proc

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// Marker is the name of an environment variable that every process started here inherits. Its value is different for
// each start, so that children which leave the process group are found as well.
const Marker = "TEASEL_SESSION"

// Command says what to run.
type Command struct {
	Args []string // Args[0] is looked up in PATH
	Env  []string // added to our own environment, NAME=value; a later one wins
	Dir  string   // working directory; "": ours
	Nice int      // added to our own niceness, where that can be had
	Half bool     // it keeps to the latter half of our processors, where that can be had
	// Files are open in the program as file descriptors 3 and up. The caller closes its own.
	Files []*os.File
	// Credential is the user that the program runs as; nil: ours. Only root can have another.
	Credential *syscall.Credential
	// Merge sends the standard output where standard error goes. Process.Stdout is nil then.
	Merge bool
	// On calls start on the thread that is to start the program, which inherits what is particular to that thread, such as its network
	// namespace. The program is killed when the thread ends. Half is disregarded then. nil: a thread is made.
	On func(start func() error) error
}

// Process is a running program. Stdin and Stdout are our ends of its pipes and take deadlines; the caller may close
// them. Stdout is nil with Command.Merge. All methods may be called by several goroutines at once.
type Process struct {
	Stdin  *os.File
	Stdout *os.File

	cmd     *exec.Cmd
	pid     int
	marker  string
	older   roster // what was there before it was started, and is nothing of its own; nil: unknown
	tail    *tail
	stderr  *os.File
	ended   chan struct{} // the program has ended; it is not reaped, so that its number is still its own
	drained chan struct{} // nothing more will come on standard error

	yielding sync.WaitGroup // until its session has its niceness

	once  sync.Once
	state State
	err   error
}

// State is how a program ended.
type State struct {
	Code    int            // exit status; -1: ended by Signal
	Signal  syscall.Signal // 0: it exited
	CPU     time.Duration  // of the program and the children it has waited for
	MaxRSS  uint64         // bytes, of the program itself
	Aborted bool           // it was still running when Close was called, so that the rest says little
}

var starts atomic.Uint64

// kin is how the markers of all that this process starts begin, and of nothing else on this machine.
var kin = fmt.Sprintf("%s=%010d%020d", Marker, os.Getpid(), time.Now().UnixNano())

// newMarker returns a value that no other process on this machine has. Its length is always the same, so that programs
// which print their environment answer the same each time but for digits.
func newMarker() string { return fmt.Sprintf("%s%010d", kin, starts.Add(1)) }

// Start runs a command in a session of its own. It dies with us. The caller has to call Close.
func Start(c Command) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("starting a program: the command is empty")
	}
	p := &Process{
		marker:  newMarker(),
		ended:   make(chan struct{}),
		drained: make(chan struct{}),
	}
	p.older, _ = newRoster() // without it, all processes are looked at
	var theirs []*os.File
	fail := func(err error) (*Process, error) {
		for _, f := range append(theirs, p.Stdin, p.Stdout, p.stderr) {
			if f != nil {
				f.Close()
			}
		}
		return nil, fmt.Errorf("starting %s: %w", c.Args[0], err)
	}
	stdin, ours, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	p.Stdin, theirs = ours, append(theirs, stdin)
	var stdout *os.File
	if !c.Merge {
		if ours, stdout, err = os.Pipe(); err != nil {
			return fail(err)
		}
		p.Stdout, theirs = ours, append(theirs, stdout)
	}
	ours, stderr, err := os.Pipe()
	if err != nil {
		return fail(err)
	}
	p.stderr, theirs = ours, append(theirs, stderr)
	if c.Merge {
		stdout = stderr
	}

	p.cmd = exec.Command(c.Args[0], c.Args[1:]...)
	p.cmd.Dir = c.Dir
	p.cmd.Env = append(append(os.Environ(), c.Env...), p.marker)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr, p.cmd.ExtraFiles = stdin, stdout, stderr, c.Files
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Credential: c.Credential}
	if p.tail, err = newTail(p.stderr); err != nil {
		return fail(err)
	}
	if err := p.spawn(&c); err != nil {
		return fail(err)
	}
	if c.Nice != 0 {
		nice := giveWay(p.pid, c.Nice)
		p.yielding.Go(func() { p.yield(nice) })
	}
	for _, f := range theirs {
		f.Close()
	}
	go func() {
		defer close(p.drained)
		p.tail.drain()
	}()
	return p, nil
}

// spawn starts the program and watches it from one thread: the kernel sends the death signal when the thread that
// forked ends, not when the process does. The thread is ours alone until the program has ended.
func (p *Process) spawn(c *Command) error {
	if c.On != nil {
		if err := c.On(p.cmd.Start); err != nil {
			return err
		}
		p.pid = p.cmd.Process.Pid
		go p.await()
		return nil
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		restore := func() error { return nil }
		if c.Half { // now, or what the program starts first had all
			restore = halve()
		}
		err := p.cmd.Start()
		if restore() == nil {
			defer runtime.UnlockOSThread() // or else the thread ends with the goroutine
		}
		if err != nil {
			started <- err
			return
		}
		p.pid = p.cmd.Process.Pid
		started <- nil
		p.await()
	}()
	return <-started
}

// await watches the program until it has ended.
func (p *Process) await() {
	AwaitEnd(p.pid)
	close(p.ended)
}

// The arguments of waitid(2) that package syscall leaves out.
const (
	pPID    = 1
	wExited = 4
	wNoWait = 0x01000000
)

// AwaitEnd returns when a child of ours has ended, and leaves it to be reaped: so long, neither its number nor that of its
// group is given to anybody else, and a signal cannot hit a stranger.
func AwaitEnd(pid int) {
	var info [128]byte
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid),
			uintptr(unsafe.Pointer(&info[0])), wExited|wNoWait, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// PID returns the number of the program, which is also that of its session and group.
func (p *Process) PID() int { return p.pid }

// Ended returns a channel that is closed when the program has ended. What it started may go on.
func (p *Process) Ended() <-chan struct{} { return p.ended }

// Running reports whether the program has not ended.
func (p *Process) Running() bool {
	select {
	case <-p.ended:
		return false
	default:
		return true
	}
}

// Written returns how many bytes have come on standard error.
func (p *Process) Written() int64 { return p.tail.written.Load() }

// Stderr returns a copy of what came on standard error after the first from bytes, at most [TailSize] of it, and what
// [Process.Written] is now. It looks into the pipe, so that nothing is left out that was written before the call.
func (p *Process) Stderr(from int64) ([]byte, int64) {
	p.tail.poll()
	return p.tail.since(from)
}

// Stop asks the program to end by closing its standard input and waits for that, but no longer than patience.
func (p *Process) Stop(patience time.Duration) {
	p.Stdin.Close()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
}

// Close kills the program and everything that it started, and returns when all of that is gone. An error says what
// would not go. Calling it again returns the same.
func (p *Process) Close() error {
	p.once.Do(func() {
		running := p.Running()
		p.Stdin.Close()
		if p.err = p.killAll(); p.err != nil && p.Running() { // it may never end
			p.state.Aborted = true
			p.Stdout.Close()
			return
		}
		<-p.ended
		p.yielding.Wait() // its number is given to nobody else until then
		p.reap()
		p.state.Aborted = running
		if p.Stdout != nil {
			p.Stdout.Close()
		}
		// Everything that could write to it is gone, or cannot be killed: do not wait for the latter.
		p.tail.poll()
		p.stderr.Close()
		<-p.drained
	})
	return p.err
}

// State says how the program ended. It may be called after Close.
func (p *Process) State() State { return p.state }

func (p *Process) reap() {
	p.cmd.Wait() // its error says how the program ended, which is in the state as well
	ps := p.cmd.ProcessState
	if ps == nil {
		return
	}
	p.state = State{Code: ps.ExitCode(), CPU: ps.UserTime() + ps.SystemTime()}
	if ws, ok := ps.Sys().(syscall.WaitStatus); ok && ws.Signaled() {
		p.state.Signal = ws.Signal()
	}
	if ru, ok := ps.SysUsage().(*syscall.Rusage); ok {
		p.state.MaxRSS = uint64(ru.Maxrss) << 10
	}
}

// Package proc runs a program and kills it together with all processes that it has started. It needs Linux: it has the kernel
// kill the program when this process ends, and finds the processes that the program has started in /proc.
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

// Marker is the name of an environment variable that a program and its descendants inherit. Its value differs for each start,
// so that descendants which have left the process group can be found.
const Marker = "TEASEL_SESSION"

// Command describes a program to start.
type Command struct {
	Args []string // program and arguments; Args[0] is looked up in PATH
	Env  []string // added to our own environment, NAME=value; the last value of a name counts
	Dir  string   // working directory; "": ours
	Nice int      // added to our own niceness, where that is possible
	Half bool     // restricts the program to the second half of our processors, where that is possible
	// Files are open in the program as file descriptors 3 and up. The caller closes its own.
	Files []*os.File
	// Credential is the user that the program runs as; nil: ours. Only root can choose another.
	Credential *syscall.Credential
	// Merge sends standard output to the same pipe as standard error. Process.Stdout is nil then.
	Merge bool
	// On calls start on the thread that is to start the program, which inherits the attributes of that thread, such as the network
	// namespace. The program is killed when the thread ends, and Half is ignored. nil: a new thread is used.
	On func(start func() error) error
	// Bound says that the program is in a process namespace that ends with us. The signal at our death is left out then: package
	// syscall takes us for dead already, whose number is 0 there.
	Bound bool
}

// Process is a running program. Stdin and Stdout are our ends of its pipes and support deadlines; the caller may close
// them. Stdout is nil with Command.Merge. All methods may be called concurrently.
type Process struct {
	Stdin  *os.File
	Stdout *os.File

	cmd     *exec.Cmd
	pid     int
	marker  string
	older   processSet // processes that existed before the program was started; nil: unknown
	tail    *tail
	stderr  *os.File
	ended   chan struct{} // closed when the program has ended; it is not reaped yet, so that its number is not reused
	drained chan struct{} // closed when standard error was read to its end

	killTime        time.Duration  // how long it may take to end once it was killed; 0: the constant
	settingNiceness sync.WaitGroup // a goroutine that sets the niceness of the session

	once  sync.Once
	state State
	err   error
}

// State is how a program ended.
type State struct {
	Code    int            // exit status; -1: ended by Signal
	Signal  syscall.Signal // 0: the program exited
	CPU     time.Duration  // of the program and the children it has waited for
	MaxRSS  uint64         // bytes, of the program itself
	Aborted bool           // the program was still running when Close was called: Code and Signal are those of the kill
}

var starts atomic.Uint64

// markerPrefix is the common prefix of the markers of the processes that this process starts, and of no others on this machine.
var markerPrefix = fmt.Sprintf("%s=%010d%020d", Marker, os.Getpid(), time.Now().UnixNano())

// newMarker returns a value that no other process on this machine has. Its length is always the same, so that the output of
// programs that print their environment differs in digits only.
func newMarker() string { return fmt.Sprintf("%s%010d", markerPrefix, starts.Add(1)) }

// Start starts a program in a session of its own. The kernel kills the program when this process ends. The caller must call
// Close. Start may be called concurrently.
func Start(c Command) (*Process, error) {
	if len(c.Args) == 0 {
		return nil, errors.New("starting a program: the command is empty")
	}
	p := &Process{
		marker:  newMarker(),
		ended:   make(chan struct{}),
		drained: make(chan struct{}),
	}
	p.older, _ = newProcessSet() // without it, all processes are examined
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
	p.cmd = c.command(p.marker)
	p.cmd.Stdin, p.cmd.Stdout, p.cmd.Stderr = stdin, stdout, stderr
	if p.tail, err = newTail(p.stderr); err != nil {
		return fail(err)
	}
	if err := p.spawn(&c); err != nil {
		return fail(err)
	}
	if c.Nice != 0 {
		nice := addNiceness(p.pid, c.Nice)
		p.settingNiceness.Go(func() { p.setSessionNiceness(nice) })
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

// command returns the command without its streams, with the marker in its environment.
func (c *Command) command(marker string) *exec.Cmd {
	cmd := exec.Command(c.Args[0], c.Args[1:]...)
	cmd.Dir = c.Dir
	cmd.Env = append(append(os.Environ(), c.Env...), marker)
	cmd.ExtraFiles = c.Files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Credential: c.Credential}
	if c.Bound {
		cmd.SysProcAttr.Pdeathsig = 0
	}
	return cmd
}

// spawn starts the program and waits for its end on one thread: the kernel sends the parent-death signal when the thread that
// forked ends, not when the process does. The thread stays locked to the goroutine until the program has ended.
func (p *Process) spawn(c *Command) error {
	if c.On != nil {
		if err := c.On(p.cmd.Start); err != nil {
			return err
		}
		p.pid = p.cmd.Process.Pid
		owned.Store(p.pid, true)
		go p.await()
		return nil
	}
	started := make(chan error)
	go func() {
		runtime.LockOSThread()
		restore := func() error { return nil }
		if c.Half { // before the start, or the program's first threads would have all processors
			restore = restrictToHalf()
		}
		err := p.cmd.Start()
		if restore() == nil {
			defer runtime.UnlockOSThread() // otherwise the thread stays locked and ends with the goroutine
		}
		if err != nil {
			started <- err
			return
		}
		p.pid = p.cmd.Process.Pid
		owned.Store(p.pid, true)
		started <- nil
		p.await()
	}()
	return <-started
}

// await waits for the end of the program and closes ended.
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

// AwaitEnd returns when a child of this process has ended, and does not reap it: until the child is reaped, the kernel gives
// neither its number nor that of its group to another process, so that a signal cannot hit an unrelated one.
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

// PID returns the process number of the program, which is also the number of its session and of its group.
func (p *Process) PID() int { return p.pid }

// Ended returns a channel that is closed when the program has ended. Processes that it has started may still run.
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

// Written returns the number of bytes read from the program's standard error so far.
func (p *Process) Written() int64 { return p.tail.written.Load() }

// Stderr returns a copy of the standard error after the first from bytes, at most the last [TailSize] bytes, and the current
// value of [Process.Written]. It reads the pipe first, so that the result includes everything written before the call.
func (p *Process) Stderr(from int64) ([]byte, int64) {
	p.tail.poll()
	return p.tail.since(from)
}

// Stop closes the program's standard input and waits for its end, but no longer than timeout. The caller must still call Close.
func (p *Process) Stop(timeout time.Duration) {
	p.Stdin.Close()
	timer := time.NewTimer(timeout)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
}

// Close kills the program and all processes that it has started, and returns when they are gone. The error names those that
// could not be killed. Further calls return the same error.
func (p *Process) Close() error {
	p.once.Do(func() {
		running := p.Running()
		p.Stdin.Close()
		if p.err = p.killAll(); p.err != nil && p.Running() { // the program may never end
			p.state.Aborted = true
			if p.Stdout != nil {
				p.Stdout.Close()
			}
			return
		}
		<-p.ended
		p.settingNiceness.Wait() // before the program is reaped and its number may be reused
		p.reap()
		p.state.Aborted = running
		if p.Stdout != nil {
			p.Stdout.Close()
		}
		// All processes that could write to the pipe are gone or cannot be killed: do not wait for the latter.
		p.tail.poll()
		p.stderr.Close()
		<-p.drained
	})
	return p.err
}

// State returns how the program ended. It must not be called before Close has returned.
func (p *Process) State() State { return p.state }

func (p *Process) reap() {
	defer owned.Delete(p.pid)
	if p.cmd == nil {
		p.reapFollowed()
		return
	}
	p.cmd.Wait() // the error tells how the program ended, which the state does too
	ps := p.cmd.ProcessState
	if ps == nil {
		return
	}
	ws, _ := ps.Sys().(syscall.WaitStatus)
	ru, _ := ps.SysUsage().(*syscall.Rusage)
	p.state = stateOf(ws, ru)
}

func stateOf(ws syscall.WaitStatus, ru *syscall.Rusage) State {
	s := State{Code: ws.ExitStatus()}
	if ws.Signaled() {
		s.Signal = ws.Signal()
	}
	if ru != nil {
		s.CPU = time.Duration(ru.Utime.Nano() + ru.Stime.Nano())
		s.MaxRSS = uint64(ru.Maxrss) << 10
	}
	return s
}

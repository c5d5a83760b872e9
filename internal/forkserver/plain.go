package forkserver

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
	"golang.org/x/sys/unix"
)

// leashFD is a pipe that everything a run starts holds, so that one look shows whether anything is left. It is beyond
// what programs count on.
const leashFD = 100

// How often, and with what pause, it is looked for what holds the leash. A program may have handed it to somebody who
// is none of ours.
const (
	leashLooks = 50
	leashPause = time.Millisecond
)

// Plain runs a program that has no server in it: it is started for every input. One goroutine at a time uses it.
type Plain struct {
	cmd      Command
	marker   string
	env      []string
	null     *os.File
	input    *inputFile
	stdout   *proc.Capture
	stderr   *proc.Capture
	guardian *proc.Guardian
	watch    watch
}

// NewPlain makes ready to run a program.
func NewPlain(c Command) (_ *Plain, err error) {
	p := &Plain{cmd: c, marker: proc.NewMarker()}
	defer func() {
		if err != nil {
			err = errors.Join(fmt.Errorf("starting %s: %w", c.Args[0], err), p.Close())
		}
	}()
	p.env = append(c.Env[:len(c.Env):len(c.Env)], p.marker)
	if p.input, err = newInputFile(c.Input); err != nil {
		return nil, err
	}
	if p.stdout, err = proc.NewCapture("stdout"); err != nil {
		return nil, err
	}
	if p.stderr, err = proc.NewCapture("stderr"); err != nil {
		return nil, err
	}
	if p.null, err = os.Open(os.DevNull); err != nil {
		return nil, err
	}
	if p.guardian, err = proc.Guard(p.marker, c.Folder); err != nil {
		return nil, err
	}
	p.watch.stdout, p.watch.stderr = p.stdout, p.stderr
	p.watch.start(c.Memory, 0, p.marker)
	return p, nil
}

// Run runs one input. An error is a failure of ours, or says that the program cannot be started.
func (p *Plain) Run(ctx context.Context, in []byte, limit time.Duration) (Result, error) {
	if err := p.input.write(in); err != nil {
		return Result{}, err
	}
	p.stdout.Rewind()
	p.stderr.Rewind()
	// The kernel ends the program when the thread ends that has started it, which must not be before us.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.watch.begin(ctx, 0, limit)
	pid, leash, err := p.spawn()
	if err != nil {
		p.watch.dog.End()
		return Result{}, err
	}
	defer syscall.Close(leash)
	p.watch.pid.Store(int64(pid))
	proc.AwaitEnd(pid)
	reason := p.watch.dog.End()
	syscall.Kill(-pid, syscall.SIGKILL) // what it has left in its group; while it is not reaped, the number is its own
	for range leashLooks {              // one that is killed may have forked just before, and takes a moment to die
		if !held(leash) {
			break
		}
		proc.KillOrphans(pid, p.marker)
		time.Sleep(leashPause)
	}
	var ws syscall.WaitStatus
	for {
		if _, err = syscall.Wait4(pid, &ws, 0, nil); err != syscall.EINTR {
			break
		}
	}
	if err != nil {
		return Result{}, fmt.Errorf("waiting for %s: %w", p.cmd.Args[0], err)
	}
	return Result{Status: ws, Killed: reason, Waited: p.watch.dog.Waited()}, nil
}

func (p *Plain) spawn() (pid, leash int, err error) {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return 0, 0, err
	}
	defer syscall.Close(pipe[1])
	var files [leashFD + 1]uintptr
	for i := range files {
		files[i] = ^uintptr(0)
	}
	files[0], files[1], files[2], files[leashFD] = p.null.Fd(), p.stdout.File().Fd(), p.stderr.File().Fd(), uintptr(pipe[1])
	if p.cmd.Input == "" {
		files[0] = p.input.file.Fd()
	}
	err = proc.AtFixedAddresses(func() (err error) {
		pid, err = syscall.ForkExec(p.cmd.Args[0], p.cmd.Args, &syscall.ProcAttr{Dir: p.cmd.Dir, Env: p.env, Files: files[:],
			Sys: &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL}})
		return err
	})
	if err != nil {
		syscall.Close(pipe[0])
		return 0, 0, err
	}
	unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	return pid, pipe[0], nil
}

// held reports whether the other end of a pipe is still open somewhere.
func held(fd int) bool {
	for {
		fds := [1]unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(fds[:], 0)
		if err != unix.EINTR {
			return err == nil && fds[0].Revents&unix.POLLHUP == 0
		}
	}
}

// Stdout returns what the last run has written to standard output. It is valid until the next run.
func (p *Plain) Stdout() []byte { return p.stdout.Bytes() }

// Stderr returns what the last run has written to standard error. It is valid until the next run.
func (p *Plain) Stderr() []byte { return p.stderr.Bytes() }

// Close gives everything back. Nothing runs between two calls of Run.
func (p *Plain) Close() error {
	p.watch.dog.Stop()
	var errs []error
	if p.guardian != nil {
		errs = append(errs, p.guardian.Close())
		p.guardian = nil
	}
	closeFiles(p.null)
	errs = append(errs, p.input.close(), p.stdout.Close(), p.stderr.Close())
	return errors.Join(errs...)
}

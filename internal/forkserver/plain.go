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

// lifelineFD is the descriptor of a pipe that every process of a run inherits: the pipe is closed when all of them have ended.
// The number is higher than those that programs use.
const lifelineFD = 100

// How often, and with which pause, the lifeline is checked after a run. It may stay open: a program may have passed it to a
// process that does not belong to the run.
const (
	lifelineChecks = 50
	lifelinePause  = time.Millisecond
)

// Plain runs a program that has no fork server, by starting it for every input. It is for one goroutine at a time.
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

// NewPlain prepares to run a program. The caller must call Close.
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
	p.watch.stdout, p.watch.stderr, p.watch.look = p.stdout, p.stderr, c.Look
	p.watch.start(c.Memory, 0, p.marker)
	return p, nil
}

// Run runs one input, for no more processor time than limit. An error is a failure of ours, or means that the program cannot be
// started; how the program ended is in the Result.
func (p *Plain) Run(ctx context.Context, in []byte, limit time.Duration) (Result, error) {
	return p.run(ctx, in, limit, nil)
}

// RunTraced is Run, and calls at whenever a thread of the program is stopped by a fault. It is an error if the program cannot be traced.
func (p *Plain) RunTraced(ctx context.Context, in []byte, limit time.Duration, at func(proc.Stop)) (Result, error) {
	return p.run(ctx, in, limit, at)
}

// awaitTraced returns when a traced program has ended. Only the thread that has started the program can trace it; that of a sandbox does not
// see the program's files and memory where we do, so that at is called here.
func (p *Plain) awaitTraced(pid int, at func(proc.Stop)) (err error) {
	if p.cmd.On == nil {
		proc.AwaitTraced(pid, at)
		return nil
	}
	stops, seen := make(chan proc.Stop), make(chan struct{})
	go func() {
		defer close(stops)
		err = p.cmd.On(func() error {
			proc.AwaitTraced(pid, func(s proc.Stop) {
				stops <- s
				<-seen
			})
			return nil
		})
	}()
	for s := range stops {
		at(s)
		seen <- struct{}{}
	}
	return err
}

// run runs one input, traced if at is not nil.
func (p *Plain) run(ctx context.Context, in []byte, limit time.Duration, at func(proc.Stop)) (Result, error) {
	if err := p.input.write(in); err != nil {
		return Result{}, err
	}
	p.stdout.Rewind()
	p.stderr.Rewind()
	// The kernel kills the program when the thread that started it ends: the thread must outlive the program.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	p.watch.begin(ctx, 0, limit)
	pid, lifeline, err := p.spawn(at != nil)
	if err != nil {
		p.watch.dog.End()
		return Result{}, err
	}
	defer syscall.Close(lifeline)
	p.watch.pid.Store(int64(pid))
	if at != nil {
		err = p.awaitTraced(pid, at)
	}
	if at == nil || err != nil {
		proc.AwaitEnd(pid)
	}
	reason := p.watch.dog.End()
	syscall.Kill(-pid, syscall.SIGKILL) // processes left in its group; the number is not reused before the program is reaped
	for range lifelineChecks {          // a killed process may have forked just before, and takes a moment to end
		if !isOpen(lifeline) {
			break
		}
		proc.KillOrphans(pid, p.marker)
		time.Sleep(lifelinePause)
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
	return Result{Status: ws, Killed: reason, Waited: p.watch.dog.Waited(), Looked: p.watch.saw}, nil
}

func (p *Plain) spawn(traced bool) (pid, lifeline int, err error) {
	var pipe [2]int
	if err := syscall.Pipe2(pipe[:], syscall.O_CLOEXEC); err != nil {
		return 0, 0, err
	}
	defer syscall.Close(pipe[1])
	var files [lifelineFD + 1]uintptr
	for i := range files {
		files[i] = ^uintptr(0)
	}
	files[0], files[1], files[2], files[lifelineFD] = p.null.Fd(), p.stdout.File().Fd(), p.stderr.File().Fd(), uintptr(pipe[1])
	if p.cmd.Input == "" {
		files[0] = p.input.file.Fd()
	}
	sys := &syscall.SysProcAttr{Setsid: true, Pdeathsig: syscall.SIGKILL, Ptrace: traced}
	if p.cmd.On != nil { // a sandbox ends with us, and package syscall takes us for dead in there
		sys.Pdeathsig = 0
	}
	err = proc.StartFixed(p.cmd.On, func() (err error) {
		pid, err = syscall.ForkExec(p.cmd.Args[0], p.cmd.Args, &syscall.ProcAttr{Dir: p.cmd.Dir, Env: p.env, Files: files[:],
			Sys: sys})
		return err
	})
	if err != nil {
		syscall.Close(pipe[0])
		return 0, 0, err
	}
	unix.Prlimit(pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	return pid, pipe[0], nil
}

// isOpen reports whether some process has the other end of the pipe open.
func isOpen(fd int) bool {
	for {
		fds := [1]unix.PollFd{{Fd: int32(fd)}}
		_, err := unix.Poll(fds[:], 0)
		if err != unix.EINTR {
			return err == nil && fds[0].Revents&unix.POLLHUP == 0
		}
	}
}

// Stdout returns the end of the last run's standard output, at most 64 KiB. It is valid until the next run.
func (p *Plain) Stdout() []byte { return p.stdout.Bytes() }

// Stderr returns the end of the last run's standard error, at most 64 KiB. It is valid until the next run.
func (p *Plain) Stderr() []byte { return p.stderr.Bytes() }

// Close releases files and memory. No process of the program runs between two calls of Run.
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

package isolation

import (
	"fmt"
	"os"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// first is process 1 of a process namespace.
type first struct {
	pid  int
	life *os.File // it ends when this is closed, by us or because we have ended
}

// firstScript is what it does in the end. The ends of orphans are ignored, so that the kernel reaps them. No signal from inside ends it.
const firstScript = `trap '' CHLD; echo; exec cat >/dev/null`

// startFirst starts process 1 of the process namespace that children of this thread are born in, and has it mount /proc, which shows the
// namespace of whom mounts it. That has to happen between fork and exec: a program that may mount would have to be found first.
func startFirst() (*first, error) {
	reads, life, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	defer reads.Close()
	said, says, err := os.Pipe()
	if err != nil {
		return nil, fmt.Errorf("starting the first process: %w", err)
	}
	defer said.Close()
	c, err := newChild(int(reads.Fd()), int(says.Fd()))
	if err != nil {
		return nil, err
	}
	pid, errno := c.fork()
	says.Close()
	if errno != 0 {
		life.Close()
		return nil, fmt.Errorf("starting the first process: %w", errno)
	}
	f := &first{pid: pid, life: life}
	var word [1]byte
	if n, _ := said.Read(word[:]); n == 1 {
		return f, nil // orphans are reaped from now on
	}
	life.Close()
	var ws syscall.WaitStatus
	_, _ = syscall.Wait4(pid, &ws, 0, nil)
	return nil, fmt.Errorf("mounting /proc: %w", syscall.Errno(ws.ExitStatus()))
}

// end ends the process, and with it all others in its namespace, and returns when they are gone. Those that we have started must have
// been waited for.
func (f *first) end() error {
	f.life.Close()
	_ = syscall.Kill(f.pid, syscall.SIGKILL) // it may be stopped
	for {
		if _, err := syscall.Wait4(f.pid, nil, 0, nil); err != syscall.EINTR {
			return err
		}
	}
}

// child is what a child needs between fork and exec, where it may only make system calls: it has one thread, and the locks of the others.
type child struct {
	stdin, stdout                 uintptr
	proc, procType, program, root *byte
	args, env                     []*byte
}

func newChild(stdin, stdout int) (*child, error) {
	c := &child{stdin: uintptr(stdin), stdout: uintptr(stdout)}
	var err error
	pointer := func(s string) *byte {
		p, e := syscall.BytePtrFromString(s)
		if e != nil {
			err = e
		}
		return p
	}
	c.proc, c.procType, c.program, c.root = pointer("/proc"), pointer("proc"), pointer("/bin/sh"), pointer("/")
	c.args = []*byte{pointer("sh"), pointer("-c"), pointer(firstScript), nil}
	c.env = []*byte{pointer("PATH=/usr/bin:/bin"), nil}
	return c, err
}

// fork starts the child. Signals are blocked meanwhile: the child must not run a handler of Go's.
//
//go:norace
func (c *child) fork() (pid int, errno syscall.Errno) {
	var all, old unix.Sigset_t
	for i := range all.Val {
		all.Val[i] = ^all.Val[i]
	}
	if err := unix.PthreadSigmask(unix.SIG_SETMASK, &all, &old); err != nil {
		return 0, syscall.EINVAL
	}
	id, _, errno := syscall.RawSyscall6(syscall.SYS_CLONE, uintptr(syscall.SIGCHLD), 0, 0, 0, 0, 0)
	if id == 0 && errno == 0 {
		c.run(&old)
	}
	_ = unix.PthreadSigmask(unix.SIG_SETMASK, &old, nil)
	return int(id), errno
}

// run is the child's. It does not return.
//
//go:norace
//go:nosplit
func (c *child) run(mask *unix.Sigset_t) {
	const maskSize = 8
	_, _, errno := syscall.RawSyscall(syscall.SYS_PRCTL, syscall.PR_SET_PDEATHSIG, uintptr(syscall.SIGKILL), 0)
	if errno == 0 {
		_, _, errno = syscall.RawSyscall6(syscall.SYS_MOUNT, uintptr(unsafe.Pointer(c.procType)), uintptr(unsafe.Pointer(c.proc)), uintptr(unsafe.Pointer(c.procType)),
			unix.MS_NOSUID|unix.MS_NODEV|unix.MS_NOEXEC, 0, 0)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(syscall.SYS_SETSID, 0, 0, 0)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(syscall.SYS_CHDIR, uintptr(unsafe.Pointer(c.root)), 0, 0)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(syscall.SYS_DUP3, c.stdin, 0, 0)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(syscall.SYS_DUP3, c.stdout, 1, 0)
	}
	if errno == 0 {
		_, _, errno = syscall.RawSyscall(syscall.SYS_DUP3, c.stdout, 2, syscall.O_CLOEXEC) // nothing that it says is of use
	}
	if errno == 0 {
		syscall.RawSyscall6(syscall.SYS_RT_SIGPROCMASK, unix.SIG_SETMASK, uintptr(unsafe.Pointer(mask)), 0, maskSize, 0, 0)
		_, _, errno = syscall.RawSyscall(syscall.SYS_EXECVE, uintptr(unsafe.Pointer(c.program)), uintptr(unsafe.Pointer(&c.args[0])), uintptr(unsafe.Pointer(&c.env[0])))
	}
	for {
		syscall.RawSyscall(syscall.SYS_EXIT_GROUP, uintptr(errno), 0, 0)
	}
}

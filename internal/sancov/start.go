package sancov

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
	"unsafe"

	"github.com/teaselfuzz/teasel/internal/proc"
	"golang.org/x/sys/unix"
)

// NotInstrumented is the error of a program that has not sent a [Hello].
type NotInstrumented struct {
	Program string
	How     string // why there is none: "it exited before it was ready for an input"
	Stderr  string // what the program wrote there; "": nothing
	Slow    bool   // the time limit has expired: the program may only be slow
}

func (e *NotInstrumented) Error() string {
	s := fmt.Sprintf("%s has not been linked with teasel's runtime (%s)", e.Program, e.How)
	if e.Stderr != "" {
		s += ": " + e.Stderr
	}
	return s
}

// Start starts a target that uses m and waits until it is ready for its first input. The error wraps a [NotInstrumented] if the
// program does not contain the runtime, or fails before it is ready.
func Start(ctx context.Context, m *Memory, c Command) (s *Server, err error) {
	s = &Server{mem: m, cmd: c, command: -1, status: -1, ended: make(chan struct{})}
	var targetEnds []*os.File
	defer func() {
		for _, f := range targetEnds {
			f.Close()
		}
		if err != nil {
			err = errors.Join(fmt.Errorf("starting %s: %w", c.Args[0], err), s.Close())
			s = nil
		}
	}()
	if targetEnds, err = s.open(); err != nil {
		return s, err
	}
	extra := make([]*os.File, firstFD-3, firstFD-3+fdCount)
	s.process = exec.Command(c.Args[0], c.Args[1:]...)
	s.process.Dir = c.Dir
	s.process.Env = append(c.Env[:len(c.Env):len(c.Env)], "TEASEL_FD="+strconv.Itoa(firstFD))
	if c.Input != "" {
		s.process.Env = append(s.process.Env, "TEASEL_INPUT="+c.Input)
	}
	s.process.Stderr = s.stderr
	s.process.ExtraFiles = append(extra, targetEnds[0], targetEnds[1], m.files[0], m.files[1], s.report, targetEnds[2], targetEnds[3])
	s.process.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := proc.StartFixed(c.On, s.process.Start); err != nil {
		s.process = nil
		return s, err
	}
	go func() {
		s.process.Wait() // the exit status of the guardian says nothing
		close(s.ended)
	}()
	for _, f := range targetEnds { // so that only the target has these ends open
		f.Close()
	}
	targetEnds = nil
	if err := s.hello(ctx); err != nil {
		return s, err
	}
	s.watch.start(s)
	return s, nil
}

// open makes the pipes and files. It returns the target's ends: command, status, lifeline and input.
func (s *Server) open() (targetEnds []*os.File, err error) {
	var command, status [2]int
	if err := syscall.Pipe2(command[:], syscall.O_CLOEXEC); err != nil {
		return nil, err
	}
	s.command = command[1]
	targetEnds = append(targetEnds, os.NewFile(uintptr(command[0]), "command"))
	if err := syscall.Pipe2(status[:], syscall.O_CLOEXEC); err != nil {
		return targetEnds, err
	}
	s.status = status[0]
	targetEnds = append(targetEnds, os.NewFile(uintptr(status[1]), "status"))
	lifeline, ownEnd, err := os.Pipe()
	if err != nil {
		return targetEnds, err
	}
	s.lifeline, targetEnds = ownEnd, append(targetEnds, lifeline)
	var input *os.File
	if s.cmd.Input != "" {
		if i, err := os.Lstat(s.cmd.Input); err == nil && !i.Mode().IsRegular() {
			os.RemoveAll(s.cmd.Input) // a run has put a folder there, or a link to another file
		}
		input, err = os.OpenFile(s.cmd.Input, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	} else {
		input, err = memoryFile("input", 0)
	}
	if err != nil {
		return targetEnds, err
	}
	targetEnds = append(targetEnds, input)
	if s.stderr, err = memoryFile("stderr", 0); err != nil {
		return targetEnds, err
	}
	s.report, err = memoryFile("report", reportSize)
	return targetEnds, err
}

// memoryFile makes a memory file without a name. If size is not 0, the size is fixed and writes beyond it fail.
func memoryFile(name string, size int64) (*os.File, error) {
	fd, err := unix.MemfdCreate("teasel-"+name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, err
	}
	f := os.NewFile(uintptr(fd), name)
	if size == 0 {
		return f, nil
	}
	err = f.Truncate(size)
	if err == nil {
		_, err = unix.FcntlInt(f.Fd(), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK)
	}
	if err != nil {
		f.Close()
		return nil, err
	}
	return f, nil
}

// startTime is the default of Command.Start.
const startTime = 30 * time.Second

// ready waits until the target has sent data or closed its end.
func (s *Server) ready(ctx context.Context, deadline time.Time) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return &NotInstrumented{Program: s.cmd.Args[0], How: fmt.Sprintf("it was not ready for an input after %v", cmp.Or(s.cmd.Start, startTime)), Stderr: s.Stderr(), Slow: true}
		}
		n, err := unix.Poll([]unix.PollFd{{Fd: int32(s.status), Events: unix.POLLIN}}, 100)
		if errors.Is(err, syscall.EINTR) || err == nil && n == 0 {
			continue
		}
		return err
	}
}

// hello receives the target's Hello, lays out the memory, and waits until the target has mapped it.
func (s *Server) hello(ctx context.Context) error {
	var b [unsafe.Sizeof(Hello{})]byte
	deadline := time.Now().Add(cmp.Or(s.cmd.Start, startTime))
	for n := 0; n < len(b); {
		if err := s.ready(ctx, deadline); err != nil {
			return err
		}
		got, err := read(s.status, b[n:])
		if err == nil && got == 0 {
			err = io.EOF
		}
		if err != nil {
			return &NotInstrumented{Program: s.cmd.Args[0], How: "it exited before it was ready for an input", Stderr: s.Stderr()}
		}
		n += got
	}
	s.Hello = *(*Hello)(unsafe.Pointer(&b))
	if s.Hello.magic != magic || s.Hello.version != version {
		return fmt.Errorf("it was built with another version of teasel: build it again")
	}
	if err := s.mem.layOut(s.Hello); err != nil {
		return err
	}
	s.inside.Start(s.process.Process.Pid)
	s.pid = s.inside.PID(int(s.Hello.PID))
	s.nonce = s.mem.c.nonce
	s.mem.offerHooks(s.cmd.Hooks)
	if err := s.send(commandRun); err != nil {
		return err
	}
	if err := s.ready(ctx, deadline); err != nil {
		return err
	}
	if a, err := s.answer(); err != nil || a.word != statusRenewed {
		return fmt.Errorf("it ended: %s", strings.TrimSpace(s.Stderr()))
	}
	s.unhooked = int(s.mem.r.unhooked)
	return nil
}

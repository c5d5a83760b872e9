package forkserver

import (
	"cmp"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
	"github.com/teaselfuzz/teasel/internal/shm"
	"golang.org/x/sys/unix"
)

const (
	controlFD    = 198 // AFL's fork servers read from this descriptor and write to the next
	firstMapSize = 8 << 20
	maxMapSize   = 1 << 30
	startTime    = 30 * time.Second // for the handshake, unless a command says otherwise
	mapAlignment = 64
)

// NoHandshake is the error of a program that has not performed the handshake of a fork server.
type NoHandshake struct {
	How    string // why there is none: "it ended with status 1 at its start"
	Stderr string // what the program wrote there; "": nothing
}

func (e *NoHandshake) Error() string {
	s := "it has not started AFL's fork server (" + e.How + ")"
	if e.Stderr != "" {
		s += ": " + strings.TrimSpace(e.Stderr)
	}
	return s
}

// Start starts a program and waits for the handshake of its fork server. If the server asks for a larger map, the program is
// started again with one. The error wraps a [NoHandshake] or a [ServerError] if the program is at fault.
func Start(ctx context.Context, c Command) (*Server, error) {
	if c.Map == 0 {
		c.Map = firstMapSize
	}
	for {
		s, more, err := start(ctx, c)
		if err == nil || more <= c.Map || more > maxMapSize {
			if err != nil {
				err = fmt.Errorf("starting %s: %w", c.Args[0], err)
			}
			return s, err
		}
		c.Map = more
	}
}

// start returns, with an error that a larger map may prevent, the size of that map.
func start(ctx context.Context, c Command) (_ *Server, more int, err error) {
	c.Map = (c.Map + mapAlignment - 1) &^ (mapAlignment - 1)
	s := &Server{cmd: c, control: -1, status: -1, marker: proc.NewMarker()}
	if err = s.spawn(); err == nil {
		err = s.handshake(ctx)
	}
	if err == nil {
		s.watch.stderr, s.watch.look = s.stderr, c.Look
		s.watch.start(c.Memory, s.pid(), s.marker)
		return s, 0, nil
	}
	refused := (*ServerError)(nil)
	switch {
	case s.Hello.MapSize > c.Map:
		more = s.Hello.MapSize
	case s.stderr != nil && requestedMapSize(s.Stderr()) > 0:
		more = requestedMapSize(s.Stderr())
	case errors.As(err, &refused) && refused.Code == errorMapSize:
		more = 8 * c.Map
	}
	return nil, more, errors.Join(err, s.Close())
}

func (s *Server) spawn() (err error) {
	if s.trace, err = shm.New(s.cmd.Map, 0o600); err != nil {
		return err
	}
	if s.shared, err = shm.New(maxInput+4, 0o600); err != nil {
		return err
	}
	if s.input, err = newInputFile(s.cmd.Input); err != nil {
		return err
	}
	if s.stderr, err = proc.NewCapture("stderr"); err != nil {
		return err
	}
	if s.guardian, err = proc.Guard(s.marker, s.cmd.Folder); err != nil {
		return err
	}
	control, status, err := s.pipes()
	if err != nil {
		return err
	}
	defer closeFiles(control, status)
	p := exec.Command(s.cmd.Args[0], s.cmd.Args[1:]...)
	p.Dir, p.Env = s.cmd.Dir, s.environment()
	if s.cmd.Input == "" {
		p.Stdin = s.input.file
	}
	p.Stderr = s.stderr.File()
	p.ExtraFiles = append(make([]*os.File, controlFD-3, controlFD-1), control, status)
	p.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := proc.StartFixed(s.cmd.On, p.Start); err != nil {
		return err
	}
	s.process = p
	// Writing a core would take longer than the crash. If the program has ended already, the handshake fails.
	unix.Prlimit(p.Process.Pid, unix.RLIMIT_CORE, &unix.Rlimit{}, nil)
	return s.guardian.Watch(p.Process.Pid)
}

// pipes makes both pipes and returns the program's ends. Our ends block: Go's netpoller would cost more than a run.
func (s *Server) pipes() (control, status *os.File, err error) {
	var p [2]int
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		return nil, nil, err
	}
	s.control, control = p[1], os.NewFile(uintptr(p[0]), "control")
	if err := syscall.Pipe2(p[:], syscall.O_CLOEXEC); err != nil {
		control.Close()
		return nil, nil, err
	}
	s.status = p[0]
	return control, os.NewFile(uintptr(p[1]), "status"), nil
}

func (s *Server) environment() []string {
	env := slices.DeleteFunc(slices.Clone(s.cmd.Env), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		switch name {
		case "AFL_OLD_FORKSERVER", "AFL_MAP_SIZE", "__AFL_CMPLOG_SHM_ID": // with the first, a server sends no options
			return true
		}
		return false
	})
	env = append(env, s.marker, "__AFL_SHM_ID="+strconv.Itoa(s.trace.ID), "__AFL_SHM_FUZZ_ID="+strconv.Itoa(s.shared.ID),
		"__AFL_SHM_FUZZ_MAP_SIZE="+strconv.Itoa(len(s.shared.Bytes)), "AFL_MAP_SIZE="+strconv.Itoa(s.cmd.Map))
	if s.cmd.Persistent {
		env = append(env, "__AFL_PERSISTENT=1")
	}
	if s.cmd.Deferred {
		env = append(env, "__AFL_DEFER_FORKSRV=1")
	}
	return env
}

// handshake performs the handshake and sets s.Hello.
func (s *Server) handshake(ctx context.Context) error {
	deadline := time.Now().Add(cmp.Or(s.cmd.Start, startTime))
	data := func(n int) ([]byte, error) {
		b := make([]byte, n)
		for got := 0; got < n; {
			if err := s.awaitReadable(ctx, deadline); err != nil {
				return nil, err
			}
			m, err := syscall.Read(s.status, b[got:])
			if err == syscall.EINTR {
				continue
			}
			if err == nil && m == 0 {
				err = io.EOF
			}
			if err != nil {
				return nil, s.noHandshake("it ended" + s.end())
			}
			got += m
		}
		return b, nil
	}
	word := func() (uint32, error) {
		b, err := data(wordSize)
		if err != nil {
			return 0, err
		}
		return binary.NativeEndian.Uint32(b), nil
	}
	h, err := hello(word, data, s.send)
	h.Persistent, h.Deferred = s.cmd.Persistent, s.cmd.Deferred
	s.Hello = h
	if err == nil && h.MapSize > s.cmd.Map {
		err = &ServerError{errorMapSize}
	}
	if err == nil && h.MapSize <= 0 {
		err = fmt.Errorf("its map has %d bytes", h.MapSize)
	}
	if err != nil {
		return err
	}
	if !h.Shared {
		err, s.shared = s.shared.Close(), nil
	}
	s.Hello.MapSize = (h.MapSize + 7) &^ 7
	return err
}

// awaitReadable returns when the server has sent data, or has closed its end.
func (s *Server) awaitReadable(ctx context.Context, deadline time.Time) error {
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		if time.Now().After(deadline) {
			return s.noHandshake(fmt.Sprintf("it sent nothing in %v", cmp.Or(s.cmd.Start, startTime)))
		}
		ready, err := unix.Poll([]unix.PollFd{{Fd: int32(s.status), Events: unix.POLLIN}}, 100)
		if err != nil && !errors.Is(err, syscall.EINTR) {
			return err
		}
		if ready > 0 {
			return nil
		}
	}
}

func (s *Server) noHandshake(how string) error {
	return &NoHandshake{How: how, Stderr: string(s.Stderr())}
}

// end describes how the program ended, which has closed its end of the pipe: " with status 1 at its start".
func (s *Server) end() string {
	for range 100 {
		var ws syscall.WaitStatus
		pid, err := syscall.Wait4(s.process.Process.Pid, &ws, syscall.WNOHANG, nil)
		if err != nil || pid == 0 {
			time.Sleep(time.Millisecond)
			continue
		}
		if ws.Signaled() {
			return fmt.Sprintf(" by signal %d (%v) at its start", int(ws.Signal()), ws.Signal())
		}
		return fmt.Sprintf(" with status %d at its start", ws.ExitStatus())
	}
	return ""
}

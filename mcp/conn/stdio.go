package conn

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

const (
	maxLine    = 32 << 20 // bytes, more than the longest line that common servers accept
	maxUntaken = 64 << 20 // bytes that a server may write while it does not read
	readSize   = 64 << 10 // bytes of one read
	maxIdle    = 1 << 20  // bytes of a buffer that is kept for later lines
	Slice      = 50 * time.Millisecond
)

// stdio is a connection over the standard input and output of a process. A message is a line.
type stdio struct {
	stdin, stdout *os.File        // the server's
	in, out       syscall.RawConn // of stdout and stdin
	running       func() bool

	queue    []byte // to be written
	got      []byte // was read
	returned int    // bytes of it, which the next Recv forgets
	searched int    // bytes of it in which there is no newline that was not returned
	total    int64
	ended    error // why nothing more comes; nil: something may
	eof      bool  // CloseSend was called
}

var _ Conn = (*stdio)(nil)

// NewStdio returns a connection over our ends of the pipes of a process, which support deadlines. running reports whether the
// process goes on: somebody else may hold its pipes open. Close closes both.
func NewStdio(stdin, stdout *os.File, running func() bool) (Conn, error) {
	in, err := stdout.SyscallConn()
	if err != nil {
		return nil, err
	}
	out, err := stdin.SyscallConn()
	return &stdio{stdin: stdin, stdout: stdout, in: in, out: out, running: running}, err
}

func (c *stdio) Send(m Message) (exchange int64) {
	if c.queue = append(c.queue, m.Body...); !m.More {
		c.queue = append(c.queue, '\n')
	}
	return 0
}

// Flush goes on reading while the server does not take what is written: it may be waiting for us to read.
func (c *stdio) Flush(ctx context.Context, limit time.Duration) error {
	rest := c.queue
	if c.queue = c.queue[:0]; cap(c.queue) > maxIdle {
		c.queue = nil
	}
	if c.eof {
		return nil // a reply that came too late
	}
	began := time.Now()
	for len(rest) > 0 {
		n, err := c.write(rest)
		rest = rest[n:]
		now := time.Now()
		switch {
		case n > 0:
			began = now
			continue
		case err == syscall.EPIPE:
			return ErrBroken
		case err != syscall.EAGAIN:
			return err
		case ctx.Err() != nil:
			return ctx.Err()
		case now.Sub(began) >= limit:
			c.queue = append(c.queue, rest...)
			return ErrBlocked
		}
		for c.ended == nil && c.read(c.in.Read) {
			if len(c.got) > maxUntaken {
				c.ended = ErrFlood
				return ErrFlood
			}
		}
		c.pollFor(min(Slice, limit-now.Sub(began)), true)
	}
	return nil
}

// write writes once what the pipe takes.
func (c *stdio) write(rest []byte) (n int, err error) {
	closed := c.out.Write(func(fd uintptr) bool {
		for n, err = unix.Write(int(fd), rest); err == unix.EINTR; {
			n, err = unix.Write(int(fd), rest)
		}
		return true
	})
	if closed != nil {
		err = closed
	}
	return max(n, 0), err
}

func (c *stdio) Recv(ctx context.Context, until time.Time, frames []Frame) ([]Frame, error) {
	c.forget()
	for {
		if frames = c.cut(frames); len(frames) > 0 {
			return frames, nil
		}
		if c.ended != nil {
			return c.rest(frames)
		}
		if c.read(c.in.Read) || c.ended != nil {
			continue
		}
		now := time.Now()
		if err := ctx.Err(); err != nil {
			return frames, err
		}
		if !now.Before(until) {
			return frames, nil
		}
		if !c.running() { // somebody else may hold the pipe open
			if !c.read(c.in.Read) {
				c.ended = io.EOF
			}
			continue
		}
		if d := until.Sub(now); d < time.Millisecond {
			c.pollFor(d, false)
			continue
		}
		slice := now.Add(Slice)
		if until.Before(slice) {
			slice = until
		}
		c.stdout.SetReadDeadline(slice)
		c.read(c.waiting)
		c.stdout.SetReadDeadline(time.Time{})
	}
}

// pollFor waits for something to read and, if that is wanted, for room to write. The runtime's timers have a resolution of a
// millisecond when nothing else runs.
func (c *stdio) pollFor(d time.Duration, room bool) {
	t := unix.NsecToTimespec(int64(d))
	c.in.Control(func(in uintptr) {
		fds := [2]unix.PollFd{{Fd: int32(in), Events: unix.POLLIN}, {Fd: -1, Events: unix.POLLOUT}}
		if c.ended != nil {
			fds[0].Fd = -1
		}
		if !room {
			unix.Ppoll(fds[:1], &t, nil)
			return
		}
		c.out.Control(func(out uintptr) {
			fds[1].Fd = int32(out)
			unix.Ppoll(fds[:], &t, nil)
		})
	})
}

// waiting is the RawConn's Read with a function that does not give up when there is nothing to read.
func (c *stdio) waiting(f func(fd uintptr) bool) error {
	return c.in.Read(func(fd uintptr) bool {
		f(fd)
		return len(c.got) > c.searched || c.ended != nil
	})
}

// read reads once what there is, by one of the two ways of asking. It reports whether there was anything.
func (c *stdio) read(ask func(func(fd uintptr) bool) error) bool {
	before := len(c.got)
	if cap(c.got)-before < readSize {
		grown := make([]byte, before, max(2*cap(c.got), before+readSize))
		copy(grown, c.got)
		c.got = grown
	}
	err := ask(func(fd uintptr) bool {
		n, err := unix.Read(int(fd), c.got[before:cap(c.got)])
		switch {
		case n > 0:
			c.got = c.got[:before+n]
		case n == 0:
			c.ended = io.EOF
		case err != unix.EAGAIN && err != unix.EINTR:
			c.ended = io.EOF
		}
		return true
	})
	if err != nil && !errors.Is(err, os.ErrDeadlineExceeded) {
		c.ended = io.EOF
	}
	c.total += int64(len(c.got) - before)
	if len(c.got)-c.returned > maxLine && bytes.IndexByte(c.got[c.searched:], '\n') < 0 {
		c.ended = ErrFlood
	}
	return len(c.got) > before
}

// cut appends the whole lines that were read.
func (c *stdio) cut(frames []Frame) []Frame {
	for {
		i := bytes.IndexByte(c.got[c.searched:], '\n')
		if i < 0 {
			c.searched = len(c.got)
			return frames
		}
		end := c.searched + i
		frames = append(frames, Frame{Body: c.got[c.returned:end:end]})
		c.returned, c.searched = end+1, end+1
	}
}

// rest returns the last line if nothing ended it.
func (c *stdio) rest(frames []Frame) ([]Frame, error) {
	if c.ended == io.EOF && len(c.got) > c.returned {
		frames = append(frames, Frame{Body: c.got[c.returned:]})
		c.returned = len(c.got)
		return frames, nil
	}
	return frames, c.ended
}

// forget makes room of the lines that were returned.
func (c *stdio) forget() {
	if c.returned == 0 {
		return
	}
	rest := c.got[c.returned:]
	if cap(c.got) > maxIdle && len(rest) < readSize {
		c.got = nil
	}
	c.got = append(c.got[:0], rest...)
	c.searched -= c.returned
	c.returned = 0
}

func (c *stdio) Unread() (unread bool) {
	err := c.out.Control(func(fd uintptr) {
		n, err := unix.IoctlGetInt(int(fd), unix.TIOCINQ)
		unread = err == nil && n > 0
	})
	return err == nil && unread
}

func (c *stdio) Drop(int64)        {}
func (c *stdio) Release(int64)     {}
func (c *stdio) Queued(int64) bool { return false }

func (c *stdio) CloseSend() error {
	if c.eof {
		return nil
	}
	c.eof = true
	return c.stdin.Close()
}

func (c *stdio) Received() int64 { return c.total }

func (c *stdio) Close() error { return errors.Join(c.stdin.Close(), c.stdout.Close()) }

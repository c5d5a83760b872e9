package main

import (
	"bufio"
	"errors"
	"io"
	"runtime/debug"
	"sync"
)

// sink takes the replies to the messages of one line.
type sink interface {
	send(reply raw)
	// done is called once for each message, after its reply if it has one.
	done()
}

// wire writes messages, each a line in one write, so that a death of the process leaves no half of one behind.
type wire struct {
	mu  sync.Mutex
	out io.Writer
}

var (
	_ sink = (*wire)(nil)
	_ sink = (*batch)(nil)
)

func (w *wire) send(message raw) {
	w.mu.Lock()
	defer w.mu.Unlock()
	// Nobody is left to be told when the client is gone; its end of stdin closes as well.
	_, _ = w.out.Write(append(message, '\n'))
}

func (w *wire) done() {}

// batch gathers the replies to an array of messages and sends them as one array when the last message is done.
type batch struct {
	out     *wire
	mu      sync.Mutex
	replies []raw
	open    int
}

func (b *batch) send(reply raw) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.replies = append(b.replies, reply)
}

func (b *batch) done() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.open--; b.open == 0 && len(b.replies) > 0 {
		b.out.send(sequence(nil, b.replies))
	}
}

const (
	lineLimit = 64 << 20
	// After a line this long the memory goes back, so that a few large messages do not look like a leak.
	largeLine = 1 << 20
)

var errTooLong = errors.New("line too long")

// lines reads lines of any length up to lineLimit. What follows the last newline counts as a line.
type lines struct {
	in  *bufio.Reader
	buf []byte
}

// next returns the next line without its newline, valid until the following call. Of a line that is too long it
// reads and drops the rest, and returns errTooLong.
func (l *lines) next() ([]byte, error) {
	if cap(l.buf) > largeLine {
		l.buf = nil
		debug.FreeOSMemory()
	}
	l.buf = l.buf[:0]
	tooLong := false
	for {
		part, err := l.in.ReadSlice('\n')
		if !tooLong {
			l.buf = append(l.buf, part...)
		}
		if len(l.buf) > lineLimit {
			tooLong, l.buf = true, nil
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err != nil && (len(l.buf) == 0 || !errors.Is(err, io.EOF)):
			return nil, err
		case tooLong:
			return nil, errTooLong
		}
		if n := len(l.buf); n > 0 && l.buf[n-1] == '\n' {
			return l.buf[:n-1], nil
		}
		return l.buf, nil
	}
}

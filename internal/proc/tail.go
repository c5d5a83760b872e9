package proc

import (
	"errors"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
)

// TailSize is the number of bytes of standard error that are kept, the last ones.
const TailSize = 64 << 10

// tail reads a pipe to its end and keeps the last bytes.
type tail struct {
	conn    syscall.RawConn
	written atomic.Int64

	mu    sync.Mutex // held while the pipe is read, so that its holder sees all bytes that were taken out of the pipe
	ring  []byte
	chunk []byte
}

func newTail(f *os.File) (*tail, error) {
	conn, err := f.SyscallConn()
	if err != nil {
		return nil, err
	}
	return &tail{conn: conn, chunk: make([]byte, 16<<10)}, nil
}

// drain reads until the pipe is closed at either end.
func (t *tail) drain() {
	t.conn.Read(func(fd uintptr) bool {
		for {
			more, open := t.read(fd)
			if !open || !more {
				return !open
			}
		}
	})
}

// pollReads limits the reads of one poll, for programs that never stop writing.
const pollReads = 2 * TailSize / (16 << 10)

// poll reads the bytes that are in the pipe now.
func (t *tail) poll() {
	t.conn.Control(func(fd uintptr) {
		for range pollReads {
			if more, open := t.read(fd); !more || !open {
				return
			}
		}
	})
}

// read reads one chunk from the pipe without blocking. more reports that there may be another chunk.
func (t *tail) read(fd uintptr) (more, open bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n, err := syscall.Read(int(fd), t.chunk)
	switch {
	case n > 0:
		t.keep(t.chunk[:n])
		return true, true
	case errors.Is(err, syscall.EINTR):
		return true, true
	case errors.Is(err, syscall.EAGAIN):
		return false, true
	}
	return false, false
}

// keep appends to the ring, which holds byte i of the output at index i modulo TailSize.
func (t *tail) keep(b []byte) {
	if t.ring == nil {
		t.ring = make([]byte, TailSize)
	}
	at := t.written.Load()
	for len(b) > 0 {
		n := copy(t.ring[at%TailSize:], b)
		b = b[n:]
		at += int64(n)
	}
	t.written.Store(at)
}

func (t *tail) since(from int64) ([]byte, int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := t.written.Load()
	if from = max(from, end-TailSize); from >= end {
		return nil, end
	}
	out := make([]byte, 0, end-from)
	for from < end {
		at := from % TailSize
		part := t.ring[at:min(TailSize, at+end-from)]
		out = append(out, part...)
		from += int64(len(part))
	}
	return out, end
}

package link

import (
	"encoding/binary"
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"

	"github.com/teaselfuzz/teasel/gofunc/agent"
)

// Page is memory that a child shares with its parent: the input that it runs, so that the parent has it when the child
// dies of it. Writing it costs the child no system call.
type Page struct {
	mem  []byte
	head *head
}

// head is how a page begins. Each field has one writer, the child.
type head struct {
	phase  atomic.Uint64 // odd: an execution is going on; it grows by one at its begin and at its end
	length atomic.Uint64 // of the packed input
	draws  atomic.Uint64 // executions of the worker in this process
	done   atomic.Uint64 // 1: the worker has come to its end
	failed atomic.Uint64 // bytes that are used for failures
	skips  atomic.Uint64 // executions that the test has skipped
}

const (
	// PageSize is that of the whole memory: half of it bounds the input that is recorded, half the inputs that have failed.
	PageSize = 2 << 20
	half     = PageSize / 2
	headSize = 64
	tooLarge = ^uint64(0)
)

// Map makes a file of shared memory accessible.
func Map(f *os.File) (*Page, error) {
	mem, err := syscall.Mmap(int(f.Fd()), 0, PageSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	if err != nil {
		return nil, fmt.Errorf("mapping shared memory: %w", err)
	}
	return &Page{mem, (*head)(unsafe.Pointer(&mem[0]))}, nil
}

// Close ends the access.
func (p *Page) Close() error { return syscall.Munmap(p.mem) }

// Room returns where the packed input is appended to.
func (p *Page) Room() []byte { return p.mem[headSize:headSize:half] }

// Begin says that the input in packed, which was appended to Room, begins to run.
func (p *Page) Begin(packed []byte) {
	n := uint64(len(packed))
	if n > half-headSize { // append has gone elsewhere
		n = tooLarge
	}
	p.head.length.Store(n)
	p.head.draws.Add(1)
	p.head.phase.Add(1)
}

// End says that the input has run.
func (p *Page) End() { p.head.phase.Add(1) }

// Finish says that the child has done its work.
func (p *Page) Finish() { p.head.done.Store(1) }

// Finished reports whether the child has said so.
func (p *Page) Finished() bool { return p.head.done.Load() == 1 }

// Draws returns how many executions there were.
func (p *Page) Draws() uint64 { return p.head.draws.Load() }

// Skip says that the test has skipped the input that runs.
func (p *Page) Skip() { p.head.skips.Add(1) }

// Tested returns how many executions the test has not skipped. Tests that import an older version of package gofunc do not say what they skip.
func (p *Page) Tested() uint64 { return p.head.draws.Load() - p.head.skips.Load() }

// Phase returns a number that changes with every execution that begins or ends, and whether one is going on.
func (p *Page) Phase() (n uint64, running bool) {
	n = p.head.phase.Load()
	return n, n%2 == 1
}

// Current returns a copy of the packed input that is running, or was running when the child died; false: none was, or it
// was too large to be recorded.
func (p *Page) Current() ([]byte, bool) {
	n := p.head.length.Load()
	if _, running := p.Phase(); !running || n == tooLarge {
		return nil, false
	}
	return append([]byte(nil), p.mem[headSize:headSize+n]...), true
}

// Failure is an input that has failed and left the process alive.
type Failure struct {
	Packed []byte
	Text   string // what the test has said; see [agent.Shorten]
}

// failureText is how many bytes of what a test has said are recorded: what it failed with, and the innermost calls of a panic.
const failureText = 16 << 10

// Fail records an input that has failed and left the process alive. The worker confirms it later, if the process lives to
// see that.
func (p *Page) Fail(packed []byte, text string) {
	used := p.head.failed.Load()
	room := p.mem[half+used:]
	text = agent.Shorten(text, failureText)
	if 16+len(packed)+len(text) > len(room) {
		return
	}
	binary.NativeEndian.PutUint64(room, uint64(len(packed)))
	binary.NativeEndian.PutUint64(room[8:], uint64(len(text)))
	copy(room[16:], packed)
	copy(room[16+len(packed):], text)
	p.head.failed.Store(used + 16 + uint64(len(packed)+len(text)))
}

// Failures returns copies of what has failed.
func (p *Page) Failures() (out []Failure) {
	area := p.mem[half : half+p.head.failed.Load()]
	for len(area) >= 16 {
		n, m := binary.NativeEndian.Uint64(area), binary.NativeEndian.Uint64(area[8:])
		if area = area[16:]; n > uint64(len(area)) || m > uint64(len(area))-n {
			break
		}
		out = append(out, Failure{append([]byte(nil), area[:n]...), string(area[n : n+m])})
		area = area[n+m:]
	}
	return out
}

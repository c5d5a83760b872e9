package link

import (
	"fmt"
	"os"
	"sync/atomic"
	"syscall"
	"unsafe"
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
}

const (
	// PageSize bounds the inputs that are recorded.
	PageSize = 1 << 20
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
func (p *Page) Room() []byte { return p.mem[headSize:headSize:PageSize] }

// Begin says that the input in packed, which was appended to Room, begins to run.
func (p *Page) Begin(packed []byte) {
	n := uint64(len(packed))
	if n > PageSize-headSize { // append has gone elsewhere
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

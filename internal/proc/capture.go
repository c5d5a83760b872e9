package proc

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// CaptureSize is how many bytes of what a run writes are kept, the last ones.
	CaptureSize = 64 << 10
	captureMost = 16 << 20 // that the file may take before Trim gives memory back
)

// Capture takes what programs write to a descriptor. It is a file without a name: a write never fails and never waits for
// somebody to read, however much is written, and looking at it costs no system call where nothing was written. Trim has to
// be called now and then while a program runs. One goroutine at a time uses the other methods.
type Capture struct {
	file   *os.File
	fd     int
	start  []byte // the first bytes of the file
	last   []byte // the last ones, if more was written
	silent int    // calls of RewindText since the last rewind
}

// NewCapture returns an empty capture. The name is for the error.
func NewCapture(name string) (*Capture, error) {
	fd, err := unix.MemfdCreate("teasel-"+name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("making a file for %s: %w", name, err)
	}
	c := &Capture{file: os.NewFile(uintptr(fd), name), fd: fd}
	if err = c.file.Truncate(CaptureSize); err == nil { // to write beyond makes it longer
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK) // or a program could take the mapping away
	}
	if err == nil {
		c.start, err = syscall.Mmap(fd, 0, CaptureSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	if err != nil {
		c.file.Close()
		return nil, fmt.Errorf("making a file for %s: %w", name, err)
	}
	return c, nil
}

// File returns the file that programs are to write to.
func (c *Capture) File() *os.File { return c.file }

// Rewind forgets what was written.
func (c *Capture) Rewind() {
	syscall.Seek(c.fd, 0, io.SeekStart)
	c.start[0] = 0
}

// rewindAfter is how many runs may pass that have written nothing, or text that begins with a NUL.
const rewindAfter = 64

// RewindText is Rewind where a system call would show in the time of a run: it makes none where nothing was written. Text
// that begins with a NUL, as little does, is forgotten after a while.
func (c *Capture) RewindText() {
	if c.silent++; c.start[0] == 0 && c.silent < rewindAfter {
		return
	}
	c.silent = 0
	c.Rewind()
}

// Bytes returns what was written since the last rewind, at most the last CaptureSize of it. It is valid until then.
func (c *Capture) Bytes() []byte {
	end, err := syscall.Seek(c.fd, 0, io.SeekCurrent) // which the program may have set to anything
	if err != nil || end <= 0 {
		return nil
	}
	if end <= CaptureSize {
		return c.start[:end]
	}
	if c.last == nil {
		c.last = make([]byte, CaptureSize)
	}
	n, _ := c.file.ReadAt(c.last, end-CaptureSize)
	return c.last[:n]
}

// Trim gives back the memory of what is no longer kept, if that is much. It may be called from another goroutine than the
// rest.
func (c *Capture) Trim() {
	var st unix.Stat_t
	if unix.Fstat(c.fd, &st) != nil || st.Blocks*512 < captureMost {
		return
	}
	end, err := syscall.Seek(c.fd, 0, io.SeekCurrent)
	if err != nil {
		return
	}
	keep := max(end-CaptureSize, CaptureSize) // the start is mapped
	const holes = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if keep > CaptureSize {
		unix.Fallocate(c.fd, holes, CaptureSize, keep-CaptureSize)
	}
	if end < st.Size && st.Size > keep { // beyond the end, of an earlier run
		from := max(end, CaptureSize)
		unix.Fallocate(c.fd, holes, from, st.Size-from)
	}
}

// Close gives the file back. A nil capture is closed already.
func (c *Capture) Close() error {
	if c == nil {
		return nil
	}
	syscall.Munmap(c.start)
	return c.file.Close()
}

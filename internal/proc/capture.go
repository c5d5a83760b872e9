package proc

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

const (
	// captureSize is the number of bytes kept of a run's output, the last ones.
	captureSize    = 64 << 10
	maxCaptureFile = 16 << 20 // bytes that the file may occupy before Trim gives memory back
)

// Capture captures the output that programs write to a descriptor. It is a memory file without a name: a write neither fails
// nor blocks, however much is written, and where nothing was written RewindText needs no system call. Trim must be called
// periodically while a program runs and may be called concurrently; the other methods are for one goroutine at a time.
type Capture struct {
	file    *os.File
	fd      int
	start   []byte // the first bytes of the file
	last    []byte // the last bytes, if the output is longer than start
	skipped int    // calls of RewindText since the last rewind
}

// NewCapture returns an empty capture. The name appears in /proc and in errors.
func NewCapture(name string) (*Capture, error) {
	fd, err := unix.MemfdCreate("teasel-"+name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("making a file for %s: %w", name, err)
	}
	c := &Capture{file: os.NewFile(uintptr(fd), name), fd: fd}
	if err = c.file.Truncate(captureSize); err == nil { // writing beyond that makes the file longer
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_SHRINK) // or a program could shrink the file under the mapping
	}
	if err == nil {
		c.start, err = syscall.Mmap(fd, 0, captureSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	if err != nil {
		c.file.Close()
		return nil, fmt.Errorf("making a file for %s: %w", name, err)
	}
	return c, nil
}

// File returns the file that programs are to write to.
func (c *Capture) File() *os.File { return c.file }

// Rewind discards the output captured so far.
func (c *Capture) Rewind() {
	syscall.Seek(c.fd, 0, io.SeekStart)
	c.start[0] = 0
}

// rewindAfter is the number of consecutive runs whose output is empty, or begins with a NUL, after which RewindText rewinds.
const rewindAfter = 64

// RewindText is Rewind for a hot path: it makes no system call if nothing was written. It detects output by its first byte,
// so that output which begins with a NUL, which is rare, is discarded only after rewindAfter runs.
func (c *Capture) RewindText() {
	if c.skipped++; c.start[0] == 0 && c.skipped < rewindAfter {
		return
	}
	c.skipped = 0
	c.Rewind()
}

// Bytes returns the output since the last rewind, at most its last 64 KiB. The slice is valid until the next rewind.
func (c *Capture) Bytes() []byte {
	end, err := syscall.Seek(c.fd, 0, io.SeekCurrent) // the program shares the offset and may have set it to anything
	if err != nil || end <= 0 {
		return nil
	}
	if end <= captureSize {
		return c.start[:end]
	}
	if c.last == nil {
		c.last = make([]byte, captureSize)
	}
	n, _ := c.file.ReadAt(c.last, end-captureSize)
	return c.last[:n]
}

// Trim gives back the memory of output that is no longer kept, if the file occupies more than 16 MiB. It may be called
// concurrently with the other methods.
func (c *Capture) Trim() {
	var st unix.Stat_t
	if unix.Fstat(c.fd, &st) != nil || st.Blocks*512 < maxCaptureFile {
		return
	}
	end, err := syscall.Seek(c.fd, 0, io.SeekCurrent)
	if err != nil {
		return
	}
	keep := max(end-captureSize, captureSize) // the start is mapped
	const holes = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if keep > captureSize {
		unix.Fallocate(c.fd, holes, captureSize, keep-captureSize)
	}
	if end < st.Size && st.Size > keep { // output of an earlier run beyond the end
		from := max(end, captureSize)
		unix.Fallocate(c.fd, holes, from, st.Size-from)
	}
}

// Close releases the file and its memory. Closing a nil capture does nothing.
func (c *Capture) Close() error {
	if c == nil {
		return nil
	}
	syscall.Munmap(c.start)
	return c.file.Close()
}

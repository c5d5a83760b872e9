package forkserver

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// inputFile is where a program finds its input: one file that stays open, so that a run costs no open and close, and is
// made anew if the program has removed or renamed it.
type inputFile struct {
	path string // "": it has no name, for standard input
	file *os.File
	fd   int
	node uint64
	size int
}

func newInputFile(path string) (*inputFile, error) {
	f := &inputFile{path: path}
	if path != "" {
		return f, f.create()
	}
	fd, err := unix.MemfdCreate("teasel-input", unix.MFD_CLOEXEC)
	if err != nil {
		return nil, fmt.Errorf("making a file for the input: %w", err)
	}
	f.file, f.fd = os.NewFile(uintptr(fd), "input"), fd
	return f, nil
}

func (f *inputFile) create() error {
	closeFiles(f.file)
	file, err := os.OpenFile(f.path, os.O_RDWR|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		f.file = nil
		return fmt.Errorf("making a file for the input: %w", err)
	}
	f.file, f.fd, f.size = file, int(file.Fd()), 0
	var st syscall.Stat_t
	if err := syscall.Fstat(f.fd, &st); err != nil {
		return fmt.Errorf("making a file for the input: %w", err)
	}
	f.node = st.Ino
	return nil
}

func (f *inputFile) write(in []byte) error {
	if f.path != "" {
		var st syscall.Stat_t
		if err := syscall.Lstat(f.path, &st); err != nil || st.Ino != f.node {
			os.RemoveAll(f.path) // it may be anything by now
			if err := f.create(); err != nil {
				return err
			}
		} else {
			f.size = int(st.Size) // which the program may have changed
		}
	}
	for done := 0; done < len(in); {
		n, err := syscall.Pwrite(f.fd, in[done:], int64(done))
		if err != nil && err != syscall.EINTR {
			return fmt.Errorf("writing the input: %w", err)
		}
		done += max(n, 0)
	}
	if len(in) < f.size || f.path == "" { // standard input may be written to by who reads it
		if err := syscall.Ftruncate(f.fd, int64(len(in))); err != nil {
			return fmt.Errorf("writing the input: %w", err)
		}
	}
	f.size = len(in)
	if f.path != "" {
		return nil
	}
	_, err := syscall.Seek(f.fd, 0, io.SeekStart)
	return err
}

func (f *inputFile) close() error {
	if f == nil || f.file == nil {
		return nil
	}
	return f.file.Close()
}

// outputRoom is how many bytes of what a run writes are kept; more is refused to it.
const outputRoom = 64 << 10

// outputFile takes what a program writes. It is a file without a name that keeps its size, so that a program which writes
// for ever gets an error and fills nothing. It is mapped, so that it costs no system call to see that nothing was written.
type outputFile struct {
	file   *os.File
	bytes  []byte
	silent int // runs since the last rewind
}

func newOutputFile(name string) (*outputFile, error) {
	fd, err := unix.MemfdCreate("teasel-"+name, unix.MFD_CLOEXEC|unix.MFD_ALLOW_SEALING)
	if err != nil {
		return nil, fmt.Errorf("making a file for %s: %w", name, err)
	}
	f := &outputFile{file: os.NewFile(uintptr(fd), name)}
	if err = f.file.Truncate(outputRoom); err == nil {
		_, err = unix.FcntlInt(uintptr(fd), unix.F_ADD_SEALS, unix.F_SEAL_GROW|unix.F_SEAL_SHRINK)
	}
	if err == nil {
		f.bytes, err = syscall.Mmap(fd, 0, outputRoom, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_SHARED)
	}
	if err != nil {
		f.file.Close()
		return nil, fmt.Errorf("making a file for %s: %w", name, err)
	}
	return f, nil
}

// rewind forgets what was written.
func (f *outputFile) rewind() {
	syscall.Seek(int(f.file.Fd()), 0, io.SeekStart)
	f.bytes[0] = 0
}

// rewindAfter is how many runs may pass that have written nothing but what begins with a NUL.
const rewindAfter = 64

// rewindText is rewind where a system call would tell in a run's time. What begins with no NUL is forgotten at once; what does,
// as few texts do, after a while, so that the file does not fill up.
func (f *outputFile) rewindText() {
	if f.silent++; f.bytes[0] == 0 && f.silent < rewindAfter {
		return
	}
	f.silent = 0
	f.rewind()
}

// written returns what was written since the last rewind. It is lent until then.
func (f *outputFile) written() []byte {
	end, err := syscall.Seek(int(f.file.Fd()), 0, io.SeekCurrent)
	if err != nil {
		return nil
	}
	return f.bytes[:min(max(end, 0), outputRoom)]
}

func (f *outputFile) close() error {
	if f == nil {
		return nil
	}
	syscall.Munmap(f.bytes)
	return f.file.Close()
}

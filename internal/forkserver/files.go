package forkserver

import (
	"fmt"
	"io"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// inputFile is the file from which a program reads its input. It stays open, so that a run costs no open and close, and is
// created again if the program has removed or renamed it.
type inputFile struct {
	path string // "": a file without a name, for standard input
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
			os.RemoveAll(f.path) // the program may have put anything there
			if err := f.create(); err != nil {
				return err
			}
		} else {
			f.size = int(st.Size) // the program may have changed the size
		}
	}
	for done := 0; done < len(in); {
		n, err := syscall.Pwrite(f.fd, in[done:], int64(done))
		if err != nil && err != syscall.EINTR {
			return fmt.Errorf("writing the input: %w", err)
		}
		done += max(n, 0)
	}
	if len(in) < f.size || f.path == "" { // a program may write to its standard input
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

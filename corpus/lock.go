package corpus

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// ErrLocked is what [Create] and [Open] return, wrapped, when another process writes to the directory.
var ErrLocked = errors.New("in use by another process")

// acquire locks a campaign's directory for this process. The lock is the kernel's and goes with the process, however
// that ends, so that a lock file of a dead process means nothing and is taken over. The number in it is for people.
func acquire(dir string) (*os.File, error) {
	path := filepath.Join(dir, lockName)
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o644)
	if err != nil {
		return nil, fmt.Errorf("locking: %w", err)
	}
	if err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		holder := holder(f)
		f.Close()
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: %w%s", dir, ErrLocked, holder)
		}
		return nil, fmt.Errorf("locking %s: %w", path, err)
	}
	err = f.Truncate(0)
	if err == nil {
		_, err = f.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("locking: %w", err)
	}
	return f, nil
}

// holder names the process that wrote a lock file, as far as it can be read.
func holder(f *os.File) string {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	pid := strings.TrimSpace(string(text))
	if _, perr := strconv.Atoi(pid); err != nil || perr != nil {
		return ""
	}
	return " (pid " + pid + ")"
}

// release gives the lock up. The file stays: removing it would let two processes hold locks on two files of one name.
func release(f *os.File) error {
	return errors.Join(f.Truncate(0), f.Close())
}

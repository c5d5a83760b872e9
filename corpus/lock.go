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
	"time"
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
	if err := lock(f); err != nil {
		pid := holder(f)
		f.Close()
		switch {
		case !errors.Is(err, syscall.EWOULDBLOCK):
			return nil, fmt.Errorf("locking %s: %w", path, err)
		case pid > 0:
			return nil, fmt.Errorf("%s: %w (pid %d)", dir, ErrLocked, pid)
		}
		return nil, fmt.Errorf("%s: %w", dir, ErrLocked)
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

// How long a lock is waited for whose holder is gone, and how often it is tried.
const (
	orphanedTime = 2 * time.Second
	lockPause    = 10 * time.Millisecond
)

// lock locks a file. A process that is killed while it starts another one leaves the lock to that one, until it has become
// the program that it is to be: that is soon.
func lock(f *os.File) error {
	deadline := time.Now().Add(orphanedTime)
	for {
		err := syscall.Flock(int(f.Fd()), syscall.LOCK_EX|syscall.LOCK_NB)
		if !errors.Is(err, syscall.EWOULDBLOCK) || alive(holder(f)) || time.Now().After(deadline) {
			return err
		}
		time.Sleep(lockPause)
	}
}

// Held reports whether a process writes to the campaign in a directory just now.
func Held(dir string) bool {
	f, err := os.Open(filepath.Join(dir, lockName))
	if err != nil {
		return false
	}
	defer f.Close()
	if pid := holder(f); pid == 0 || !alive(pid) {
		return false
	}
	// The number may be another process's by now. Where nobody holds the lock, this is over before anybody could want it.
	return errors.Is(syscall.Flock(int(f.Fd()), syscall.LOCK_SH|syscall.LOCK_NB), syscall.EWOULDBLOCK)
}

// holder returns the process that wrote a lock file; 0: it cannot be read.
func holder(f *os.File) int {
	text, err := io.ReadAll(io.NewSectionReader(f, 0, 32))
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil || pid < 0 {
		return 0
	}
	return pid
}

// alive reports whether there may be such a process; of 0 nothing is known.
func alive(pid int) bool {
	if pid == 0 {
		return true
	}
	err := syscall.Kill(pid, 0)
	return err == nil || errors.Is(err, syscall.EPERM)
}

// release gives the lock up. The file stays: removing it would let two processes hold locks on two files of one name.
func release(f *os.File) error {
	return errors.Join(f.Truncate(0), f.Close())
}

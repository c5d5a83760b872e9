package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// CheckCreate returns the error that [Create] would return for path, as far as that can be found out without writing anything. It
// wraps [ErrLocked] where a campaign is running, [ErrForeign] where other files are, or the operating system's error. A finished
// campaign in path is no error: it can be renamed.
func CheckCreate(path string) error {
	err := checkForeign(path)
	switch {
	case Held(path):
		err = ErrLocked
	case err == nil:
		err = Writable(path)
	}
	if err != nil {
		return fmt.Errorf("creating %s: %w", path, err)
	}
	return nil
}

// Writable returns an error if a directory, or the nearest one above it that exists, cannot be written.
func Writable(path string) error {
	const write = 2
	for at := filepath.Clean(path); ; at = filepath.Dir(at) {
		if _, err := os.Stat(at); errors.Is(err, fs.ErrNotExist) && at != filepath.Dir(at) {
			continue
		}
		if err := syscall.Access(at, write); err != nil {
			return fmt.Errorf("writing into %s: %w", at, err)
		}
		return nil
	}
}

package corpus

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
)

// Room returns why [Create] would fail for path, as far as that can be found out without writing anything: the error wraps
// [ErrLocked] where one is running, [ErrForeign] where other files are, or the operating system's error. After nil
// [Create] most likely succeeds, once a finished campaign in path has been moved away.
func Room(path string) error {
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

// Writable returns why a directory, or the nearest one above it that is there, cannot be written; nil: it can.
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

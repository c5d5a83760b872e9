package exit

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"syscall"
	"testing"
)

// A full disk, or one that may not be written to, is not reported as a fault of teasel.
func TestFailureOfTheDisk(t *testing.T) {
	for cause, want := range map[error]string{syscall.ENOSPC: "--out", syscall.EDQUOT: "--out", syscall.EACCES: "XDG_CACHE_HOME", syscall.EROFS: "XDG_CACHE_HOME", syscall.EBADF: "please report it"} {
		var e *Error
		if err := Failure(fmt.Errorf("writing: %w", cause)); !errors.As(err, &e) || e.Status != StatusFailure || !strings.Contains(e.Hint, want) {
			t.Errorf("%v: hint %+v, want %q", cause, e, want)
		}
	}
}

// Nor is a working directory that does not exist any more.
func TestFailureWithoutWorkingDirectory(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.Remove(dir); err != nil {
		t.Fatal(err)
	}
	_, err := os.Getwd()
	if err == nil {
		t.Skip("skipped: the system still knows the name of a directory that was removed")
	}
	var e *Error
	if err := Failure(err); !errors.As(err, &e) || e.Status != StatusUsage || !strings.Contains(e.Hint, "change to one that does") {
		t.Errorf("hint %+v", e)
	}
}

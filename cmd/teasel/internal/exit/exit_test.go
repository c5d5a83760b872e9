package exit

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// A full disk is not reported as a fault of teasel.
func TestFailureFullDisk(t *testing.T) {
	for cause, want := range map[error]string{syscall.ENOSPC: "--out", syscall.EDQUOT: "--out", syscall.EBADF: "please report it"} {
		var e *Error
		if err := Failure(fmt.Errorf("writing: %w", cause)); !errors.As(err, &e) || e.Status != StatusFailure || !strings.Contains(e.Hint, want) {
			t.Errorf("%v: hint %+v, want %q", cause, e, want)
		}
	}
}

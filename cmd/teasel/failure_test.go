package main

import (
	"errors"
	"fmt"
	"strings"
	"syscall"
	"testing"
)

// A disk that is full is nothing to report.
func TestFailureWithoutRoom(t *testing.T) {
	for cause, want := range map[error]string{syscall.ENOSPC: "--out", syscall.EDQUOT: "--out", syscall.EBADF: "please report it"} {
		var e *exit
		if err := failure(fmt.Errorf("writing: %w", cause)); !errors.As(err, &e) || e.status != exitFailure || !strings.Contains(e.hint, want) {
			t.Errorf("%v: hint %+v, want %q", cause, e, want)
		}
	}
}

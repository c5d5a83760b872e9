// Package exit has the exit statuses of the command, and the errors that carry one.
package exit

import (
	"errors"
	"fmt"
	"os"
	"syscall"

	"github.com/teaselfuzz/teasel/corpus"
)

// The exit statuses. Scripts depend on them.
const (
	StatusOK          = 0
	StatusFindings    = 1 // at or above --fail-on
	StatusUsage       = 2 // usage or configuration
	StatusTarget      = 3 // the target could not be started
	StatusFailure     = 4 // a failure of ours
	StatusInterrupted = 130
	StatusUnread      = 141 // nobody reads our standard output: what a shell reports of a program that SIGPIPE has ended
)

// Error is an error with the exit status that the command ends with.
type Error struct {
	Status int
	Err    error  // nil: there is nothing more to print
	Hint   string // what the user can do; "": nothing comes to mind
}

// Error returns the text of Err; without it, the exit status.
func (e *Error) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Status)
	}
	return e.Err.Error()
}

// Unwrap returns Err.
func (e *Error) Unwrap() error { return e.Err }

// Usage returns an error for a mistake of the user's. The hint, which may be empty, says what to do.
func Usage(hint, format string, args ...any) error {
	return &Error{Status: StatusUsage, Err: fmt.Errorf(format, args...), Hint: hint}
}

// Failure returns an error for a failure of ours. An error that has an exit status already keeps it.
func Failure(err error) error {
	var e *Error
	if err == nil || errors.As(err, &e) {
		return err
	}
	if removed, ok := errors.AsType[*corpus.RemovedError](err); ok {
		return &Error{Status: StatusUsage, Err: removed, Hint: "a campaign needs its directory until it ends: stop it first, or name another one with --out"}
	}
	if errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT) {
		return &Error{Status: StatusFailure, Err: err, Hint: "there is no room: free some, or name another folder with --out, and with TMPDIR for temporary files"}
	}
	if errors.Is(err, os.ErrPermission) || errors.Is(err, syscall.EROFS) {
		return &Error{Status: StatusFailure, Err: err, Hint: "teasel may not write there, or not read: name other folders with --out, with XDG_CACHE_HOME for its cache, and with TMPDIR for temporary files"}
	}
	if _, gone := os.Getwd(); gone != nil {
		return &Error{Status: StatusUsage, Err: err, Hint: "the working directory does not exist any more: change to one that does"}
	}
	return &Error{Status: StatusFailure, Err: err, Hint: "this is a fault of teasel or of the machine, not of the target; please report it with the command that you typed"}
}

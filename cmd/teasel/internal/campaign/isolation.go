package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/internal/isolation"
)

// scratch is the folder of the homes of all programs that one run of the command starts. It is made when the first is to be started.
type scratch struct {
	began  string            // the working directory when the run began; "": unknown
	folder *isolation.Folder // nil: none was needed yet
}

type scratchKey struct{}

// WithScratch returns a context for a run of the command, in which [Isolate] makes the folder of the programs under test, and what
// removes that in the end.
func WithScratch(ctx context.Context) (context.Context, func() error) {
	s := new(scratch)
	s.began, _ = os.Getwd()
	return context.WithValue(ctx, scratchKey{}, s), func() error {
		if s.folder == nil {
			return nil
		}
		return s.folder.Close()
	}
}

// SandboxOf returns the sandbox around the programs that a command starts; nil: there is none. scratch is the folder of their homes, see
// [Isolate].
func SandboxOf(i *flags.Isolation, scratch string, command []string, dir string) *isolation.Sandbox {
	return isolation.NewSandbox(i.Sandbox, i.Allowed, command, dir, scratch)
}

// Isolate makes ready what a target needs to be kept apart, and returns the folder in which programs have their homes; "": they have ours.
// With --sandbox this program is run again in a user namespace, after leave was called, which may be nil: the error is then that run's
// exit status. limit is how much programs may write; 0: there is no limit.
func Isolate(ctx context.Context, i *flags.Isolation, limit flags.Size, stderr io.Writer, leave func() error) (string, error) {
	if i.KeepHome {
		return "", nil
	}
	s, ok := ctx.Value(scratchKey{}).(*scratch)
	if !ok {
		return "", exit.Failure(errors.New("making a folder for the homes of programs: there is no run of the command"))
	}
	if i.Sandbox {
		if err := enter(s.began, leave); err != nil {
			return "", err
		}
	}
	if s.folder != nil {
		return s.folder.Path(), nil
	}
	folder, err := isolation.Open(os.TempDir())
	if err != nil {
		return "", &exit.Error{Status: exit.StatusFailure, Err: err, Hint: "set TMPDIR to a folder that exists, may be written to and has room"}
	}
	s.folder = folder
	if limit > 0 {
		folder.Watch(int64(limit), func(text string) { fmt.Fprintf(stderr, "teasel: warning: %s\n", text) })
	}
	if i.Sandbox { // try one now, so that a refusal is reported as ours and not as the target's
		r, err := isolation.Make(isolation.Config{Scratch: folder.Path(), Sandbox: &isolation.Sandbox{}})
		if err != nil {
			return "", refused(err)
		}
		return folder.Path(), exit.Failure(r.Close())
	}
	return folder.Path(), nil
}

// enter goes on if we are where sandboxes can be made. Otherwise another process does, with the same arguments in the directory that they
// were given in, and the error is its exit status.
func enter(dir string, leave func() error) error {
	if isolation.Entered() {
		return nil
	}
	if leave != nil {
		if err := leave(); err != nil {
			return exit.Failure(err)
		}
	}
	status, err := isolation.Enter(dir)
	if err != nil {
		return refused(err)
	}
	return &exit.Error{Status: status}
}

// refused returns the error of a sandbox that cannot be made: nothing runs without the one that was asked for.
func refused(err error) error {
	var r *isolation.RefusedError
	if !errors.As(err, &r) {
		return exit.Failure(err)
	}
	return &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("--sandbox: %w", err), Hint: r.Hint()}
}

// Package replay runs the input of a finding again, to show the finding or to make the input simpler.
package replay

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/progress"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Runner runs single inputs of one kind of target.
type Runner[T any] struct {
	Target    teasel.Target[T]
	Codec     teasel.Codec[T]
	Mutator   teasel.Mutator[T]
	Detectors []teasel.Detector
	Stderr    io.Writer // of the progress of Repro; nil: it is not shown
	Single    bool      // an input shows one finding at most, so that another finding means that the input still fails
}

// Open decodes the input of a finding, which errors call what, and starts the target.
func (r *Runner[T]) Open(ctx context.Context, f *corpus.FindingFile, what string) (in T, ex teasel.Executor[T], err error) {
	if in, err = r.Codec.Decode(f.Finding.Input); err != nil {
		return in, nil, exit.Usage("", "reading %s: %w", what, err)
	}
	if ex, err = r.Target.Open(ctx, teasel.Role{}); err != nil {
		return in, nil, exit.InterruptedOr(ctx, err)
	}
	return in, ex, nil
}

// Repro runs the input of a finding until it shows the finding, tries times at most, and ends with the status of what was shown. A
// finding that is flaky is tried ten times as often, or so often that one which is reproduced as seldom as before is missed in one of 150 cases.
func (r *Runner[T]) Repro(ctx context.Context, w io.Writer, f *corpus.FindingFile, tries int) (err error) {
	if !f.Finding.Confirmed() {
		tries *= 10
		if f.Finding.Stable > 0 {
			tries = max(tries, 5*f.Finding.Tries/f.Finding.Stable)
		}
	}
	line := r.progress(tries)
	line.Show(0, "")
	defer line.Clear()
	in, ex, err := r.Open(ctx, f, "the finding's input")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	line.Clear()
	fmt.Fprintln(w, Heading(&f.Finding))
	var others []string
	for i := range tries {
		line.Show(i, "")
		fs, _, err := teasel.Replay(ctx, ex, r.Detectors, in)
		if err != nil {
			return exit.InterruptedOr(ctx, err)
		}
		for j := range fs {
			if f.Finding.Matches(&fs[j]) {
				line.Clear()
				return Shown(w, &fs[j], i+1, tries)
			}
			others = append(others, fmt.Sprintf("%s  %s: %s", fs[j].Rule, fs[j].Subject, fs[j].Message))
		}
	}
	line.Show(tries, "behind what the target had run before")
	if shown, err := r.reproAfter(ctx, w, ex, f, line); shown || err != nil {
		return err
	}
	line.Clear()
	fmt.Fprintf(w, "not reproduced in %s\n", Tries(tries))
	if len(others) > 0 {
		fmt.Fprintf(w, "but something else was: %s\n", plain.Line(others[0]))
		if r.Single {
			return &exit.Error{Status: exit.StatusFindings}
		}
	}
	return nil
}

// historyLengths are with how many of the inputs that the target had run the last of them is tried: few first, since the cause mostly ran
// shortly before.
var historyLengths = [...]int{4, 13, 129, math.MaxInt}

// reproAfter runs the input of an unconfirmed finding behind more and more of what the target had run before. It reports whether that has shown
// the finding, with the error for that.
func (r *Runner[T]) reproAfter(ctx context.Context, w io.Writer, ex teasel.Executor[T], f *corpus.FindingFile, line *progress.Line) (bool, error) {
	join, ok := r.Mutator.(teasel.Joiner[T])
	var ran []T
	for i, data := range f.Finding.History {
		in, err := r.Codec.Decode(data)
		if err != nil {
			return false, exit.Usage("", "reading input %d of the finding's history: %w", i+1, err)
		}
		ran = append(ran, in)
	}
	used := 1
	for _, most := range historyLengths {
		n := min(most, len(ran))
		if !ok || n <= used {
			continue
		}
		used = n
		fs, _, err := teasel.Replay(ctx, ex, r.Detectors, join.Join(ran[len(ran)-n:]))
		if err != nil {
			return false, exit.InterruptedOr(ctx, err)
		}
		for i := range fs {
			if f.Finding.Matches(&fs[i]) {
				line.Clear()
				fmt.Fprintf(w, "not by itself, but behind %s that the target had run before\n", noun.Count(n-1, "input", "inputs"))
				return true, Shown(w, &fs[i], 1, 1)
			}
		}
	}
	return false, nil
}

// progress returns the progress of so many tries; nil: it is not shown.
func (r *Runner[T]) progress(tries int) *progress.Line {
	if r.Stderr == nil {
		return nil
	}
	return progress.New(r.Stderr, "tries", tries)
}

// Heading is a finding in one line.
func Heading(f *teasel.Finding) string {
	return fmt.Sprintf("%s  %s  %s", f.Severity, plain.Line(f.Rule), plain.Line(f.Subject))
}

// Shown prints that a try has shown a finding, and returns the error with the exit status for that.
func Shown(w io.Writer, f *teasel.Finding, try, tries int) error {
	fmt.Fprintf(w, "reproduced at try %d of %d: %s\n", try, tries, plain.Line(f.Message))
	if f.Detail != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(plain.Text(f.Detail), "\n"))
	}
	return &exit.Error{Status: exit.StatusFindings}
}

// Tries writes a number of tries.
func Tries(n int) string {
	if n == 1 {
		return "1 try"
	}
	return fmt.Sprintf("%d tries", n)
}

package replay

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/progress"
	"github.com/teaselfuzz/teasel/corpus"
)

// NotShown returns the error for a finding that cannot be minimised since its input does not show it.
func NotShown() error {
	return exit.Usage("'teasel repro' tries several times; only what is reproduced every time can be minimised", "the finding was not reproduced")
}

// Minimize makes the input of a finding simpler as long as it shows the same finding, with so many runs at most. It reports whether it
// has changed the input.
func (r *Runner[T]) Minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (changed bool, err error) {
	line := Progress(w, runs)
	line.Show(0, "")
	defer line.Clear()
	in, ex, err := r.Open(ctx, f, "the finding's input")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	id, left := f.Finding.ID(), runs
	simplest := r.Mutator.Complexity(in)
	var small teasel.Finding // as the simplest input shows it
	show := func(ctx context.Context, c T) (T, bool, error) {
		if left--; left < 0 {
			return c, false, nil
		}
		line.Show(runs-left-1, Simplest(simplest))
		fs, _, err := teasel.Replay(ctx, ex, r.Detectors, c)
		if err != nil {
			return c, false, err
		}
		for i := range fs {
			if first := left == runs-1; fs[i].ID() == id || first && f.Finding.Matches(&fs[i]) {
				id = fs[i].ID() // here it may have another one, if its group is uncertain
				small, simplest = fs[i], r.Mutator.Complexity(c)
				return c, true, nil
			}
		}
		return c, false, nil
	}
	if _, ok, err := show(ctx, in); err != nil || !ok {
		if err != nil {
			return false, exit.InterruptedOr(ctx, err)
		}
		return false, NotShown()
	}
	simple, err := teasel.Minimize(ctx, r.Mutator, in, show)
	if err != nil && ctx.Err() == nil {
		return false, exit.TargetFailure(err)
	}
	small.Input, small.Minimal = f.Finding.Input, err == nil && left >= 0
	if r.Mutator.Complexity(simple) < r.Mutator.Complexity(in) {
		if small.Input, err = r.Codec.Encode(simple); err != nil {
			return false, exit.Failure(err)
		}
	}
	return Adopt(&f.Finding, &small), nil
}

// Adopt gives a finding the input that minimising has come to, and what is seen with it: small is the finding as that input shows it. It
// reports whether the finding has changed. It keeps its id, and the severity that a configuration may have given it.
func Adopt(f, small *teasel.Finding) (changed bool) {
	if bytes.Equal(f.Input, small.Input) {
		changed = small.Minimal && !f.Minimal
		f.Minimal = f.Minimal || small.Minimal
		return changed
	}
	if f.Original == nil {
		f.Original = f.Input
	}
	id, subject := f.ID(), f.Subject
	if f.Subject = small.Subject; f.ID() != id {
		f.Subject = subject
	}
	f.Input, f.Message, f.Detail, f.Minimal = small.Input, small.Message, small.Detail, small.Minimal
	return true
}

// Progress returns the progress of a minimisation of so many executions at most.
func Progress(w io.Writer, runs int) *progress.Line {
	return progress.New(w, "executions at most", runs)
}

// Simplest says in a progress how complex the simplest input is by now.
func Simplest(complexity float64) string { return fmt.Sprintf("complexity %.0f", complexity) }

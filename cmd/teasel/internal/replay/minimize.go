package replay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/monitor"
)

// NotShown returns the error for a finding that cannot be minimised since its input does not show it.
func NotShown() error {
	return exit.Usage("'teasel repro' tries several times; only what shows every time can be minimised", "the finding was not shown")
}

// Minimize makes the input of a finding simpler as long as it shows the same finding, with so many runs at most. It reports whether it
// has changed the input.
func (r *Runner[T]) Minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (changed bool, err error) {
	in, ex, err := r.Open(ctx, f, "the finding's input")
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	id, left := f.Finding.ID(), runs
	progress := NewProgress(w, runs)
	show := func(ctx context.Context, c T) (T, bool, error) {
		if left--; left < 0 {
			return c, false, nil
		}
		fs, _, err := teasel.Replay(ctx, ex, r.Detectors, c)
		if err != nil {
			return c, false, err
		}
		for i := range fs {
			if first := left == runs-1; fs[i].ID() == id || first && f.Finding.Matches(&fs[i]) {
				id = fs[i].ID() // here it may have another one, if its group is uncertain
				progress.Show(runs-left, r.Mutator.Complexity(c))
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
	progress.End()
	if err != nil && ctx.Err() == nil {
		return false, exit.TargetFailure(err)
	}
	if r.Mutator.Complexity(simple) >= r.Mutator.Complexity(in) {
		return false, nil
	}
	f.Finding.Input, err = r.Codec.Encode(simple)
	return err == nil, exit.Failure(err)
}

// Progress shows how far a minimisation has come, in one line of a terminal. It prints nothing to other files.
type Progress struct {
	w     io.Writer
	runs  int
	begun bool
}

// NewProgress returns the progress of a minimisation of so many runs.
func NewProgress(w io.Writer, runs int) *Progress { return &Progress{w: w, runs: runs} }

// Show shows how many runs were made, and how complex the input is now.
func (p *Progress) Show(made int, complexity float64) {
	if monitor.Terminal(p.w) != nil {
		p.begun = true
		fmt.Fprintf(p.w, "\rteasel: %d of %d executions, complexity %.0f ", made, p.runs, complexity)
	}
}

// End ends the line.
func (p *Progress) End() {
	if p.begun {
		fmt.Fprintln(p.w)
	}
}

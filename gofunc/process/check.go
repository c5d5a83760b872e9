package process

import (
	"context"
	"errors"
	"slices"

	"github.com/teaselfuzz/teasel"
)

// check tries what the process has reproduced every time once more in a fresh one, as plain go test does: the process that fuzzes runs all of its
// inputs, so that what depends on what an input has left behind shows there each time. What does not recur is unconfirmed.
func (w *worker) check(ctx context.Context, n *teasel.News) (err error) {
	if !slices.ContainsFunc(n.Findings, func(f teasel.Finding) bool { return f.Confirmed() }) {
		return nil
	}
	m, err := w.reproducer(ctx, &n.Executions)
	if m == nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	var kept []teasel.Finding
	for _, f := range n.Findings {
		again := f
		if f.Confirmed() {
			f := f
			f.Stable = 0
			if again, err = w.confirm(ctx, m, input{f.Input, f.Complexity}, f); err != nil {
				return err
			}
		}
		switch {
		case again.Tries == 0 || again.Stable > 0: // there was no time to try, or it is one
			kept = append(kept, f)
		case !w.reported(f.ID()):
			f.Stable = 0
			n.Unconfirmed = append(n.Unconfirmed, f)
		}
	}
	n.Findings = kept
	return nil
}

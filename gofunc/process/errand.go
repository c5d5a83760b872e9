package process

import (
	"context"
	"errors"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/link"
)

// errandsHeld is how many errands wait beside the one that is done.
const errandsHeld = 16

// confirm takes errands until ctx ends, one at a time and beside the workers: a process that fuzzes does not run what it may die of. number is
// that of a worker which there is not.
func (c *Campaign) confirm(ctx context.Context, h *teasel.Hub, number int, errands <-chan teasel.Errand) error {
	w := &worker{t: c.Test, h: h, number: number, between: c.Exchange, deaths: map[string]int{}}
	for {
		select {
		case <-ctx.Done():
			return nil
		case e := <-errands:
			if err := w.errand(ctx, e.Finding); err != nil {
				return err
			}
		}
	}
}

// errand reproduces a finding that somebody else had no time to reproduce. What is no input of the test is unconfirmed.
func (w *worker) errand(ctx context.Context, f teasel.Finding) (err error) {
	if w.reported(f.ID()) {
		return nil
	}
	m, err := w.reproducer(ctx, &w.unreported)
	if m == nil {
		return err
	}
	defer func() { err = errors.Join(err, m.close()) }()
	a, err := m.known(link.Request{Op: link.Check, Data: f.Input})
	if err == nil && !a.OK {
		f.Tries = 0
		return w.publish(ctx, teasel.News{Unconfirmed: []teasel.Finding{f}})
	}
	if err == nil {
		a, err = m.known(link.Request{Op: link.Measure, Data: f.Input})
	}
	if err != nil {
		return err
	}
	return w.reproduce(ctx, m, input{f.Input, a.Complexity}, f)
}

package teasel

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"
)

// Confirming needs fresh targets. Where these have to be waited for, findings wait in line instead, and the campaign
// goes on meanwhile.
const (
	maxLater  = 64               // findings that wait
	laterTime = 3 * time.Second  // after which the first of them waits no longer
	laterLast = 20 * time.Second // for all that wait when the campaign has reached a limit of its own
)

// later is a finding that was seen and is to be shown again.
type later[T any] struct {
	in   T
	data []byte
	hist []T
	f    Finding
	seen time.Time
}

// ready reports whether a fresh target is to be had without waiting.
func (w *Worker[T]) ready() bool { return w.readier == nil || w.readier.Ready() }

// postpone puts a finding in line and reports whether it has: not if it can be confirmed now.
func (w *Worker[T]) postpone(ctx context.Context, in T, data []byte, hist []T, f Finding) bool {
	if ctx.Err() != nil || len(w.later) >= maxLater || len(w.later) == 0 && w.ready() {
		return false
	}
	k := w.known[f.ID()]
	if k.done {
		return false
	}
	k.done, k.waits = true, true
	f.Execution = w.state.Executions
	w.later = append(w.later, later[T]{in, data, hist, f, time.Now()})
	return true
}

// catchUp confirms the first finding in line, if there is a target for it or if it has waited for long.
func (w *Worker[T]) catchUp(ctx context.Context) error {
	if len(w.later) == 0 || !w.ready() && time.Since(w.later[0].seen) < laterTime {
		return nil
	}
	return w.next(ctx)
}

func (w *Worker[T]) next(ctx context.Context) error {
	l := w.later[0]
	w.later = slices.Delete(w.later, 0, 1)
	k := w.known[l.f.ID()]
	k.done, k.waits = false, false
	if err := w.confirm(ctx, l.in, l.data, l.hist, l.f); err != nil {
		return err
	}
	return w.settle(ctx)
}

// drain confirms what is still in line when the campaign has ended, the worst first.
func (w *Worker[T]) drain(ctx context.Context) error {
	slices.SortStableFunc(w.later, func(a, b later[T]) int { return cmp.Compare(b.f.Severity, a.f.Severity) })
	for len(w.later) > 0 && !(w.over && w.c.StopAfter > 0) { // enough was found
		if err := w.next(ctx); err != nil {
			return err
		}
		if err := w.publish(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, ErrStop) {
			return err
		}
	}
	return nil
}

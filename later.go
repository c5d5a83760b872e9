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
	maxLater  = 64                     // findings that wait
	maxAside  = 4                      // of these, beyond which the worker shows findings again too
	ownPart   = 4                      // one part in so many of its time, if targets have to be waited for
	laterTime = 3 * time.Second        // after which the first of them waits no longer
	laterLast = 20 * time.Second       // for all that wait when the campaign has reached a limit of its own
	asideTime = 100 * time.Millisecond // of an execution, from which a finding is shown again beside the campaign
	pettyTime = time.Second            // of an execution, from which a finding of low severity may be too dear to show again
	pettyPart = 20                     // one part in so many of the time is for such findings
)

// claim is a finding that was seen and is to be shown again.
type claim[T any] struct {
	in    T
	data  []byte
	hist  []T // what the target had run before it
	f     Finding
	seen  time.Time
	took  time.Duration // to show; pettyTime at least if it was a hang
	own   bool          // on a target of its own
	aside bool          // it is for the confirmer, if there is one
	deep  bool          // its input alone does not show it: with what the target had run before it, it may
}

func newClaim[T any](in T, data []byte, hist []T, f Finding, o *Observation) claim[T] {
	took := o.Elapsed
	if o.Exit == ExitHang {
		took = max(took, pettyTime)
	}
	return claim[T]{in: in, data: data, hist: hist, f: f, seen: time.Now(), took: took, own: o.Dear}
}

// dear reports whether a finding matters little and takes long to show again.
func (c *claim[T]) dear() bool { return c.took >= pettyTime && c.f.Severity <= Low }

// urgent reports whether a finding comes before another that was seen earlier: it is worse, or as bad and shown sooner.
func (c *claim[T]) urgent(than *claim[T]) bool {
	if c.f.Severity != than.f.Severity {
		return c.f.Severity > than.f.Severity
	}
	return than.deep && !c.deep
}

// ready reports whether a fresh target is to be had without waiting.
func (w *Worker[T]) ready() bool {
	ready := w.readier == nil || w.readier.Ready()
	w.waited = w.waited || !ready
	return ready
}

// postpone puts a finding in line and reports whether it has: not if it can be confirmed now.
func (w *Worker[T]) postpone(ctx context.Context, c claim[T]) bool {
	ready := w.ready()
	slow := c.own || c.took >= asideTime || w.waited
	helps := len(w.later) >= maxAside && (!w.waited || w.within(w.showing, ownPart))
	c.aside = w.delegates() && (c.took >= pettyTime || slow && !helps)
	now := !c.aside && !c.dear() && w.ripe() < 0 && ready && !w.over
	if ctx.Err() != nil || len(w.later) >= maxLater || now {
		return false
	}
	k := w.known[c.f.ID()]
	if k.done {
		return false
	}
	c.f.Execution = w.state.Executions
	w.enqueue(c)
	return true
}

// affords reports whether there is time for a finding: for those that are too dear only a part is.
func (w *Worker[T]) affords(dear bool) bool { return !dear || w.within(w.petty, pettyPart) }

// within reports whether what was spent on something is at most one part in so many of the time.
func (w *Worker[T]) within(spent time.Duration, part int) bool {
	return spent*time.Duration(part) <= time.Since(w.began)
}

// ripe returns the index of the first finding in line that there is time for, those for the confirmer left out; -1: there
// is none.
func (w *Worker[T]) ripe() int {
	delegates := w.delegates()
	return slices.IndexFunc(w.later, func(c claim[T]) bool { return !(c.aside && delegates) && w.affords(c.dear()) })
}

// catchUp confirms the first finding in line, if there is a target for it or if it has waited for long.
func (w *Worker[T]) catchUp(ctx context.Context) error {
	if err := w.delegate(ctx); err != nil {
		return err
	}
	if w.ripe() < 0 {
		return nil
	}
	if err := w.land(ctx); err != nil {
		return err
	}
	i := w.ripe()
	if i < 0 || !w.ready() && time.Since(w.later[i].seen) < laterTime {
		return nil
	}
	return w.next(ctx, i)
}

// handOver puts a finding in line for the confirmer that takes seconds to show, several times over, and reports whether it
// has. deep: its input alone has not shown it.
func (w *Worker[T]) handOver(c claim[T], deep bool) bool {
	if !w.delegates() || len(w.later) >= maxLater {
		return false
	}
	c.aside, c.deep, c.f.Execution = true, deep, cmp.Or(c.f.Execution, w.state.Executions)
	w.enqueue(c)
	return true
}

// enqueue puts a finding in line. While it is there, seeing it again is nothing new.
func (w *Worker[T]) enqueue(c claim[T]) {
	k := w.known[c.f.ID()]
	k.done, k.waits = true, true
	w.later = append(w.later, c)
}

func (w *Worker[T]) next(ctx context.Context, i int) error {
	c := w.later[i]
	w.later = slices.Delete(w.later, i, i+1)
	k := w.known[c.f.ID()]
	k.done, k.waits = false, false
	if err := w.attend(ctx, c); err != nil {
		return err
	}
	return w.settle(ctx)
}

// attend confirms a finding while the campaign waits.
func (w *Worker[T]) attend(ctx context.Context, c claim[T]) error {
	began := time.Now()
	err := w.confirm(ctx, c)
	took := time.Since(began)
	w.showing += took
	if c.dear() {
		w.petty += took
	}
	return err
}

// end judges what was seen when the loop has ended with err: all of it when the campaign has reached a limit of its own,
// and what there is time for when it was broken off.
func (w *Worker[T]) end(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		if w.beside != nil {
			w.beside.off = true
		}
		if w.settle(ctx) == nil { // an error now is that of the end, mostly
			_ = w.drain(ctx)
		}
		err = w.recall(false)
		for i := range w.later { // the confirmer's
			w.news.Unconfirmed = append(w.news.Unconfirmed, w.later[i].f)
		}
		return err
	case errors.Is(err, ErrStop):
		if err = w.recall(w.c.StopAfter > 0); err != nil {
			return err
		}
		if err = w.finish(ctx); errors.Is(err, ErrStop) || ctx.Err() != nil {
			return nil
		}
		return err
	}
	return errors.Join(err, w.recall(true))
}

// drain confirms what is still in line when the campaign has ended, the worst first.
func (w *Worker[T]) drain(ctx context.Context) error {
	slices.SortStableFunc(w.later, func(a, b claim[T]) int { return cmp.Compare(b.f.Severity, a.f.Severity) })
	for i := w.ripe(); i >= 0 && !(w.over && w.c.StopAfter > 0); i = w.ripe() { // enough was found
		if err := w.next(ctx, i); err != nil {
			return err
		}
		if err := w.publish(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, ErrStop) {
			return err
		}
	}
	for i := range w.later {
		if c := &w.later[i]; c.dear() {
			w.news.Unconfirmed = append(w.news.Unconfirmed, c.f)
		}
	}
	w.later = nil
	return nil
}

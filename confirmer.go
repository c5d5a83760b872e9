package teasel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// A confirmer shows again what takes a while to show, hangs above all, or needs a target that has to be waited for, on one of
// its own, while its worker goes on fuzzing. It goes on one errand at a time, and the worker looks at what has come of it
// between two. When an errand ends is the clock's doing, so there is none where runs are counted.
type confirmer[T any] struct {
	target Target[T]
	w      *Worker[T] // has no part in the campaign and keeps no testcases; nil: no target has been opened yet
	news   News       // of the last errand
	claim  *claim[T]  // what was to be shown; nil: something that has been told was made simpler
	back   chan struct{}
	cancel context.CancelFunc
	err    error
	began  time.Time     // when the errand did
	rough  time.Duration // that was spent on making simpler what has been told
	off    bool          // there is no target beside the worker's, or the campaign is at its end: the worker does it all itself
}

var _ Exchange = (*confirmer[int])(nil)

// Sync implements [Exchange]: the worker tells the news.
func (b *confirmer[T]) Sync(_ context.Context, n News) (Reply, error) {
	b.news.add(&n)
	return Reply{}, nil
}

// add takes over what a confirmer has to tell.
func (n *News) add(more *News) {
	n.Executions += more.Executions
	n.Findings = append(n.Findings, more.Findings...)
	n.Unconfirmed = append(n.Unconfirmed, more.Unconfirmed...)
	n.Sightings = append(n.Sightings, more.Sightings...)
}

// readyLook is the time between two looks whether a fresh target is ready.
const readyLook = 20 * time.Millisecond

// roughPart says what part of the time, one in so many, is for making findings of a severity simpler that have been told.
func roughPart(s Severity) int {
	if s >= High {
		return 2
	}
	return pettyPart
}

// nothing is the pool of a worker that keeps no testcases.
type nothing struct{}

var _ Pool = nothing{}

func (nothing) Wants(*Observation, float64) bool      { return false }
func (nothing) Offer(ID, *Observation, float64) Delta { return Delta{} }

// delegates reports whether there is a confirmer.
func (w *Worker[T]) delegates() bool { return w.beside != nil && !w.beside.off }

// delegate looks whether the confirmer is back, and sends it on the next errand: the worst finding in line, or one that
// could be simpler.
func (w *Worker[T]) delegate(ctx context.Context) error {
	b := w.beside
	if b == nil || b.off {
		return nil
	}
	if b.back != nil {
		select {
		case <-b.back:
		default:
			return nil
		}
		if err := w.hear(); err != nil || b.off {
			return err
		}
	}
	worst := -1
	for i := range w.later {
		if w.later[i].aside && (worst < 0 || w.later[i].urgent(&w.later[worst])) {
			worst = i
		}
	}
	switch {
	case worst >= 0:
		c := w.later[worst]
		w.later = slices.Delete(w.later, worst, worst+1)
		b.start(ctx, w, &c)
	case b.w != nil && len(b.w.rough) > 0 && w.within(b.rough, roughPart(b.w.rough[0].f.Severity)):
		b.start(ctx, w, nil)
	}
	return nil
}

// start sends the confirmer on an errand, with a copy of what the worker knows, which need not be shown by the way.
func (b *confirmer[T]) start(ctx context.Context, w *Worker[T], cl *claim[T]) {
	known := make(map[string]*sighting, len(w.known))
	for id, k := range w.known {
		known[id] = &sighting{tries: k.tries, done: k.done}
	}
	if cl != nil {
		known[cl.f.ID()].done = false
	}
	c, number := w.c, w.state.Number
	ctx, b.cancel = context.WithCancel(ctx)
	b.claim, b.back, b.began = cl, make(chan struct{}), time.Now()
	go func() {
		defer close(b.back)
		if b.w == nil && !b.open(ctx, c, number) {
			return
		}
		b.w.known = known
		b.err = b.run(ctx)
	}()
}

func (b *confirmer[T]) open(ctx context.Context, c *Campaign[T], number int) bool {
	ex, err := b.target.Open(ctx, Role{Worker: number, Background: true})
	if err != nil { // the worker has one, and does without the confirmer
		return false
	}
	b.w = newWorker(c, ex, b, WorkerState{Number: number}, 0)
	b.w.beside, b.w.pool, b.w.deputy = nil, nothing{}, true
	return true
}

// run is an errand.
func (b *confirmer[T]) run(ctx context.Context) (err error) {
	if b.claim == nil {
		err = b.w.slice(ctx)
		b.rough += time.Since(b.began)
	} else {
		for !b.w.ready() && time.Since(b.began) < laterTime && ctx.Err() == nil {
			time.Sleep(readyLook)
		}
		if err = b.w.confirm(ctx, *b.claim); err == nil {
			err = b.w.settle(ctx)
		}
	}
	if ctx.Err() != nil {
		err = nil
	}
	return errors.Join(err, b.w.publish(context.WithoutCancel(ctx)))
}

// hear takes over what has come of an errand.
func (w *Worker[T]) hear() error {
	b := w.beside
	b.back = nil
	b.cancel()
	if b.w == nil {
		b.off = true
		w.later = append(w.later, *b.claim)
		return nil
	}
	w.state.Executions += b.news.Executions
	w.news.add(&b.news)
	b.news = News{}
	for _, c := range b.w.later { // what was seen by the way and is still to be shown again
		if k := w.known[c.f.ID()]; k == nil || !k.done {
			w.known[c.f.ID()] = &sighting{done: true, waits: true}
			w.later = append(w.later, c)
		}
	}
	b.w.later = nil
	slices.SortStableFunc(b.w.rough, func(a, b rough) int { return cmp.Compare(b.f.Severity, a.f.Severity) }) // the worst first
	for id, k := range b.w.known {
		own := w.known[id]
		switch {
		case own == nil:
			w.known[id] = &sighting{tries: k.tries, done: k.done}
		case b.claim != nil && id == b.claim.f.ID():
			own.tries, own.done, own.waits = k.tries, k.done, false
		}
	}
	if b.err != nil {
		return fmt.Errorf("confirming beside the worker: %w", b.err)
	}
	return nil
}

// recall waits for the confirmer when the campaign has ended, and takes over what it has left to do. now: it is not to
// finish its errand.
func (w *Worker[T]) recall(now bool) error {
	b := w.beside
	if b == nil {
		return nil
	}
	var err error
	if b.back != nil {
		if now {
			b.cancel()
		}
		<-b.back
		err = w.hear()
	}
	if b.w != nil {
		w.rough = append(w.rough, b.w.rough...)
		err = errors.Join(err, b.w.ex.Close())
	}
	w.beside = nil
	return err
}

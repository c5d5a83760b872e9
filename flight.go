package teasel

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// bunk is what a batch lives in. Three of them are in use: one flies; of the one before it, suspects may wait in the queue
// for it to land; and the next is being made.
type bunk[T any] struct {
	ins  []T
	obs  []Observation
	legs []leg[T]
}

// leg is a part of a batch: what one stage has made from one testcase. An [Observation] knows the number of its own, from 1 on.
type leg[T any] struct {
	parent *Testcase[T] // nil: from nothing
	stage  int
}

// flight is a batch that an [Overlapper] runs while the worker judges the one before it and makes the next.
type flight[T any] struct {
	bunk[T]
	ran  int // of the inputs
	err  error
	back chan struct{} // closed when it is
}

// board notes whose the input in the slot is.
func (w *Worker[T]) board() {
	if n := len(w.legs); n == 0 || w.legs[n-1] != (leg[T]{w.cur, w.stage}) {
		w.legs = append(w.legs, leg[T]{w.cur, w.stage})
	}
	w.obs[w.fill].leg = len(w.legs)
}

// whose returns the leg that an observation is of. An executor may have written over all of it: then nobody knows.
func whose[T any](legs []leg[T], o *Observation) leg[T] { return legs[max(o.leg, 1)-1] }

// endStage is the end of a stage's work. What it leaves in a batch of an [Overlapper] flies with what the next one makes: batches
// that are too small come back before the one before them is judged, and then the target idles.
func (w *Worker[T]) endStage(ctx context.Context) error {
	if w.idle != nil {
		return nil
	}
	return w.Flush(ctx)
}

// launch hands over the first n slots and judges the batch before. Whoever has to run anything else lands first.
func (w *Worker[T]) launch(ctx context.Context, n int) error {
	if w.over || w.spent() {
		return ErrStop
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	before := w.flying
	if before != nil {
		if err := w.await(); err != nil {
			return err
		}
		w.stragglers()
		enough, err := w.holdAll()
		if err != nil {
			return err
		}
		if enough || before.troubled() {
			if err := w.land(ctx); err != nil {
				return err
			}
			before = nil
		}
	}
	f := &flight[T]{bunk: bunk[T]{w.slots[:n], w.obs[:n], w.legs}, back: make(chan struct{})}
	for i := range f.obs {
		f.obs[i].reset(Ask{})
	}
	w.flying, w.clean = f, false
	w.idle = append(w.idle, bunk[T]{w.slots, w.obs, w.legs})
	w.slots, w.obs, w.legs = w.idle[0].ins, w.idle[0].obs, w.idle[0].legs[:0]
	w.idle = slices.Delete(w.idle, 0, 1)
	go func() {
		defer close(f.back)
		f.ran, f.err = w.batch.ExecBatch(ctx, f.ins, f.obs)
	}()
	if before == nil {
		return nil
	}
	return w.receive(ctx, before)
}

// await waits for what flies, and leaves it to be judged. An error is told until it lands.
func (w *Worker[T]) await() error {
	f := w.flying
	if f == nil {
		return nil
	}
	if f.back != nil {
		<-f.back
		f.back = nil
		for i := range f.obs[:f.ran] {
			n := uint64(f.obs[i].Runs)
			w.state.Executions += n
			w.credited += n
			w.stages[whose(f.legs, &f.obs[i]).stage].Executions += n
		}
	}
	switch {
	case f.err != nil:
		return fmt.Errorf("executing: %w", f.err)
	case f.ran < 1:
		return errNothing
	}
	return nil
}

var errNothing = errors.New("executing: executor ran nothing of a batch")

// land waits for what flies and judges it. Whoever runs anything else lands first.
func (w *Worker[T]) land(ctx context.Context) error {
	err := w.await()
	f := w.flying
	w.flying = nil
	if err != nil || f == nil {
		return err
	}
	return w.receive(ctx, f)
}

// troubled reports whether a batch that is back needs more to be run before it can be judged.
func (f *flight[T]) troubled() bool { return f.ran < len(f.ins) || anyLost(f.obs) }

func anyLost(obs []Observation) bool {
	for i := range obs {
		if obs[i].Exit == ExitLost {
			return true
		}
	}
	return false
}

// accused reports whether there is a finding in the queue, which is shown again at once.
func (w *Worker[T]) accused() bool {
	return slices.ContainsFunc(w.queue, func(s suspect[T]) bool { return len(s.findings) > 0 })
}

// receive judges a batch that is back, and runs what is left of it. What is worth keeping waits until the next one is back.
func (w *Worker[T]) receive(ctx context.Context, f *flight[T]) error {
	cur, stage, legs := w.cur, w.stage, w.judging
	defer func() { w.cur, w.stage, w.judging = cur, stage, legs }()
	w.credit()
	last := f.legs[len(f.legs)-1]
	w.cur, w.stage, w.judging = last.parent, last.stage, f.legs
	if f.troubled() {
		ins, obs := f.ins[:f.ran], f.obs[:f.ran]
		w.judge(ins, obs, judgeAll)
		if anyLost(obs) {
			if err := w.bisect(ctx, ins, obs, Ask{}, judgeAll); err != nil {
				return err
			}
		}
		if err := w.exec(ctx, f.ins[f.ran:], f.obs[f.ran:], Ask{}, judgeAll); err != nil {
			return err
		}
	}
	return w.assess(ctx, f.ins, f.obs)
}

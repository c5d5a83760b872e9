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
	ins []T
	obs []Observation
}

// flight is a batch that an [Overlapper] runs while the worker judges the one before it and makes the next.
type flight[T any] struct {
	bunk[T]
	parent *Testcase[T]
	stage  int
	ran    int // of the inputs
	err    error
	back   chan struct{} // closed when it is
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
	f := &flight[T]{bunk: bunk[T]{w.slots[:n], w.obs[:n]}, parent: w.cur, stage: w.stage, back: make(chan struct{})}
	for i := range f.obs {
		f.obs[i].reset(Ask{})
	}
	w.flying, w.clean = f, false
	w.idle = append(w.idle, bunk[T]{w.slots, w.obs})
	w.slots, w.obs = w.idle[0].ins, w.idle[0].obs
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
			w.stages[f.stage].Executions += n
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
	cur, stage := w.cur, w.stage
	defer func() { w.cur, w.stage = cur, stage }()
	w.credit()
	w.cur, w.stage = f.parent, f.stage
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

package teasel

import (
	"context"
	"errors"
	"fmt"
)

// origin says what an input was made from, and by which stage.
type origin[T any] struct {
	parent *Testcase[T] // nil: nothing
	stage  int          // index in Worker.stages
}

// batch is a batch of inputs that stages have made, and what came of them. A worker has one batch or, with a [Pipeliner], three
// batches: one runs, the one before it is judged, the next is filled.
type batch[T any] struct {
	ins     []T // whose memory is used again
	obs     []Observation
	n       int // inputs
	origins []mark[T]

	ran int // observations that are there
	err error
}

// mark says where in a batch the inputs of an origin begin.
type mark[T any] struct {
	from int
	origin[T]
}

func newBatch[T any](size int) *batch[T] {
	return &batch[T]{ins: make([]T, size), obs: make([]Observation, size)}
}

// originOf returns the origin of input i.
func (b *batch[T]) originOf(i int) origin[T] {
	at := 0
	for k := range b.origins {
		if b.origins[k].from <= i {
			at = k
		}
	}
	return b.origins[at].origin
}

// complete reports whether nothing more has to run before the batch is judged.
func (b *batch[T]) complete() bool {
	if b.ran < b.n {
		return false
	}
	for i := range b.obs[:b.n] {
		if b.obs[i].Exit == ExitLost {
			return false
		}
	}
	return true
}

// setOrigin says what the next inputs are made from.
func (w *Worker[T]) setOrigin(parent *Testcase[T], stage int) {
	w.from, w.marked = origin[T]{parent, stage}, false
}

// Slot returns where the next input goes and seeds the generator for it. It holds an older input whose memory may
// be used.
func (w *Worker[T]) Slot() *T {
	w.pcg.Seed(w.seed, w.drawn())
	return &w.filling.ins[w.fill]
}

// Commit takes the input in the slot. It runs now or with the others of its batch.
func (w *Worker[T]) Commit(ctx context.Context) error {
	if !w.marked {
		w.marked = true
		w.filling.origins = append(w.filling.origins, mark[T]{w.fill, w.from})
	}
	if w.fill++; w.fill < w.size {
		return nil
	}
	return w.Flush(ctx)
}

// Flush runs what was committed.
func (w *Worker[T]) Flush(ctx context.Context) error {
	b := w.filling
	if b.n = w.fill; b.n == 0 {
		return nil
	}
	w.fill, w.marked = 0, false
	w.state.Draws += uint64(b.n)
	if w.pipe != nil && (w.limit == 0 || w.limit > w.made()+uint64(2*w.size)) {
		return w.launch(ctx, b)
	}
	if w.limit > 0 {
		if err := w.land(ctx); err != nil { // the executions of the batch that runs count
			return err
		}
		b.n = min(b.n, int(min(w.limit-min(w.limit, w.made()), 1<<30)))
	}
	if w.pipe == nil {
		err := w.run(ctx, b)
		b.origins = b.origins[:0]
		return err
	}
	if err := w.launch(ctx, b); err != nil {
		return err
	}
	return w.land(ctx)
}

// run executes a batch, has it judged, and looks after the jobs.
func (w *Worker[T]) run(ctx context.Context, b *batch[T]) error {
	if w.over || w.spent() {
		return ErrStop
	}
	w.judged = b
	before := w.executions
	lost, err := w.execute(ctx, b.ins[:b.n], b.obs[:b.n], Ask{})
	w.credit(b, before)
	if lost { // also where a failure of ours came after it
		err = errors.Join(err, w.bisect(b.ins[:b.n], b.obs[:b.n]))
	}
	if err != nil {
		return err
	}
	return w.triage(ctx, true)
}

// credit counts the executions of a batch for the stages that made it.
func (w *Worker[T]) credit(b *batch[T], before uint64) {
	made := w.executions - before
	if len(b.origins) == 1 || made < uint64(b.n) {
		w.stages[b.origins[0].stage].Executions += made
		return
	}
	for k := range b.origins {
		end := b.n
		if k+1 < len(b.origins) {
			end = min(b.origins[k+1].from, b.n)
		}
		n := uint64(0)
		for i := b.origins[k].from; i < end; i++ {
			n += uint64(b.obs[i].Runs)
		}
		w.stages[b.origins[k].stage].Executions += n
	}
}

// endStage is the end of a stage's work. With a pipeline, what it leaves in a batch runs with what the next stage makes: batches
// that are too small come back before the one before them is judged, and then the target idles.
func (w *Worker[T]) endStage(ctx context.Context) error {
	if w.pipe != nil {
		return nil
	}
	return w.Flush(ctx)
}

// launch submits a batch and judges the one before it meanwhile.
func (w *Worker[T]) launch(ctx context.Context, b *batch[T]) error {
	if w.over || w.spent() {
		return ErrStop
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	before := w.flying
	if before != nil {
		if err := w.await(ctx); err != nil {
			return err
		}
		if err := w.late(ctx); err != nil {
			return err
		}
		if w.queue.len(classKeep) > 0 {
			w.waited++
		}
		if !before.complete() || w.pressing() {
			if err := w.land(ctx); err != nil {
				return err
			}
			before = nil
		}
	}
	for i := range b.obs[:b.n] {
		b.obs[i].reset(Ask{})
	}
	w.clean, b.ran, b.err, w.collected = false, 0, nil, false
	w.filling, w.idle = w.idle[0], append(w.idle[1:], b)
	w.filling.origins = w.filling.origins[:0]
	w.flying = b
	if err := w.pipe.Submit(ctx, b.ins[:b.n], b.obs[:b.n]); err != nil {
		w.flying, w.collected = before, before != nil // which is judged at the end
		return fmt.Errorf("executing: %w", err)
	}
	if before == nil {
		return nil
	}
	return w.receive(ctx, before)
}

// await waits for the batch that runs, and leaves it to be judged.
func (w *Worker[T]) await(ctx context.Context) error {
	b := w.flying
	if b == nil {
		return nil
	}
	if !w.collected {
		w.collected = true
		b.ran, b.err = w.pipe.Collect(ctx)
	}
	switch {
	case b.err != nil:
		return fmt.Errorf("executing: %w", b.err)
	case b.ran < 1:
		return errNothing
	}
	return nil
}

// land waits for the batch that runs, judges it and looks after the jobs. Whoever executes anything else lands first.
func (w *Worker[T]) land(ctx context.Context) error {
	if w.flying == nil {
		return nil
	}
	if err := w.await(ctx); err != nil {
		return err
	}
	b := w.flying
	w.flying = nil
	if err := w.late(ctx); err != nil {
		return err
	}
	return w.receive(ctx, b)
}

// salvage waits for the batch that runs, when the worker ends without executing anything more, and judges what came back of it.
func (w *Worker[T]) salvage(ctx context.Context) error {
	b := w.flying
	if b == nil {
		return nil
	}
	_ = w.await(ctx) // a failure has ended the worker already, or ends it now
	w.flying, w.judged = nil, b
	before := w.executions
	lost, err := w.observe(ctx, 0, b.ins[:b.ran], b.obs[:b.ran])
	w.credit(b, before)
	if lost {
		err = errors.Join(err, w.bisect(b.ins[:b.ran], b.obs[:b.ran]))
	}
	return err
}

// receive judges a batch that is back. If no other runs, it also runs what is left of it and looks after the jobs.
func (w *Worker[T]) receive(ctx context.Context, b *batch[T]) error {
	w.judged = b
	before := w.executions
	lost, err := w.observe(ctx, 0, b.ins[:b.ran], b.obs[:b.ran])
	if err == nil && b.ran < b.n {
		var more bool
		more, err = w.executeRest(ctx, b)
		lost = lost || more
	}
	w.credit(b, before)
	if lost {
		err = errors.Join(err, w.bisect(b.ins[:b.n], b.obs[:b.n]))
	}
	if err != nil {
		return err
	}
	return w.triage(ctx, w.pressing())
}

// executeRest runs the inputs of a batch that the executor did not take.
func (w *Worker[T]) executeRest(ctx context.Context, b *batch[T]) (lost bool, err error) {
	w.offset = b.ran
	defer func() { w.offset = 0 }()
	return w.execute(ctx, b.ins[b.ran:b.n], b.obs[b.ran:b.n], Ask{})
}

// late asks for inputs whose observation has come to an end since their batch.
func (w *Worker[T]) late(ctx context.Context) error {
	for w.pipe != nil && (w.flying == nil || w.collected) {
		var o Observation
		o.reset(Ask{Features: true})
		in, ok := w.pipe.Late(&o)
		if !ok {
			break
		}
		w.executions += uint64(o.Runs)
		w.cost += uint64(o.Runs) + price(&o)
		w.stages[w.row(rowLate)].Executions += uint64(o.Runs)
		if err := w.judgeLate(ctx, in, &o); err != nil {
			return err
		}
	}
	return nil
}

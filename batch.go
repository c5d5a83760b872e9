package teasel

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// origin says what an input was made from, and by which stage.
type origin[T any] struct {
	parent *Testcase[T] // nil: nothing
	stage  int          // index in Worker.stages
}

// batch is a batch of inputs that stages have made, and what came of them. A worker has one batch or, with a [Pipeliner], three
// batches: one runs, the one before it is judged, the next is filled.
type batch[T any] struct {
	ins     []T // their memory is reused by the next inputs
	obs     []Observation
	n       int // inputs
	origins []mark[T]

	began time.Time // when it was submitted
	ran   int       // observations that have been collected
	err   error
}

// batches are those of a worker, and how far they are.
type batches[T any] struct {
	marked    bool // the batch being filled has a mark for the origin of the next input
	filling   *batch[T]
	fill      int         // inputs in it
	weight    int         // what they count as beyond that, see [Weigher]
	inFlight  *batch[T]   // submitted and not judged yet; nil: none
	collected bool        // its results have been collected
	waited    int         // batches since there are keep jobs
	idle      []*batch[T] // the oldest first
	weigher   Weigher[T]  // nil: each input counts as one
	judged    *batch[T]   // the batch being judged; nil: a probe is
	offset    int         // of the observations in it, see judgeBatch
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

// complete reports whether every input of the batch has run, and none is to be bisected.
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

// Slot returns where to store the next input, and seeds the generator for it. The slot holds an older input whose memory may
// be reused. The pointer is valid until the next call of Commit.
func (w *Worker[T]) Slot() *T {
	w.pcg.Seed(w.seed, w.drawn())
	return &w.filling.ins[w.fill]
}

// Commit adds the input in the slot to the batch, and executes the batch when it is full. The error is [ErrStop] when the campaign is
// over; a stage returns any error as it is.
func (w *Worker[T]) Commit(ctx context.Context) error {
	if !w.marked {
		w.marked = true
		w.filling.origins = append(w.filling.origins, mark[T]{w.fill, w.from})
	}
	if w.weigher != nil {
		w.weight += max(w.weigher.Weight(w.filling.ins[w.fill]), 1) - 1
	}
	if w.fill++; w.fill+w.weight < w.size {
		return nil
	}
	return w.Flush(ctx)
}

// CommitRandom is [Worker.Commit] for an input that was made at random. It is left out if it looks like known faults while they take more
// than their share, for there will be others like it. What a stage makes in an order of its own is made once: it is for Commit.
func (w *Worker[T]) CommitRandom(ctx context.Context) error {
	if w.avoid.active && w.avoids(w.filling.ins[w.fill]) {
		return nil
	}
	return w.Commit(ctx)
}

// Flush executes the inputs that were committed and have not run yet. With a [Pipeliner] it may return while they run. Its errors
// are those of Commit.
func (w *Worker[T]) Flush(ctx context.Context) error {
	b := w.filling
	if b.n = w.fill; b.n == 0 {
		return nil
	}
	w.fill, w.weight, w.marked = 0, 0, false
	w.state.Draws += uint64(b.n)
	if w.pipe != nil && (w.limit == 0 || w.limit > w.made()+uint64(2*w.size)) {
		return w.submit(ctx, b)
	}
	if w.limit > 0 {
		if err := w.finishInFlight(ctx); err != nil { // the executions of the batch that runs count
			return err
		}
		b.n = min(b.n, int(min(w.limit-min(w.limit, w.made()), 1<<30)))
	}
	if w.pipe == nil {
		err := w.run(ctx, b)
		b.origins = b.origins[:0]
		return err
	}
	if err := w.submit(ctx, b); err != nil {
		return err
	}
	return w.finishInFlight(ctx)
}

// run executes and judges a batch, and then serves the jobs.
func (w *Worker[T]) run(ctx context.Context, b *batch[T]) error {
	if w.over || w.spent() {
		return ErrStop
	}
	return w.settle(ctx, b)
}

// settle judges what has come back of a batch, executes the inputs that have not run, and serves the jobs.
func (w *Worker[T]) settle(ctx context.Context, b *batch[T]) error {
	if err := w.judgeBatch(ctx, b, false); err != nil {
		return err
	}
	return w.triage(ctx, w.pipe == nil || w.pressing())
}

// judgeBatch judges what has come back of a batch, and executes the inputs that have not run, unless the worker ends without executing anything
// more.
func (w *Worker[T]) judgeBatch(ctx context.Context, b *batch[T], ends bool) error {
	w.judged = b
	before := w.executions
	lost, err := w.observe(ctx, 0, b.ins[:b.ran], b.obs[:b.ran])
	if err == nil && b.ran < b.n && !ends {
		var more bool
		w.offset = b.ran
		more, err = w.execute(ctx, b.ins[b.ran:b.n], b.obs[b.ran:b.n], Ask{})
		w.offset, lost = 0, lost || more
	}
	w.credit(b, before)
	w.survived(b)
	if lost { // also where a failure of ours came after it
		err = errors.Join(err, w.bisect(b.ins[:b.n], b.obs[:b.n], w.originOf))
	}
	return err
}

// credit adds the executions of a batch to the statistics of the stages that made it.
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

// submit starts a batch and judges the one before it meanwhile.
func (w *Worker[T]) submit(ctx context.Context, b *batch[T]) error {
	if w.over || w.spent() {
		return ErrStop
	}
	if err := ctx.Err(); err != nil {
		return err
	}
	before := w.inFlight
	if before != nil {
		if err := w.await(ctx); err != nil {
			return err
		}
		if err := w.collectLate(ctx); err != nil {
			return err
		}
		if w.queue.len(classKeep) > 0 {
			w.waited++
		}
		if !before.complete() || w.pressing() {
			if err := w.finishInFlight(ctx); err != nil {
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
	w.inFlight, b.began = b, w.meter.clock()
	if err := w.pipe.Submit(inFlight(ctx), b.ins[:b.n], b.obs[:b.n]); err != nil {
		w.inFlight, w.collected = before, before != nil // judgeInFlight judges it
		return fmt.Errorf("executing: %w", err)
	}
	if before == nil {
		return nil
	}
	return w.settle(ctx, before)
}

// await waits for the batch in flight, and leaves it to be judged.
func (w *Worker[T]) await(ctx context.Context) error {
	b := w.inFlight
	if b == nil {
		return nil
	}
	if !w.collected {
		w.collected = true
		b.ran, b.err = w.pipe.Collect(inFlight(ctx))
		if uint(b.ran) > uint(b.n) {
			b.err = errors.Join(b.err, miscounted(b.ran, b.n))
			b.ran = 0
		}
		if b.err != nil {
			b.ran = ended(b.obs[:b.ran])
		}
		w.meter.ran(b.began, b.obs[:b.ran], false)
	}
	switch {
	case b.err != nil:
		return fmt.Errorf("executing: %w", b.err)
	case b.ran < 1:
		return errNothing
	}
	return nil
}

// finishInFlight waits for the batch in flight, judges it and serves the jobs. It must be called before anything else is
// executed.
func (w *Worker[T]) finishInFlight(ctx context.Context) error {
	if w.inFlight == nil {
		return nil
	}
	if err := w.await(ctx); err != nil {
		return err
	}
	b := w.inFlight
	w.inFlight = nil
	if err := w.collectLate(ctx); err != nil {
		return err
	}
	return w.settle(ctx, b)
}

// judgeInFlight waits for the batch in flight, when the worker ends without executing anything more, and judges the observations
// that came back.
func (w *Worker[T]) judgeInFlight(ctx context.Context) error {
	b := w.inFlight
	if b == nil {
		return nil
	}
	_ = w.await(ctx) // a failure has ended the worker already, or ends it now
	w.inFlight = nil
	return w.judgeBatch(ctx, b, true)
}

// collectLate judges inputs whose observation was completed after their batch had been collected.
func (w *Worker[T]) collectLate(ctx context.Context) error {
	for w.pipe != nil && (w.inFlight == nil || w.collected) {
		var o Observation
		o.reset(Ask{Features: true})
		in, ok := w.pipe.Late(ctx, &o)
		if !ok {
			break
		}
		w.executions += uint64(o.Runs)
		w.messages += uint64(o.Messages)
		w.meter.ran(time.Time{}, []Observation{o}, true)
		w.stages[w.row(rowLate)].Executions += uint64(o.Runs)
		if err := w.judgeLate(ctx, in, &o); err != nil {
			return err
		}
	}
	return nil
}

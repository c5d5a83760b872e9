package teasel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"time"
)

// contextRuns is how many executions without a batch pass between two checks of the context. A quick execution takes less
// time than the check.
const contextRuns = 64

// slowRun is how long an execution takes after which the context and the clock are checked every time.
const slowRun = time.Millisecond

// slowInterval is the same for contextRuns executions and what is done between them, where the executor does not say how long each
// takes. It is some thousand times what looking at the clock after each of them costs.
const slowInterval = 10 * time.Millisecond

// runner executes inputs on one executor. A worker has one, and so has its background.
type runner[T any] struct {
	ex    Executor[T]
	batch BatchExecutor[T] // optional abilities of the executor; nil: not supported
	reset Resetter
	past  Historian[T]
	mut   Mutator[T]
	codec Codec[T]
	dets  []Detector
	size  int // inputs of a batch

	// judge handles an observation that is not uninteresting, while its evidence is valid. It never executes anything.
	judge   func(ctx context.Context, i int, in T, o *Observation) error
	request *request[T] // that is executed; nil: what a stage has made

	meter      meter
	calls      uint64 // of Exec
	executions uint64
	messages   uint64
	clean      bool      // nothing has run since the last reset
	slow       bool      // the last execution took slowRun or longer, or may have
	looked     time.Time // when the clock was looked at last, every contextRuns executions
}

func newRunner[T any](c *Campaign[T], ex Executor[T]) runner[T] {
	r := runner[T]{ex: ex, mut: c.mutator(), codec: c.Codec, dets: c.detectors(), size: 1, clean: true, slow: true, looked: time.Now()}
	if r.meter = (meter{counts: c.Runs > 0, began: r.looked}); !r.meter.counts {
		r.meter.advance = uint64(min(inAdvance, cmp.Or(c.Duration, inAdvance)))
	}
	if b, ok := ex.(BatchExecutor[T]); ok {
		r.batch, r.size = b, max(b.BatchSize(), 1)
	}
	r.reset, _ = ex.(Resetter)
	r.past, _ = ex.(Historian[T])
	return r
}

var errNothing = errors.New("executing: executor ran nothing of a batch")

// miscounted returns the error for an executor that says that it ran n inputs of a batch of size.
func miscounted(n, size int) error {
	return fmt.Errorf("executor ran %d of %d inputs, expected 1 to %d", n, size, size)
}

// ended returns how many observations there are before the first whose end is unknown: a failure of ours may have come in the
// middle of an execution.
func ended(obs []Observation) int {
	for i := range obs {
		if obs[i].unset() {
			return i
		}
	}
	return len(obs)
}

// execute runs inputs, in as many calls as the executor needs. Where the target died and it is not known of which input, lost
// is true and the observations in question are [ExitLost].
func (r *runner[T]) execute(ctx context.Context, ins []T, obs []Observation, a Ask) (lost bool, err error) {
	for i := range obs {
		obs[i].reset(a)
	}
	r.clean = false
	if r.batch == nil {
		return false, r.single(ctx, 0, ins, obs)
	}
	for at := 0; at < len(ins); {
		if err := ctx.Err(); err != nil {
			return lost, err
		}
		end := min(len(ins), at+r.size)
		if serious := r.serious(); serious != obs[at].Ask.Serious {
			for i := at; i < len(obs); i++ {
				obs[i].Ask.Serious = serious
			}
		}
		began := r.meter.clock()
		n, failure := r.batch.ExecBatch(inFlight(ctx), ins[at:end], obs[at:end])
		if uint(n) > uint(end-at) {
			return lost, fmt.Errorf("executing: %w", errors.Join(failure, miscounted(n, end-at)))
		}
		if failure != nil {
			n = ended(obs[at : at+n])
		}
		l, err := r.observe(ctx, at, ins[at:at+n], obs[at:at+n]) // what ran before a failure of ours has been seen
		lost = lost || l
		r.meter.ran(began, obs[at:at+n], r.shared())
		switch {
		case failure != nil:
			return lost, errors.Join(fmt.Errorf("executing: %w", failure), err)
		case err != nil:
			return lost, err
		case n < 1:
			return lost, errNothing
		}
		at += n
	}
	return lost, nil
}

// shared reports whether what is executed is accounted for by the share of a job's class. What faults cost where an input is to be kept is
// accounted for as elsewhere: of a target that faults at times it would never be kept, and come again and again.
func (r *runner[T]) shared() bool { return r.request != nil && r.request.class != classKeep }

// serious reports whether faults of low severity need not be looked for. What is executed to reproduce a finding, or to make its input
// simpler, may be about such a fault.
func (r *runner[T]) serious() bool {
	return (r.request == nil || r.request.class == classKeep || r.request.class == classTrim) && r.meter.spent[classFault] > 0 && r.meter.exceeds()
}

// single runs inputs one by one. The first of them is number at of its batch or request.
func (r *runner[T]) single(ctx context.Context, at int, ins []T, obs []Observation) error {
	running := inFlight(ctx)
	for i := range ins {
		if r.calls++; r.slow || r.calls%contextRuns == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		o := &obs[i]
		var began time.Time
		if r.slow || r.meter.fell {
			began = r.meter.clock()
		}
		if err := r.ex.Exec(running, ins[i], o); err != nil {
			return fmt.Errorf("executing: %w", err)
		}
		o.endAlone()
		if o.Elapsed != 0 {
			r.slow = o.Elapsed >= slowRun
		} else if r.calls%contextRuns == 0 {
			now := time.Now()
			r.slow, r.looked = now.Sub(r.looked) >= slowInterval, now
		}
		_, err := r.observe(ctx, at+i, ins[i:i+1], obs[i:i+1])
		if r.meter.counts || !began.IsZero() || o.failed() {
			r.meter.ran(began, obs[i:i+1], r.shared())
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// observe counts executions and judges those that are not uninteresting. The first of them is number at of its batch.
func (r *runner[T]) observe(ctx context.Context, at int, ins []T, obs []Observation) (lost bool, err error) {
	for i := range obs {
		o := &obs[i]
		if o.unset() {
			return lost, o.checkExit(ctx)
		}
		r.executions += uint64(o.Runs)
		r.messages += uint64(o.Messages)
		if o.uninteresting() {
			continue
		}
		if o.Exit == ExitLost {
			lost = true
			continue
		}
		if e := r.judge(ctx, at+i, ins[i], o); err == nil {
			err = e // what the others of the batch show counts all the same
		}
	}
	return lost, err
}

// alone runs one input, number i of its request, with no other in flight.
func (r *runner[T]) alone(ctx context.Context, i int, in []T, obs []Observation, a Ask) error {
	obs[0].reset(a)
	r.clean, r.slow = false, true // the context is looked at
	return r.single(ctx, i, in, obs)
}

// fresh resets the target, unless nothing has run since the last reset.
func (r *runner[T]) fresh(ctx context.Context) error {
	if r.reset == nil || r.clean {
		return nil
	}
	if err := r.reset.Reset(ctx); err != nil {
		return fmt.Errorf("resetting: %w", err)
	}
	r.clean = true
	r.meter.total += freshCost
	return nil
}

// perform executes a request of a job. The observations belong to the job.
func (r *runner[T]) perform(ctx context.Context, q *request[T]) (obs []Observation, err error) {
	if q.fresh {
		if err := r.fresh(ctx); err != nil {
			return nil, err
		}
	}
	r.request = q
	defer func() { r.request = nil }()
	obs = make([]Observation, len(q.ins))
	defer func() {
		for i := range obs {
			obs[i].Evidence = nil // it is the executor's
		}
	}()
	for i := 0; q.alone && i < len(obs) && err == nil; i++ {
		err = r.alone(ctx, i, q.ins[i:i+1], obs[i:i+1], q.ask)
	}
	if !q.alone {
		_, err = r.execute(ctx, q.ins, obs, q.ask)
	}
	return obs, err
}

// clone returns a copy of an input that shares no memory with it, and its encoding.
func (r *runner[T]) clone(in T) (T, []byte, error) { return cloneInput(r.codec, in) }

func cloneInput[T any](c Codec[T], in T) (out T, data []byte, err error) {
	if data, err = c.Encode(in); err != nil {
		return out, nil, fmt.Errorf("encoding an input: %w", err)
	}
	data = append([]byte(nil), data...)
	if out, err = c.Decode(data); err != nil {
		return out, nil, fmt.Errorf("decoding an input that was encoded: %w", err)
	}
	return out, data, nil
}

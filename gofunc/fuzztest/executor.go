package fuzztest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unsafe"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

var (
	_ teasel.Executor[[]byte]      = (*executor)(nil)
	_ teasel.BatchExecutor[[]byte] = (*executor)(nil)
	_ teasel.Learner               = (*executor)(nil)
	_ teasel.Resetter              = (*executor)(nil)
)

// executor runs a fuzz test in one process after another.
type executor struct {
	target  *Target
	m       *memory
	process *process // nil: it is started by the next execution
	history operands.History

	starting time.Duration // that processes took to start, in all
	finds    []find
	doubts   map[uint32]uint8 // features that did not recur: how often they were forgotten
	pace     time.Duration    // of one execution, lately

	recursions *recursions
	known      map[string]bool // findings that need not be looked into again: large allocations
	slowest    time.Duration   // that an input has taken lately; see limit
	warm       bool            // a batch has come to its end
	slow       bool            // an input has hung
	confirms   bool            // the input that runs has all of the time limit
	hungry     bool            // an input has asked for too much memory at once: processes are confined from the beginning
	suspicions int             // see maxSuspicions
}

// find is an input that seems to have reached something new.
type find struct {
	index    int
	features []uint32
}

// maxDoubts is how often a feature that does not recur may become new again.
const maxDoubts = 4

// Starting is how long test processes have taken to start, in all: what stands before F.Fuzz may take its time.
func (e *executor) Starting() time.Duration { return e.starting }

// failed closes what is there and joins the errors.
func (e *executor) failed(err error) error { return errors.Join(err, e.Close()) }

// Close ends the test process and what it has started.
func (e *executor) Close() (err error) {
	err = e.stop()
	if e.m != nil {
		err = errors.Join(err, e.m.close())
		e.m = nil
	}
	return err
}

func (e *executor) stop() (err error) {
	if e.process != nil {
		err = e.process.close()
		e.process = nil
	}
	return err
}

// Reset gives the next execution a fresh process.
func (e *executor) Reset(context.Context) error { return e.stop() }

// Learn notes what the worker holds.
func (e *executor) Learn(fs []teasel.Feature, complexity float64) {
	for _, f := range fs {
		if f > 0 && uint64(f) <= uint64(len(e.m.Shortest)) {
			e.m.learn(uint32(f-1), uint16(min(complexity, 1<<16-1)))
		}
	}
}

// BatchSize is how many inputs make one round trip at most.
func (e *executor) BatchSize() int { return slotRoom }

// Exec runs one input, with all of the time limit unless it is to be quick.
func (e *executor) Exec(ctx context.Context, in []byte, obs *teasel.Observation) error {
	ins, all := [1][]byte{in}, [1]teasel.Observation{*obs}
	e.confirms = true
	_, err := e.ExecBatch(ctx, ins[:], all[:])
	e.confirms = false
	*obs = all[0]
	return err
}

// longTrip is how long a round trip may take, about: with slow tests it has fewer inputs.
const longTrip = 20 * time.Millisecond

// ExecBatch runs inputs, all of which ask for the same, up to the first that fails.
func (e *executor) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	ask := obs[0].Ask
	if e.pace > 0 {
		ins = ins[:min(len(ins), max(int(longTrip/e.pace), 1))]
	}
	e.m.clear()
	e.m.watch(ask.Watch)
	n := 0
	for bits := bitsOf(ask); n < len(ins) && e.m.add(ins[n], bits); n++ {
	}
	if n == 0 {
		obs[0].Exit, obs[0].Runs, obs[0].Detail = teasel.ExitRejected, 0, fmt.Sprintf("%d bytes are more than there is room for", len(ins[0]))
		return 1, nil
	}
	began := time.Now()
	done, died, err := e.run(ctx, ask)
	if err != nil {
		return 0, err
	}
	if died == nil {
		e.pace = (3*e.pace + time.Since(began)/time.Duration(done)) / 4
	}
	e.history.Ran(done)
	e.finds = e.finds[:0]
	tested := 0
	for i := range done {
		if e.m.Slot[i].Verdict != agent.VerdictSkipped {
			tested++
		}
		if died != nil && i == done-1 {
			e.died(&obs[i], &e.m.Slot[i], died)
			break
		}
		e.observe(&obs[i], i)
	}
	if t := e.target.Tested; t != nil && tested > 0 {
		t.Add(uint64(tested))
	}
	return done, e.confirm(ctx, ins, obs)
}

// run has a live process run the batch in the memory.
func (e *executor) run(ctx context.Context, ask teasel.Ask) (done int, died *death, err error) {
	if died, err := e.start(ctx); died != nil || err != nil {
		return 1, died, err // the first input is tried again in a fresh process
	}
	limit := e.limit(ask)
	e.m.MaxStack = e.stackLimit(ask.Quick)
	if done, died, err = e.process.run(ctx, limit); err != nil {
		return done, died, err
	}
	if died == nil {
		e.ended(time.Duration(e.process.watch.longest.Swap(0)))
	}
	switch {
	case died != nil && e.m.MaxStack > 0 && judge.StackLimit(died.stderr) > 0:
		died, err = e.overflowed(ctx, done-1, died)
		return done, died, err
	case died != nil && e.m.MaxStack == 0:
		e.showed(string(e.m.input(done-1)), died)
	}
	if died != nil && died.cause == judge.CauseTimeout {
		died, err = e.hung(ctx, limit, done-1, died)
		return done, died, err
	}
	return e.checked(ctx, limit, done, died)
}

// start has a process ready to run inputs. A death is that of one that did not come to it.
func (e *executor) start(ctx context.Context) (died *death, err error) {
	if e.process == nil || e.process.gone {
		if err := e.stop(); err != nil {
			return nil, err
		}
		if e.process, err = startProcess(e.target, e.m); err != nil {
			return nil, err
		}
	}
	if e.process.ready {
		return nil, nil
	}
	began := time.Now()
	died, err = e.process.begin(ctx)
	e.starting += time.Since(began)
	if died == nil && err == nil && e.hungry {
		err = e.process.confine(e.target.memory())
	}
	return died, err
}

func bitsOf(a teasel.Ask) (bits uint32) {
	if a.Features {
		bits |= agent.AskFeatures
	}
	if a.Trace {
		bits |= agent.AskTrace
	}
	if a.Operands {
		bits |= agent.AskOperands
	}
	if a.Quiet {
		bits |= agent.AskQuiet
	}
	return bits
}

// featureOf is the feature that the agent has numbered so.
func featureOf(n uint32) teasel.Feature { return teasel.Feature(n) + 1 }

// died fills in how the process ended with an input.
func (e *executor) died(o *teasel.Observation, s *agent.Slot, d *death) {
	e.forget(o.Ask, e.m.features(s))
	o.Exit = teasel.ExitCrash
	if d.cause == judge.CauseTimeout {
		o.Exit, o.Short = teasel.ExitHang, d.short
	}
	o.Evidence = e.evidence(d)
}

func (e *executor) evidence(d *death) *judge.Failure {
	return &judge.Failure{Cause: d.cause, Text: d.stderr, Status: d.status, Test: e.target.identity(), Race: e.target.Race}
}

// observe fills in what a slot says of an execution that the process survived.
func (e *executor) observe(o *teasel.Observation, i int) {
	s := &e.m.Slot[i]
	o.Exit = teasel.ExitOK
	if o.Ask.Trace {
		o.Trace, o.Work, o.Elapsed = max(s.Trace, 1), s.Work+ownWork, time.Duration(s.Nanoseconds)
	}
	if s.Verdict == agent.VerdictFailed {
		e.forget(o.Ask, e.m.features(s))
		o.Exit, o.Evidence = teasel.ExitCrash, e.process.failure(e.target.identity())
		return
	}
	if o.Ask.Operands {
		e.record(o, s)
	}
	if s.FeatureCount == 0 {
		return
	}
	fs := e.m.features(s)
	if !o.Ask.Features {
		e.finds = append(e.finds, find{i, fs})
		return
	}
	for _, f := range fs {
		o.Features = append(o.Features, featureOf(f))
	}
}

// ownWork is what an execution costs whatever the test does, in counted edges.
const ownWork = 256

// record hands over what was compared.
func (e *executor) record(o *teasel.Observation, s *agent.Slot) {
	all := e.m.operands(s)
	rec := operands.Recording{Numbers: make([]teasel.Operand, 0, len(all))}
	for i := range all {
		op := &all[i]
		if op.Flags&agent.OperandText != 0 {
			if op.Flags&agent.OperandEqual == 0 {
				rec.Texts = append(rec.Texts, operands.Text{Site: op.Site, A: string(op.A[:min(op.ALength, agent.Texts)]), B: string(op.B[:min(op.BLength, agent.Texts)])})
			}
			continue
		}
		a, b := *(*uint64)(unsafe.Pointer(&op.A)), *(*uint64)(unsafe.Pointer(&op.B))
		rec.Numbers = append(rec.Numbers, teasel.Operand{Site: op.Site, Size: op.Size, Const: op.Flags&agent.OperandConst != 0, A: a, B: b})
	}
	e.history.Attach(o, &rec)
}

// confirm runs what seems to be new once more. What does not recur came of what earlier inputs had left behind, of other
// goroutines or of the order of a map, and may still be new another time. An input that fails only now, because it has run before, is a
// candidate in a batch; one that runs by itself has not failed.
func (e *executor) confirm(ctx context.Context, ins [][]byte, obs []teasel.Observation) error {
	for left := e.finds; len(left) > 0; {
		e.m.clear()
		for _, f := range left {
			e.m.add(ins[f.index], agent.AskFeatures|agent.AskQuiet)
		}
		done, died, err := e.run(ctx, teasel.Ask{})
		if err != nil {
			return err
		}
		e.history.Ran(done)
		for i, f := range left[:done] {
			o, s := &obs[f.index], &e.m.Slot[i]
			o.Runs++
			switch {
			case e.confirms && (died != nil || s.Verdict == agent.VerdictFailed):
				e.forget(o.Ask, f.features)
			case died != nil && i == done-1:
				e.forget(o.Ask, f.features)
				e.died(o, s, died)
			case s.Verdict == agent.VerdictFailed:
				e.forget(o.Ask, f.features)
				o.Exit, o.Evidence = teasel.ExitCrash, e.process.failure(e.target.identity())
			default:
				e.keep(o, f.features, e.m.features(s))
			}
		}
		left = left[done:]
	}
	return nil
}

// forget makes new again what an execution has reached that failed: another one that does not may reach it as well.
func (e *executor) forget(a teasel.Ask, fs []uint32) {
	if a.Features || a.Quiet {
		return
	}
	for _, f := range fs {
		e.m.forget(f)
	}
}

// keep puts into o what is in both lists, each of which rises.
func (e *executor) keep(o *teasel.Observation, seen, again []uint32) {
	for _, f := range seen {
		if _, ok := slices.BinarySearch(again, f); ok {
			o.Features = append(o.Features, featureOf(f))
		} else if e.doubts[f] < maxDoubts {
			e.doubts[f]++
			e.m.forget(f)
		}
	}
}

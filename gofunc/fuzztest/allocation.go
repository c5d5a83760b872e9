package fuzztest

import (
	"context"
	"fmt"
	"slices"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/judge"
)

// largeShare is the part of the memory limit from which an allocation is large: if it fails, the call that asked for it is to
// blame. Which of many small ones is the last depends on chance.
const largeShare = 8

// arenas is how much address space a process may have more than memory: Go reserves 64 MiB at a time.
const arenas = 128 << 20

// maxSuspicions is how often a batch may reserve much address space without one large allocation, as C code may, until nobody
// looks any more: each time costs two processes.
const maxSuspicions = 3

// confine lets a process that has so much address space when it is ready reserve no more than it may hold memory. The Go runtime
// ends a process that wants more, and prints where it did. A child process would have the same limit, which is why processes are
// not confined from the beginning.
func confine(pid int, space, memory uint64) error {
	limit := unix.Rlimit{Cur: space + memory + arenas, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(pid, unix.RLIMIT_AS, &limit, nil); err != nil {
		return fmt.Errorf("limiting the memory of a test process: %w", err)
	}
	return nil
}

// overdrawn reports whether the process has reserved more address space since it was ready than it may hold. Go never gives any
// back, so that it does not matter when we look. What was allocated and not written to takes address space only.
func (p *process) overdrawn(memory uint64) bool {
	space, _ := occupied(p.running.PID())
	return space > p.space+memory+arenas
}

// checked returns what running the batch came to, after a look at the memory that it took. The race detector maps several times
// the memory of the program.
func (e *executor) checked(ctx context.Context, limit limits, done int, died *death) (int, *death, error) {
	switch {
	case e.target.Race:
	case died != nil && (died.cause == judge.CauseMemory || judge.Allocation(died.stderr) > 0 || e.process.confined && judge.Exhausted(died.stderr)):
		if d := (&death{judge.CauseAllocation, died.status, died.stderr}); e.large(d) && e.known[e.identify(d)] {
			return done, d, nil
		}
		died, err := e.locate(ctx, limit, done-1)
		return done, died, err
	case died == nil && e.suspicions < maxSuspicions && e.process.overdrawn(e.target.memory()):
		return e.search(ctx, limit, done)
	}
	return done, died, nil
}

// large reports whether one large allocation has ended a process.
func (e *executor) large(d *death) bool {
	return judge.Allocation(d.stderr) >= e.target.memory()/largeShare
}

// search runs a batch again that took much address space. In a confined process, the input to blame dies of it. If it was no single
// allocation, the batch runs as if nobody had looked.
func (e *executor) search(ctx context.Context, limit limits, ran int) (done int, d *death, err error) {
	e.unlearn(0, ran)
	done, d, err = e.runFresh(ctx, limit, true)
	if err != nil || d == nil {
		return done, d, err
	}
	if judge.Allocation(d.stderr) > e.target.memory() {
		d.cause = judge.CauseAllocation
		return done, d, nil
	}
	e.suspicions++
	e.unlearn(0, done)
	return e.runFresh(ctx, limit, false)
}

// locate runs the input again, alone, of which a process has died that had too much memory. In a confined process it dies where it
// asks for more than there is; otherwise, how far it gets depends on when the watchdog looks. nil: it does not die.
func (e *executor) locate(ctx context.Context, limit limits, slot int) (*death, error) {
	defer e.saved()()
	e.m.From, e.m.Count = uint32(slot), uint32(slot+1)
	_, again, err := e.runFresh(ctx, limit, true)
	if err != nil {
		return nil, err
	}
	if again == nil { // what earlier inputs had left was too much
		e.discard(slot)
		return nil, nil
	}
	switch {
	case e.large(again):
		again.cause = judge.CauseAllocation
		e.known[e.identify(again)] = true
	case judge.Exhausted(again.stderr):
		again.cause = judge.CauseMemory
	}
	return again, nil
}

// discard forgets what a slot has reached that was run again while earlier ones keep their room.
func (e *executor) discard(slot int) {
	e.unlearn(slot, slot+1)
	e.m.Slot[slot].FeatureCount, e.m.Slot[slot].OperandCount = 0, 0
}

// saved returns what puts back in place what is shared of the batch, when a part of it was run again.
func (e *executor) saved() (restore func()) {
	m, h := e.m, *e.m.Header
	features := slices.Clone(part(m.Feature, 0, h.FeaturesUsed))
	operands := slices.Clone(part(m.Operand, 0, h.OperandsUsed))
	return func() {
		m.From, m.Count, m.FeaturesUsed, m.OperandsUsed = h.From, h.Count, h.FeaturesUsed, h.OperandsUsed
		copy(m.Feature, features)
		copy(m.Operand, operands)
	}
}

// runFresh runs the batch in a process that has run nothing before.
func (e *executor) runFresh(ctx context.Context, limit limits, confined bool) (done int, d *death, err error) {
	if err := e.stop(); err != nil {
		return 0, nil, err
	}
	if d, err = e.start(ctx); d != nil || err != nil {
		return int(e.m.From) + 1, d, err
	}
	if confined {
		if err := confine(e.process.running.PID(), e.process.space, e.target.memory()); err != nil {
			return 0, nil, err
		}
	}
	return e.process.run(ctx, limit)
}

// unlearn makes new again what some slots of the batch have reached.
func (e *executor) unlearn(from, to int) {
	for i := range e.m.Slot[from:to] {
		s := &e.m.Slot[from+i]
		if s.Ask&(agent.AskFeatures|agent.AskQuiet) == 0 {
			for _, f := range e.m.features(s) {
				e.m.forget(f)
			}
		}
	}
}

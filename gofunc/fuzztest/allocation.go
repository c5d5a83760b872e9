package fuzztest

import (
	"context"
	"fmt"
	"slices"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/judge"
)

// largeShare is the part of the memory limit from which an allocation is large: if it fails, the call that asked for it is to
// blame. Which of many small ones is the last depends on chance.
const largeShare = 8

// arenas is how much address space a process may have more than memory: Go reserves 64 MiB at a time.
const arenas = 128 << 20

// maxSuspicions is how often a batch may fail for want of address space in a way that is not the Go runtime's, until nobody looks
// any more: each time costs two processes.
const maxSuspicions = 3

// confine lets a process reserve only so much address space, and a little more. The Go runtime ends a process that wants more, and
// prints where it did. A child process would have the same limit, which is why processes are not confined from the beginning.
func confine(pid int, space uint64) error {
	limit := unix.Rlimit{Cur: space + arenas, Max: unix.RLIM_INFINITY}
	if err := unix.Prlimit(pid, unix.RLIMIT_AS, &limit, nil); err != nil {
		return fmt.Errorf("limiting the memory of a test process: %w", err)
	}
	return nil
}

// confine lets a process that is ready reserve no more address space than it may hold memory.
func (p *process) confine(memory uint64) error {
	p.confined = true
	return confine(p.running.PID(), p.space+memory)
}

// overdrawn reports whether the process has reserved more address space since it was ready than it may hold. Go never gives any
// back, so that it does not matter when we look. What was allocated and not written to takes address space only.
func (p *process) overdrawn(memory uint64) bool {
	space := occupied(p.running.PID())
	return space > p.space+memory+arenas
}

// checked returns what running the batch came to, after a look at the memory that it took. The race detector maps several times
// the memory of the program.
func (e *executor) checked(ctx context.Context, limit time.Duration, done int, died *death) (int, *death, error) {
	switch {
	case e.target.Race:
	case died != nil && (died.cause == judge.CauseMemory || judge.Allocation(died.stderr) > 0 || e.process.confined && starved(died)):
		died, err := e.exhausted(ctx, limit, done-1, died)
		return done, died, err
	case died == nil && e.suspicions < maxSuspicions && e.process.overdrawn(e.target.memory()):
		return e.search(ctx, limit, done)
	}
	return done, died, nil
}

// starved reports whether a confined process may have died for want of memory.
func starved(d *death) bool { return judge.Exhausted(d.stderr) || judge.Segmentation(d.stderr) }

// large reports whether one large allocation has ended a process.
func (e *executor) large(d *death) bool {
	return judge.Allocation(d.stderr) >= e.target.memory()/largeShare
}

// search runs a batch again that took much address space. In a confined process, the input to blame dies of it. If that ends in any
// other way, the batch runs as if nobody had looked.
func (e *executor) search(ctx context.Context, limit time.Duration, ran int) (done int, d *death, err error) {
	e.unlearn(0, ran)
	done, d, err = e.runFresh(ctx, limit, true)
	if err != nil || d == nil {
		return done, d, err
	}
	if starved(d) {
		d, err = e.exhausted(ctx, limit, done-1, d)
		return done, d, err
	}
	e.suspicions++ // C code has other ways to fail
	e.unlearn(0, done)
	return e.runFresh(ctx, limit, false)
}

// exhausted returns how an input died of which a process died that had too much memory; nil: it does not.
func (e *executor) exhausted(ctx context.Context, limit time.Duration, slot int, died *death) (*death, error) {
	if d := (&death{cause: judge.CauseAllocation, status: died.status, stderr: died.stderr}); e.large(d) && e.known[e.identify(d)] {
		return d, nil
	}
	return e.locate(ctx, limit, slot)
}

// locate runs the input again, alone, of which a process has died that had too much memory. In a confined process it dies where it
// asks for more than there is; otherwise, how far it gets depends on when the watchdog looks. nil: it does not die.
func (e *executor) locate(ctx context.Context, limit time.Duration, slot int) (*death, error) {
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
		e.known[e.identify(again)], e.hungry = true, true
	case judge.Exhausted(again.stderr):
		again.cause = judge.CauseMemory
	case judge.Segmentation(again.stderr): // perhaps it has nothing to do with memory
		e.hungry = false
		if _, again, err = e.runFresh(ctx, limit, false); again == nil {
			e.discard(slot)
		}
	}
	return again, err
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
func (e *executor) runFresh(ctx context.Context, limit time.Duration, confined bool) (done int, d *death, err error) {
	if err := e.stop(); err != nil {
		return 0, nil, err
	}
	if d, err = e.start(ctx); d != nil || err != nil {
		return int(e.m.From) + 1, d, err
	}
	if confined {
		if err := e.process.confine(e.target.memory()); err != nil {
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

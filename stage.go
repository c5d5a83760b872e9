package teasel

import "context"

// A Stage works on a testcase for a while: it makes inputs from it and has the worker run them. The worker judges
// what comes back; a stage that wants to see it uses [Worker.Probe]. A stage has no state of its own and is shared
// by all workers; what it has to remember belongs to the testcase. A stage that comes to an end, whatever testcases there are, may have
// a method Planned() uint64, which says how many executions it makes in all: monitors show how far it is.
type Stage[T any] interface {
	// Name is what statistics call it.
	Name() string
	Run(ctx context.Context, w *Worker[T], tc *Testcase[T]) error
}

// Havoc is random mutation, in place where the mutator can undo.
type Havoc[T any] struct {
	Energy int // inputs made from a testcase of ordinary energy; 0: 512
}

// Name implements [Stage].
func (Havoc[T]) Name() string { return "havoc" }

// Run implements [Stage].
func (h Havoc[T]) Run(ctx context.Context, w *Worker[T], tc *Testcase[T]) error {
	for range w.Energy(h.Energy, 512) {
		if w.undo != nil {
			if err := w.change(ctx, tc); err != nil {
				return err
			}
			continue
		}
		s := w.Slot()
		*s = w.mut.Mutate(w.rnd, *s, tc.Input)
		if err := w.CommitRandom(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Splice crosses a testcase with others, if the mutator is a [Crosser].
type Splice[T any] struct {
	Energy int // inputs made from a testcase of ordinary energy; 0: 64
}

// Name implements [Stage].
func (Splice[T]) Name() string { return "splice" }

// Run implements [Stage].
func (h Splice[T]) Run(ctx context.Context, w *Worker[T], tc *Testcase[T]) error {
	x, ok := w.mut.(Crosser[T])
	if !ok || len(w.live) < 2 {
		return nil
	}
	for range w.Energy(h.Energy, 64) {
		s := w.Slot()
		other := w.Other(tc)
		*s = x.Cross(w.rnd, *s, tc.Input, other.Input)
		if err := w.CommitRandom(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Steps takes the next ordered steps of a testcase, if the mutator is a [Stepper]. It goes on where it stopped.
type Steps[T any] struct {
	Energy int // steps taken of a testcase of ordinary energy at a time; 0: 256
}

// Name implements [Stage].
func (Steps[T]) Name() string { return "deterministic" }

// Run implements [Stage].
func (h Steps[T]) Run(ctx context.Context, w *Worker[T], tc *Testcase[T]) error {
	m, ok := w.mut.(Stepper[T])
	if !ok {
		return nil
	}
	for range w.Energy(h.Energy, 256) {
		s := w.Slot()
		in, more := m.Step(tc.Step, *s, tc.Input)
		if !more {
			return nil
		}
		*s = in
		tc.Step++
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// planner is a stage that knows how many executions it makes in all.
type planner interface{ Planned() uint64 }

package teasel

import (
	"context"
	"time"
)

// Minimising a finding comes in slices, so that the dearest bug of a target, or the number of its bugs, does not keep the
// campaign from looking for others: one slice before it is told, and the others later, with fuzzing in between.
const (
	sliceCost   = 512              // executions of a slice, or what is worth as much
	tickCost    = 25               // executions that each tick of our time is worth
	tick        = time.Second / 10 // that an execution takes, with what a start or an end of the target costs
	refineEvery = 4096             // executions between two slices
	refineLate  = 4 * refineEvery  // the same while fresh targets have to be waited for
	refinePart  = 10               // one part in so many of the time is for executions that take a tick and more
	refineTime  = 10 * time.Second // for all that is left when the campaign has reached a limit of its own
	deputyShare = 4                // so many times as much is done beside the campaign
)

// rough is a finding that has been told and whose input could be simpler.
type rough struct {
	f      Finding
	left   int // executions that minimising it may still make
	always bool
	at     uint64 // where minimising it goes on
}

func (w *Worker[T]) minimizeRuns() int {
	if w.c.MinimizeRuns == 0 {
		return 1024
	}
	return w.c.MinimizeRuns
}

// minimizeLeft returns what it may cost to make the input of a finding simple, in executions.
func (w *Worker[T]) minimizeLeft() int {
	if w.deputy {
		return deputyShare * deputyShare * w.minimizeRuns()
	}
	return w.minimizeRuns()
}

// minimize makes a finding's input simple, for a slice at most.
func (w *Worker[T]) minimize(ctx context.Context, s *shower[T], in T, slice int) (T, error) {
	s.enough = false
	s.count(in)
	return descend(ctx, w.mut, in, 1, &s.at, func(ctx context.Context, ins []T) (int, T, error) {
		c := ins[0]
		if s.enough = s.left <= 0 || slice <= 0; s.enough {
			return -1, c, errEnough
		}
		ok, err := s.show(ctx, c, s.always, Ask{Quick: true})
		if s.wall >= tick {
			s.w.refining += s.wall
		}
		if cost := s.cost(ok); err == nil {
			s.left -= cost
			slice -= cost + max(int(s.runs), 1) - 1 + int(s.wall/tick)*tickCost // a script of ten requests takes as long as ten
		}
		if !ok && err == nil && w.repair != nil {
			var zero T
			if c, ok = w.repair.Repair(zero, c, s.operands); ok {
				ok, err = s.show(ctx, c, s.always, Ask{Quick: true})
			}
		}
		if !ok {
			if s.other && s.w.count != nil {
				if n := s.w.count.Parts(c); s.fewest == 0 || n < s.fewest {
					s.fewest = n
				}
			}
			return -1, c, err
		}
		s.count(c)
		return 0, c, err
	})
}

// count looks at an input that has shown the finding.
func (s *shower[T]) count(in T) {
	if s.w.count != nil {
		s.parts = s.w.count.Parts(in)
	}
}

// bystander reports whether the target died as well of fewer parts, and of something else: who is to blame was seen then.
func (s *shower[T]) bystander() bool { return s.fewest > 0 && s.fewest < s.parts }

// cost is what the last execution is worth in ordinary ones.
func (s *shower[T]) cost(shown bool) int {
	cost := 1
	switch {
	case s.dear:
		cost += startCost
	case s.always:
		cost += deathCost
	}
	seconds := int(s.took / time.Second)
	switch {
	case s.exit == ExitHang: // which costs as much when it is another one
		cost += max(hangCost, (seconds-1)*slowCost)
	case !shown:
	case s.exit == ExitCrash:
		cost += deathCost
	default:
		cost += seconds * slowCost
	}
	return cost
}

// refine makes one of the findings simpler that have been told, when it is time.
func (w *Worker[T]) refine(ctx context.Context) error {
	since := w.state.Executions - w.refined
	if len(w.rough) == 0 || since < refineEvery || !w.within(w.refining, refinePart) {
		return nil
	}
	if err := w.land(ctx); err != nil || since < refineLate && !w.ready() {
		return err
	}
	return w.slice(ctx)
}

// finish confirms what is in line when the campaign has reached a limit of its own, and makes simpler what is rough.
func (w *Worker[T]) finish(ctx context.Context) error {
	last, cancel := context.WithTimeout(ctx, laterLast)
	defer cancel()
	if err := w.drain(last); err != nil {
		return err
	}
	ctx, cancel = context.WithTimeout(ctx, refineTime)
	defer cancel()
	for len(w.rough) > 0 {
		if err := w.slice(ctx); err != nil {
			if ctx.Err() != nil {
				return nil
			}
			return err
		}
	}
	return nil
}

func (w *Worker[T]) slice(ctx context.Context) error {
	r := w.rough[0]
	w.rough = w.rough[1:]
	again, err := w.polish(ctx, &r)
	if err != nil {
		return err
	}
	if again {
		w.rough = append(w.rough, r)
	}
	err = w.settle(ctx)
	w.refined = w.state.Executions
	w.credit()
	return err
}

// polish minimises a finding for one more slice, tells it if that came to something, and reports whether there is more
// to be done.
func (w *Worker[T]) polish(ctx context.Context, r *rough) (bool, error) {
	in, err := w.c.Codec.Decode(r.f.Input)
	if err != nil {
		return false, err
	}
	s := &shower[T]{w: w, id: r.f.ID(), left: r.left, always: r.always, at: r.at}
	slice := sliceCost
	if w.deputy {
		slice *= deputyShare
	}
	simple, err := w.minimize(ctx, s, in, slice)
	if r.left, r.at = s.left, s.at; err != nil || w.mut.Complexity(simple) >= w.mut.Complexity(in) {
		return s.enough && r.left > 0, err
	}
	more := s.enough && r.left > 0
	ok, err := s.show(ctx, simple, true, Ask{})
	if err != nil {
		return false, err
	}
	if !ok { // it had leaned on what ran before
		again := !r.always
		r.always, r.at = true, 0
		return again, nil
	}
	if err := w.keepInput(&r.f, simple); err != nil {
		return false, err
	}
	r.f.Subject, r.f.Message, r.f.Detail, r.f.Occurrences = s.last.Subject, s.last.Message, s.last.Detail, 0
	w.news.Findings = append(w.news.Findings, r.f)
	return more, nil
}

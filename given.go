package teasel

import "context"

// seedCases are the seeds of a worker, as they were given. Each is mutated whatever it reaches. Features show only what is instrumented: if the
// code with the bug is not, a seed that leads there reaches nothing new, and no testcase would be made from it. And trimming removes from a
// seed that is kept what its features do not need, which the bug may need. Seeds are in no pool and are not saved: the next run is given
// them again.
type seedCases[T any] struct {
	list []*Testcase[T]
	news uint64 // executions when a testcase was kept last that was made from another one; 0: there was none
}

// The share of rounds that work on seeds as they were given is that of their number among the testcases, and at most:
const (
	givenShare = 1.0 / 8 // while testcases made from others are kept
	staleShare = 1.0 / 2 // when none was kept in half of the executions so far: what features show is exhausted
)

// givenDraws sets the generator of these draws apart from the others.
const givenDraws = 0x5bd1e995_9e3779b9

// give takes a seed that was run. Of one that fails, or is expensive, there are rounds only while no execution has shown a feature.
func (w *Worker[T]) give(in T, key string, o *Observation) {
	if len(w.given.list) == maxGiven {
		return
	}
	tc := &Testcase[T]{ID: Orphan, Input: in, Key: key, Complexity: w.mut.Complexity(in), Note: o.Note}
	if !o.failed() && !o.Expensive {
		tc.ID = ID(len(w.cases))
		w.cases = append(w.cases, tc)
	}
	w.given.list = append(w.given.list, tc)
}

// givenSeed returns a seed to work on; nil: it is the turn of a testcase, which may be that very seed.
func (w *Worker[T]) givenSeed() *Testcase[T] {
	n := len(w.given.list)
	if n == 0 || len(w.live) == 0 {
		return nil
	}
	share := float64(n) / float64(n+len(w.live))
	switch {
	case w.made() < 2*w.given.news:
		share = min(share, givenShare)
	case w.given.news > 0:
		share = min(share, staleShare)
	}
	r := w.rng(w.seed^givenDraws, w.drawn())
	tc := w.given.list[r.IntN(n)]
	if _, held := w.keys[tc.Key]; held || tc.ID == Orphan || r.Float64() >= share {
		return nil
	}
	return tc
}

// workOn makes a round on a seed as it was given. Before the first, what an execution costs is measured, which stages go by.
func (w *Worker[T]) workOn(ctx context.Context, tc *Testcase[T]) error {
	if tc.Picked == 0 {
		w.setOrigin(nil, w.row(rowSeeds))
		obs, err := w.Probe(ctx, []T{tc.Input}, Ask{Trace: true, Quiet: true})
		if err != nil {
			return err
		}
		tc.Work = obs[0].Work
	}
	return w.round(ctx, tc, Pick{ID: tc.ID, Energy: 1})
}

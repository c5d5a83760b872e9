package teasel

import "github.com/teaselfuzz/teasel/internal/schedule"

// Rating is what a scheduler may know of a testcase: all but its input. Time is not among it, unless in the
// coarse steps that an executor may count as work: otherwise the same seed would not give the same run.
type Rating struct {
	ID         ID
	Parent     ID // the testcase it was made from; Orphan: none that is still in its pool
	Complexity float64
	Features   FeatureSet
	Measures   []Measure
	Work       uint64
	Depth      int
	Picked     uint64
}

// Orphan stands for the parent of a testcase that has none in its pool.
const Orphan ID = -1

// Pick is a scheduler's choice.
type Pick struct {
	ID     ID
	Focus  Feature // what it was chosen for; 0: nothing special
	Energy float64 // how much work it gets; 1: the usual; 0: one input a stage
}

// A Scheduler decides which testcase is next and how much is done with it. It has one owner, which calls Next and Done in
// turn; testcases are added and removed at any time.
type Scheduler interface {
	Add(r Rating)
	Remove(id ID)
	// Next counts as a pick. False: there is none. An ID that is not kept ends the campaign with an error.
	Next(r *Rand) (Pick, bool)
	// Done reports the outcome of the last pick: how many executions were made for it and how many of them were kept as
	// testcases. The testcase may have been removed meanwhile.
	Done(p Pick, executions uint64, kept int)
}

// NewScheduler returns the default scheduler: weighted by rarity of what is covered, size, work and picks so far, see
// internal/schedule. A pick takes O(log n) for n testcases; adding or removing one takes time proportional to the features of some
// twenty. It holds about 140 bytes for each testcase that it has had at the same time, and 40 for each feature; sets of features are
// shared.
func NewScheduler() Scheduler { return weighted{schedule.New()} }

// weighted is the default scheduler.
type weighted struct{ cases *schedule.Weighted }

// Add implements [Scheduler].
func (s weighted) Add(r Rating) {
	s.cases.Add(schedule.Testcase{ID: int(r.ID), Complexity: r.Complexity, Features: r.Features.packed, Work: r.Work, Picked: r.Picked})
}

// Remove implements [Scheduler].
func (s weighted) Remove(id ID) { s.cases.Remove(int(id)) }

// Next implements [Scheduler].
func (s weighted) Next(r *Rand) (Pick, bool) {
	id, energy, ok := s.cases.Next(r)
	return Pick{ID: ID(id), Energy: energy}, ok
}

// Done implements [Scheduler]. The number of picks says enough: rounds of equal energy are of about equal length.
func (weighted) Done(Pick, uint64, int) {}

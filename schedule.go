package teasel

import (
	"math"

	"github.com/teaselfuzz/teasel/internal/fenwick"
)

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

var _ Scheduler = (*weighted)(nil)

const (
	weightUnit      = 1 << 16
	largeFactor     = 16 // times the mean complexity, above which energy falls
	expensiveFactor = 64 // times the typical work, the same
	leastEnergy     = 1.0 / 64
	reweighPerAdd   = 20 // testcases weighed anew for each one added, so that all are while the corpus grows by 5 %
)

// weighted is the default scheduler. The weight of a testcase is a product of rare features, little work, low complexity and
// few picks so far. It borrows ideas and is none of the published schedules: AFL++ prefers what is fast and small, and
// favours testcases that alone reach something; AFLFast (CCS 2016) raises energy with the number of picks, but divides it
// by the frequency of a path; Entropic (FSE 2020) prefers testcases with rare features, by their frequency in executions.
// Here rarity is counted in testcases: an executor that judges novelty itself does not say what other executions reached.
type weighted struct {
	weights    fenwick.Weights // by place in rated
	rated      []rated         // removed ones are used again
	at         map[ID]int      // place in rated
	free       []int           // places of removed ones
	next       int             // place to weigh anew next
	hits       map[Feature]int // testcases that reach it
	work       float64         // sums over all testcases: of work,
	logWork    float64         // of its logarithm,
	complexity float64         // and of complexity
}

// rated is what is kept of a rating, with what is expensive to compute.
type rated struct {
	id         ID // -1: removed
	complexity float64
	features   FeatureSet
	work       uint64
	picked     uint64
	rare       float64 // sum over its features of 1/(testcases that reach it)
	favoured   bool    // it alone reaches something
}

// NewScheduler returns the default scheduler: weighted by rarity of what is covered, size, work and picks so far.
// A pick takes O(log n) for n testcases; adding or removing one takes time proportional to the features of some twenty. It
// holds about 140 bytes for each testcase that it has had at the same time, and 40 for each feature; sets of features are shared.
func NewScheduler() Scheduler { return &weighted{at: map[ID]int{}, hits: map[Feature]int{}} }

// Add implements [Scheduler].
func (s *weighted) Add(r Rating) {
	i := len(s.rated)
	if n := len(s.free); n > 0 {
		i, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.rated = append(s.rated, rated{})
	}
	s.at[r.ID] = i
	s.rated[i] = rated{id: r.ID, complexity: r.Complexity, features: r.Features, work: r.Work, picked: r.Picked}
	s.count(&s.rated[i], 1)
	for f := range r.Features.All() {
		s.hits[f]++
	}
	s.reweigh(i)
	for range min(reweighPerAdd, len(s.rated)) {
		s.next = (s.next + 1) % len(s.rated)
		s.reweigh(s.next)
	}
}

// Remove implements [Scheduler].
func (s *weighted) Remove(id ID) {
	i, ok := s.at[id]
	if !ok {
		return
	}
	t := &s.rated[i]
	s.count(t, -1)
	for f := range t.features.All() {
		if s.hits[f]--; s.hits[f] == 0 {
			delete(s.hits, f)
		}
	}
	*t = rated{id: -1}
	delete(s.at, id)
	s.free = append(s.free, i)
	s.weights.Set(i, 0)
}

func (s *weighted) count(t *rated, sign float64) {
	s.work += sign * float64(t.work)
	s.logWork += sign * math.Log2(float64(t.work)+1)
	s.complexity += sign * t.complexity
}

// reweigh brings a weight up to date with what has become common or rare since it was computed.
func (s *weighted) reweigh(i int) {
	t := &s.rated[i]
	if t.id < 0 {
		return
	}
	t.rare, t.favoured = 0, false
	for f := range t.features.All() {
		n := s.hits[f]
		t.rare += 1 / float64(max(n, 1))
		t.favoured = t.favoured || n <= 1
	}
	s.weights.Set(i, s.weigh(t))
}

// mean returns the mean of a sum over all testcases.
func (s *weighted) mean(sum float64) float64 { return sum / float64(max(len(s.at), 1)) }

// weigh computes the weight of a testcase. Its bounds keep one property from deciding alone; they are about those of AFL++'s
// calculate_score, which multiplies by 0.1 to 3 for speed and by 0.25 to 3 for coverage.
func (s *weighted) weigh(t *rated) uint64 {
	w := weightUnit * (0.5 + math.Log2(1+t.rare))
	if t.favoured {
		w *= 2
	}
	w *= within(s.mean(s.complexity)/max(t.complexity, 1), 0.3, 2)
	if t.work > 0 {
		w *= within(s.mean(s.work)/float64(t.work), 0.15, 3)
	}
	w /= math.Log2(float64(t.picked)/4 + 2)
	return max(uint64(w), 1)
}

// damping returns the factor by which energy is reduced for a testcase that has more than much of something: otherwise one turn
// could take minutes.
func damping(has, much float64) float64 {
	if has > much {
		return within(much/has, leastEnergy, 1)
	}
	return 1
}

func within(x, low, high float64) float64 { return min(max(x, low), high) }

// Next implements [Scheduler].
func (s *weighted) Next(r *Rand) (Pick, bool) {
	i, ok := s.weights.Draw(r)
	if !ok {
		return Pick{}, false
	}
	return s.pick(i), true
}

// pick counts a pick and returns it with its energy: little at first, so that every new testcase has its turn soon, and up to four times
// as much the more often it was picked, since the mutants that are easily found have been found.
func (s *weighted) pick(i int) Pick {
	t := &s.rated[i]
	energy := within(float64(t.picked)/2, 1, 4)
	energy *= damping(t.complexity, s.mean(s.complexity)*largeFactor)
	energy *= damping(float64(t.work), math.Exp2(s.mean(s.logWork))*expensiveFactor) // a plain mean would be that of the few expensive ones
	t.picked++
	s.weights.Set(i, s.weigh(t))
	return Pick{ID: t.id, Energy: energy}
}

// Done implements [Scheduler]. The number of picks says enough: rounds of equal energy are of about equal length.
func (s *weighted) Done(Pick, uint64, int) {}

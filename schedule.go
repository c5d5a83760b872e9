package teasel

import (
	"math"

	"github.com/teaselfuzz/teasel/internal/fenwick"
)

// Rating is what a scheduler may know of a testcase: all but its input. Time is not among it, unless in the
// coarse steps that an executor may count as work, or the same seed would not give the same run.
type Rating struct {
	ID         ID
	Parent     ID // the testcase it was made from, which may have been removed; Orphan: none, or not in this pool
	Complexity float64
	Features   FeatureSet
	Measures   []Measure
	Work       uint64
	Depth      int
	Picked     uint64
}

// Orphan stands for the parent of a testcase that has none in its pool.
const Orphan ID = -1

// Pick is what a scheduler chose.
type Pick struct {
	ID     ID
	Focus  Feature // what it was chosen for; 0: nothing special
	Energy float64 // how much work it gets; 1: the usual
}

// A Scheduler decides which testcase is next and how much is done with it. It has one owner, which calls Next and Done in
// turn; testcases are added and removed at any time.
type Scheduler interface {
	Add(r Rating)
	Remove(id ID)
	// Done reports the outcome of the last pick: how many executions were made for it and how many of them were kept as
	// testcases. The testcase may have been removed meanwhile.
	Done(p Pick, executions uint64, kept int)
	// Next counts as a pick. False: there is none.
	Next(r *Rand) (Pick, bool)
}

var _ Scheduler = (*weighted)(nil)

const (
	weightUnit  = 1 << 16
	largeFactor = 16 // times the mean complexity, above which energy falls
	dearFactor  = 64 // times the typical work, the same
	leastEnergy = 1.0 / 64
	rerateAfter = 1.05 // growth of the corpus after which all weights are computed anew
)

// rated is a rating with what is dear to compute.
type rated struct {
	Rating           // ID -1: removed
	rare     float64 // what it adds to the corpus
	favoured bool    // it alone reaches something
}

// weighted is the default scheduler. The weight of a testcase is the product of what AFL++ and Entropic were found
// to gain by: rare features, little work, simple, rarely picked so far, favoured.
type weighted struct {
	weights fenwick.Weights
	ratings []rated // by ID
	hits    map[Feature]int
	live    int
	rated   int // how many there were when all were last rated
	work    float64
	orders  float64 // sum of the logarithms of work
	complex float64
}

// NewScheduler returns the default scheduler: weighted by rarity of what is covered, size, work and picks so far.
// A pick costs O(log n).
func NewScheduler() Scheduler { return &weighted{hits: map[Feature]int{}} }

func (s *weighted) Add(r Rating) {
	for len(s.ratings) <= int(r.ID) {
		s.ratings = append(s.ratings, rated{Rating: Rating{ID: -1}})
	}
	t := &s.ratings[r.ID]
	t.Rating = r
	s.live++
	s.work += float64(r.Work)
	s.orders += math.Log2(float64(r.Work) + 1)
	s.complex += r.Complexity
	for f := range r.Features.All() {
		s.hits[f]++
	}
	if float64(s.live) > float64(s.rated)*rerateAfter {
		s.rerate()
		return
	}
	s.rarity(t)
	s.weights.Set(int(r.ID), s.weigh(t))
}

func (s *weighted) Remove(id ID) {
	r := &s.ratings[id]
	if r.ID < 0 {
		return
	}
	s.live--
	s.work -= float64(r.Work)
	s.orders -= math.Log2(float64(r.Work) + 1)
	s.complex -= r.Complexity
	for f := range r.Features.All() {
		if s.hits[f]--; s.hits[f] == 0 {
			delete(s.hits, f)
		}
	}
	*r = rated{Rating: Rating{ID: -1}}
	s.weights.Set(int(id), 0)
}

// rerate brings old weights up to date with what has become common. Its cost is spread over the growth.
func (s *weighted) rerate() {
	for i := range s.ratings {
		if t := &s.ratings[i]; t.ID >= 0 {
			s.rarity(t)
			s.weights.Set(i, s.weigh(t))
		}
	}
	s.rated = s.live
}

// rarity sums over the features 1/(testcases that reach it).
func (s *weighted) rarity(t *rated) {
	t.rare, t.favoured = 0, false
	for f := range t.Features.All() {
		n := s.hits[f]
		t.rare += 1 / float64(max(n, 1))
		t.favoured = t.favoured || n <= 1
	}
}

func (s *weighted) weigh(t *rated) uint64 {
	w := weightUnit * (0.5 + math.Log2(1+t.rare))
	if t.favoured {
		w *= 2
	}
	n := float64(max(s.live, 1))
	w *= within(s.complex/n/max(t.Complexity, 1), 0.3, 2)
	if t.Work > 0 {
		w *= within(s.work/n/float64(t.Work), 0.15, 3)
	}
	w /= math.Log2(float64(t.Picked)/4 + 2)
	return max(uint64(w), 1)
}

// share is the part of its energy that is left to a testcase which has much of something, or one turn could take minutes.
func share(has, much float64) float64 {
	if has > much {
		return within(much/has, leastEnergy, 1)
	}
	return 1
}

func within(x, low, high float64) float64 { return min(max(x, low), high) }

// Done implements [Scheduler]. The number of picks says enough: rounds of equal energy are of about equal length.
func (s *weighted) Done(Pick, uint64, int) {}

func (s *weighted) Next(r *Rand) (Pick, bool) {
	i, ok := s.weights.Draw(r)
	if !ok {
		return Pick{}, false
	}
	return s.pick(ID(i)), true
}

// pick counts and says with how much energy: little at first, so that everything new has its turn soon, and more the
// more often it was picked, as in AFLFast (CCS 2016): what is easily found near it has been found.
func (s *weighted) pick(id ID) Pick {
	t := &s.ratings[id]
	energy := within(float64(t.Picked)/2, 1, 4)
	n := float64(max(s.live, 1))
	energy *= share(t.Complexity, s.complex/n*largeFactor)
	energy *= share(float64(t.Work), math.Exp2(s.orders/n)*dearFactor) // a plain mean would be that of the few that are dear
	t.Picked++
	s.weights.Set(int(id), s.weigh(t))
	return Pick{ID: id, Energy: energy}
}

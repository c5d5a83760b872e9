// Package schedule draws testcases with weights. The weight of a testcase is a product of rare features, little work, low complexity and
// few picks so far. It borrows ideas and is none of the published schedules: AFL++ prefers what is fast and small, and
// favours testcases that alone reach something; AFLFast (CCS 2016) raises energy with the number of picks, but divides it
// by the frequency of a path; Entropic (FSE 2020) prefers testcases with rare features, by their frequency in executions.
// Here rarity is counted in testcases: an executor that judges novelty itself does not say what other executions reached.
package schedule

import (
	"math"
	"math/rand/v2"

	"github.com/teaselfuzz/teasel/internal/fenwick"
	"github.com/teaselfuzz/teasel/internal/packed"
)

const (
	weightUnit      = 1 << 16
	largeFactor     = 16 // times the mean complexity, above which energy falls
	expensiveFactor = 64 // times the typical work, the same
	leastEnergy     = 1.0 / 64
	reweighPerAdd   = 20 // testcases weighed anew for each one added, so that all are while the corpus grows by 5 %
)

// A Weighted draws testcases. The zero value is not usable, see New. It has one owner.
type Weighted struct {
	weights    fenwick.Weights // by place in rated
	rated      []rated         // removed ones are used again
	at         map[int]int     // place in rated, by id
	free       []int           // places of removed ones
	next       int             // place to weigh anew next
	pending    []int           // ids of those that were never picked, in the order in which they came
	hits       map[uint64]int  // testcases that reach a feature
	work       float64         // sums over all testcases: of work,
	logWork    float64         // of its logarithm,
	complexity float64         // and of complexity
}

// Testcase is what is known of a testcase.
type Testcase struct {
	ID         int
	Complexity float64
	Features   string // as package packed has them
	Work       uint64
	Picked     uint64 // so far
}

// rated is a testcase, with what is expensive to compute. If it is removed, its id is -1.
type rated struct {
	Testcase
	rare     float64 // sum over its features of 1/(testcases that reach it)
	favoured bool    // it alone reaches something
}

// New returns a Weighted without testcases.
func New() *Weighted { return &Weighted{at: map[int]int{}, hits: map[uint64]int{}} }

// Add adds a testcase, in time proportional to the features of some twenty.
func (s *Weighted) Add(t Testcase) {
	i := len(s.rated)
	if n := len(s.free); n > 0 {
		i, s.free = s.free[n-1], s.free[:n-1]
	} else {
		s.rated = append(s.rated, rated{})
	}
	s.at[t.ID] = i
	s.rated[i] = rated{Testcase: t}
	if t.Picked == 0 {
		s.pending = append(s.pending, t.ID)
	}
	s.count(&s.rated[i], 1)
	for f := range packed.All[uint64](t.Features) {
		s.hits[f]++
	}
	s.reweigh(i)
	for range min(reweighPerAdd, len(s.rated)) {
		s.next = (s.next + 1) % len(s.rated)
		s.reweigh(s.next)
	}
}

// Remove removes a testcase, if there is one with that id.
func (s *Weighted) Remove(id int) {
	i, ok := s.at[id]
	if !ok {
		return
	}
	t := &s.rated[i]
	s.count(t, -1)
	for f := range packed.All[uint64](t.Features) {
		if s.hits[f]--; s.hits[f] == 0 {
			delete(s.hits, f)
		}
	}
	*t = rated{Testcase: Testcase{ID: -1}}
	delete(s.at, id)
	s.free = append(s.free, i)
	s.weights.Set(i, 0)
}

func (s *Weighted) count(t *rated, sign float64) {
	s.work += sign * float64(t.Work)
	s.logWork += sign * math.Log2(float64(t.Work)+1)
	s.complexity += sign * t.Complexity
}

// reweigh brings a weight up to date with what has become common or rare since it was computed.
func (s *Weighted) reweigh(i int) {
	t := &s.rated[i]
	if t.ID < 0 {
		return
	}
	t.rare, t.favoured = 0, false
	for f := range packed.All[uint64](t.Features) {
		n := s.hits[f]
		t.rare += 1 / float64(max(n, 1))
		t.favoured = t.favoured || n <= 1
	}
	s.weights.Set(i, s.weigh(t))
}

// mean returns the mean of a sum over all testcases.
func (s *Weighted) mean(sum float64) float64 { return sum / float64(max(len(s.at), 1)) }

// weigh computes the weight of a testcase. Its bounds keep one property from deciding alone; they are about those of AFL++'s
// calculate_score, which multiplies by 0.1 to 3 for speed and by 0.25 to 3 for coverage.
func (s *Weighted) weigh(t *rated) uint64 {
	w := weightUnit * (0.5 + math.Log2(1+t.rare))
	if t.favoured {
		w *= 2
	}
	w *= within(s.mean(s.complexity)/max(t.Complexity, 1), 0.3, 2)
	if t.Work > 0 {
		w *= within(s.mean(s.work)/float64(t.Work), 0.15, 3)
	}
	w /= math.Log2(float64(t.Picked)/4 + 2)
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

// Next draws a testcase and counts a pick. Those that alone reach something and were never picked come first, the oldest before the others,
// as in AFL. The energy is little at first, so that every new testcase has its turn soon, and up to four times as much the more often it was
// picked, since the mutants that are easily found have been found. False: there is none.
func (s *Weighted) Next(r *rand.Rand) (id int, energy float64, ok bool) {
	i, ok := s.weights.Draw(r)
	if !ok {
		return 0, 0, false
	}
	if first, ok := s.firstPending(); ok {
		i = first
	}
	t := &s.rated[i]
	energy = within(float64(t.Picked)/2, 1, 4)
	energy *= damping(t.Complexity, s.mean(s.complexity)*largeFactor)
	energy *= damping(float64(t.Work), math.Exp2(s.mean(s.logWork))*expensiveFactor) // a plain mean would be that of the few expensive ones
	t.Picked++
	s.weights.Set(i, s.weigh(t))
	return t.ID, energy, true
}

// firstPending returns the place of the oldest testcase that was never picked and alone reaches something.
func (s *Weighted) firstPending() (i int, ok bool) {
	for len(s.pending) > 0 {
		i, ok = s.at[s.pending[0]]
		s.pending = s.pending[1:]
		if ok && s.rated[i].Picked == 0 && s.rated[i].favoured {
			return i, true
		}
	}
	return 0, false
}

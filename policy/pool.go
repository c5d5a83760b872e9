package policy

import (
	"slices"

	"github.com/teaselfuzz/teasel"
)

var (
	_ teasel.Pool = (*ranking[uint32])(nil)
	_ teasel.Pool = (*diverse)(nil)
	_ teasel.Pool = (*composed)(nil)
)

// release removes one reference to id and reports whether it was the last.
func release(refs map[teasel.ID]int, id teasel.ID) bool {
	if refs[id]--; refs[id] > 0 {
		return false
	}
	delete(refs, id)
	return true
}

// peak is the best testcase for a key.
type peak struct {
	id         teasel.ID
	value      float64
	complexity float64
}

// ranking keeps, for each key derived from measures, the testcase with the greatest value, or the simplest of several such testcases.
type ranking[K comparable] struct {
	measures func(o *teasel.Observation) []teasel.Measure
	key      func(teasel.Measure) K
	best     map[K]peak
	held     map[teasel.ID]int // number of keys for which a testcase is kept
}

func newRanking[K comparable](measures func(*teasel.Observation) []teasel.Measure, key func(teasel.Measure) K) *ranking[K] {
	return &ranking[K]{measures: measures, key: key, best: map[K]peak{}, held: map[teasel.ID]int{}}
}

func measures(o *teasel.Observation) []teasel.Measure { return o.Measures }

// NewUnique returns a pool that keeps the simplest testcase for each distinct value of each measure, like fuzzcheck's UniqueValuesPool.
func NewUnique() teasel.Pool {
	return newRanking(measures, func(m teasel.Measure) teasel.Measure { return m })
}

// NewMaximal returns a pool that keeps, for each measure, the testcase with the greatest value, or the simplest of several such
// testcases, like fuzzcheck's MaximiseEachCounter.
func NewMaximal() teasel.Pool {
	return newRanking(measures, func(m teasel.Measure) uint32 { return m.ID })
}

// NewTotal returns a pool that keeps the testcase with the greatest sum of measures, like fuzzcheck's MaximiseObservation of an
// aggregate.
func NewTotal() teasel.Pool {
	return newRanking(func(o *teasel.Observation) []teasel.Measure {
		if len(o.Measures) == 0 {
			return nil
		}
		sum := 0.0
		for _, m := range o.Measures {
			sum += m.Value
		}
		return []teasel.Measure{{Value: sum}}
	}, func(teasel.Measure) struct{} { return struct{}{} })
}

// NewBroadest returns a pool that keeps the testcase that reaches the most features.
func NewBroadest() teasel.Pool {
	return newRanking(func(o *teasel.Observation) []teasel.Measure {
		seen := map[teasel.Feature]struct{}{}
		for _, f := range o.Features {
			seen[f] = struct{}{}
		}
		if len(seen) == 0 {
			return nil
		}
		return []teasel.Measure{{Value: float64(len(seen))}}
	}, func(teasel.Measure) struct{} { return struct{}{} })
}

// Score implements [Scorer]. It returns the sum of the greatest values. They are added in sorted order, since the rounding of the sum
// depends on the order.
func (p *ranking[K]) Score() (sum float64) {
	values := make([]float64, 0, len(p.best))
	for _, b := range p.best {
		values = append(values, b.value)
	}
	slices.Sort(values)
	for _, v := range values {
		sum += v
	}
	return sum
}

func (p *ranking[K]) better(m teasel.Measure, c float64) bool {
	b, ok := p.best[p.key(m)]
	return m.Value == m.Value && (!ok || m.Value > b.value || m.Value == b.value && c < b.complexity) // a NaN would always be new
}

func (p *ranking[K]) Wants(o *teasel.Observation, c float64) bool {
	for _, m := range p.measures(o) {
		if p.better(m, c) {
			return true
		}
	}
	return false
}

func (p *ranking[K]) Offer(id teasel.ID, o *teasel.Observation, c float64) (d teasel.Delta) {
	for _, m := range p.measures(o) {
		if !p.better(m, c) {
			continue
		}
		old, ok := p.best[p.key(m)]
		p.best[p.key(m)] = peak{id, m.Value, c}
		p.held[id]++
		d.Added = true
		if ok && release(p.held, old.id) {
			d.Evicted = append(d.Evicted, old.id)
		}
	}
	return d
}

// diverse is fuzzcheck's MostNDiverse pool.
type diverse struct {
	n    int
	sets map[teasel.ID]map[teasel.Feature]struct{}
	hits map[teasel.Feature]int // number of kept testcases that reach a feature
	ids  []teasel.ID            // of the kept testcases, oldest first
}

// NewDiverse returns a pool of at most n testcases that together reach many features: a new testcase replaces the one that reaches the
// fewest features that no other reaches. If n <= 0, the pool keeps nothing.
func NewDiverse(n int) teasel.Pool {
	return &diverse{n: n, sets: map[teasel.ID]map[teasel.Feature]struct{}{}, hits: map[teasel.Feature]int{}}
}

// Score implements [Scorer]. It returns the number of features that the testcases reach together.
func (p *diverse) Score() float64 {
	n := 0
	for _, hits := range p.hits {
		if hits > 0 {
			n++
		}
	}
	return float64(n)
}

// least returns the kept testcase that reaches the fewest features which no other reaches, the youngest of several such testcases.
func (p *diverse) least() (at, alone int) {
	alone = -1
	for i, id := range p.ids {
		n := 0
		for f := range p.sets[id] {
			if p.hits[f] == 1 {
				n++
			}
		}
		if alone < 0 || n <= alone {
			at, alone = i, n
		}
	}
	return at, alone
}

func (p *diverse) fresh(o *teasel.Observation) int {
	seen := map[teasel.Feature]struct{}{}
	for _, f := range o.Features {
		if p.hits[f] == 0 {
			seen[f] = struct{}{}
		}
	}
	return len(seen)
}

func (p *diverse) Wants(o *teasel.Observation, _ float64) bool {
	if p.n <= 0 {
		return false
	}
	n := p.fresh(o)
	if n == 0 || len(p.ids) < p.n {
		return n > 0
	}
	_, alone := p.least()
	return n > alone
}

func (p *diverse) Offer(id teasel.ID, o *teasel.Observation, c float64) (d teasel.Delta) {
	if !p.Wants(o, c) {
		return d
	}
	if len(p.ids) == p.n {
		at, _ := p.least()
		old := p.ids[at]
		for f := range p.sets[old] {
			p.hits[f]--
		}
		delete(p.sets, old)
		p.ids = append(p.ids[:at], p.ids[at+1:]...)
		d.Evicted = []teasel.ID{old}
	}
	set := make(map[teasel.Feature]struct{}, len(o.Features))
	for _, f := range o.Features {
		if _, ok := set[f]; !ok {
			set[f] = struct{}{}
			p.hits[f]++
		}
	}
	p.sets[id], p.ids = set, append(p.ids, id)
	d.Added = true
	return d
}

type composed struct {
	pools []teasel.Pool
	refs  map[teasel.ID]int
}

// Compose returns a pool that keeps a testcase as long as any of the given pools keeps it.
func Compose(pools ...teasel.Pool) teasel.Pool {
	return &composed{pools: pools, refs: map[teasel.ID]int{}}
}

func (p *composed) Wants(o *teasel.Observation, c float64) bool {
	for _, q := range p.pools {
		if q.Wants(o, c) {
			return true
		}
	}
	return false
}

func (p *composed) Offer(id teasel.ID, o *teasel.Observation, c float64) (d teasel.Delta) {
	var gone []teasel.ID
	for _, q := range p.pools {
		e := q.Offer(id, o, c)
		if e.Added {
			p.refs[id]++
			d.Added = true
		}
		gone = append(gone, e.Evicted...)
	}
	for _, g := range gone {
		if release(p.refs, g) {
			d.Evicted = append(d.Evicted, g)
		}
	}
	return d
}

// limited is a pool that is given only some of the measures.
type limited struct {
	teasel.Pool
	ids []uint32
}

// Limit returns a pool that passes only the measures with these ids to p.
func Limit(p teasel.Pool, ids ...uint32) teasel.Pool { return &limited{p, ids} }

func (p *limited) seen(o *teasel.Observation) *teasel.Observation {
	c := &teasel.Observation{Exit: o.Exit, Work: o.Work, Features: o.Features}
	for _, m := range o.Measures {
		if slices.Contains(p.ids, m.ID) {
			c.Measures = append(c.Measures, m)
		}
	}
	return c
}

func (p *limited) Wants(o *teasel.Observation, c float64) bool { return p.Pool.Wants(p.seen(o), c) }

func (p *limited) Offer(id teasel.ID, o *teasel.Observation, c float64) teasel.Delta {
	return p.Pool.Offer(id, p.seen(o), c)
}

// Score implements [Scorer]. It returns 0 if the pool is not a Scorer.
func (p *limited) Score() float64 {
	if s, ok := p.Pool.(Scorer); ok {
		return s.Score()
	}
	return 0
}

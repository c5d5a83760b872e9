package policy

import "github.com/teaselfuzz/teasel"

var (
	_ teasel.Pool = (*unique)(nil)
	_ teasel.Pool = (*diverse)(nil)
	_ teasel.Pool = (*maximal)(nil)
	_ teasel.Pool = (*composed)(nil)
)

type holder struct {
	id         teasel.ID
	complexity float64
}

// release takes one reference of id back and reports whether it was the last.
func release(refs map[teasel.ID]int, id teasel.ID) bool {
	if refs[id]--; refs[id] > 0 {
		return false
	}
	delete(refs, id)
	return true
}

// unique is fuzzcheck's UniqueValuesPool.
type unique struct {
	best map[teasel.Measure]holder
	held map[teasel.ID]int
}

// NewUnique returns a pool that keeps the simplest testcase of every distinct value of every measure.
func NewUnique() teasel.Pool {
	return &unique{best: map[teasel.Measure]holder{}, held: map[teasel.ID]int{}}
}

func (p *unique) better(m teasel.Measure, c float64) bool {
	h, ok := p.best[m]
	return m.Value == m.Value && (!ok || c < h.complexity) // a NaN would be new for ever
}

func (p *unique) Wants(o *teasel.Observation, c float64) bool {
	for _, m := range o.Measures {
		if p.better(m, c) {
			return true
		}
	}
	return false
}

func (p *unique) Offer(id teasel.ID, o *teasel.Observation, c float64) (d teasel.Delta) {
	for _, m := range o.Measures {
		if !p.better(m, c) {
			continue
		}
		h, ok := p.best[m]
		p.best[m] = holder{id, c}
		p.held[id]++
		d.Added = true
		if ok && release(p.held, h.id) {
			d.Evicted = append(d.Evicted, h.id)
		}
	}
	return d
}

// diverse is fuzzcheck's MostNDiverse.
type diverse struct {
	n    int
	sets map[teasel.ID]map[teasel.Feature]struct{}
	hits map[teasel.Feature]int // how many kept testcases reach it
	ids  []teasel.ID            // oldest first
}

// NewDiverse returns a pool of at most n testcases which together reach as many features as it can manage: a new
// one takes the place of the one that adds least to the others.
func NewDiverse(n int) teasel.Pool {
	return &diverse{n: n, sets: map[teasel.ID]map[teasel.Feature]struct{}{}, hits: map[teasel.Feature]int{}}
}

// least returns the kept testcase that alone reaches the fewest features, the youngest of several.
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

type peak struct {
	holder
	value float64
}

// maximal is fuzzcheck's MaximiseEachCounter.
type maximal struct {
	best map[uint32]peak
	held map[teasel.ID]int
}

// NewMaximal returns a pool that keeps, for every measure, the testcase with the greatest value, the simplest of
// several.
func NewMaximal() teasel.Pool { return &maximal{best: map[uint32]peak{}, held: map[teasel.ID]int{}} }

func (p *maximal) better(m teasel.Measure, c float64) bool {
	b, ok := p.best[m.ID]
	return m.Value == m.Value && (!ok || m.Value > b.value || m.Value == b.value && c < b.complexity)
}

func (p *maximal) Wants(o *teasel.Observation, c float64) bool {
	for _, m := range o.Measures {
		if p.better(m, c) {
			return true
		}
	}
	return false
}

func (p *maximal) Offer(id teasel.ID, o *teasel.Observation, c float64) (d teasel.Delta) {
	for _, m := range o.Measures {
		if !p.better(m, c) {
			continue
		}
		old, ok := p.best[m.ID]
		p.best[m.ID] = peak{holder{id, c}, m.Value}
		p.held[id]++
		d.Added = true
		if ok && release(p.held, old.id) && old.id != id {
			d.Evicted = append(d.Evicted, old.id)
		}
	}
	return d
}

type composed struct {
	pools []teasel.Pool
	refs  map[teasel.ID]int
}

// Compose returns a pool that keeps what any of the pools keeps.
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

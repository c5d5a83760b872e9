package teasel

// Delta says how an offer changed a pool.
type Delta struct {
	Added   bool
	Evicted []ID
}

// A Pool decides which testcases are kept. It sees ids, features and numbers, never inputs, and has one owner.
// Which testcases it keeps may depend on the order of offers, on nothing else. Of an observation it may use Features, Measures and
// Work: the hub, and a worker that is given testcases of others, know no more of them. It must not retain the slices.
type Pool interface {
	// Wants reports whether Offer would add a testcase. It must be cheap and change nothing.
	Wants(obs *Observation, complexity float64) bool
	// Offer adds a testcase if it is wanted and drops those it makes useless.
	Offer(id ID, obs *Observation, complexity float64) Delta
}

var _ Pool = (*simplest)(nil)

type holder struct {
	id         ID
	complexity float64
}

// simplest is fuzzcheck's SimplestToActivateCounter; what it keeps is AFL's favoured set with complexity for speed
// times length.
type simplest struct {
	best map[Feature]holder
	held map[ID]int // features a testcase is the simplest of
}

// NewPool returns a pool that keeps the simplest testcase of every feature.
func NewPool() Pool {
	return &simplest{best: map[Feature]holder{}, held: map[ID]int{}}
}

func (p *simplest) Wants(o *Observation, c float64) bool {
	for _, f := range o.Features {
		if h, ok := p.best[f]; !ok || c < h.complexity {
			return true
		}
	}
	return false
}

func (p *simplest) Offer(id ID, o *Observation, c float64) (d Delta) {
	for _, f := range o.Features {
		h, ok := p.best[f]
		if ok && h.complexity <= c {
			continue
		}
		p.best[f] = holder{id, c}
		p.held[id]++
		d.Added = true
		if !ok {
			continue
		}
		if p.held[h.id]--; p.held[h.id] == 0 {
			delete(p.held, h.id)
			d.Evicted = append(d.Evicted, h.id)
		}
	}
	return d
}

package policy

import (
	"cmp"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/fenwick"
)

// Portfolio combines pools, like fuzzcheck's AndPool. A testcase is kept as long as any of the pools keeps it. To pick a testcase, a
// pool is drawn by weight, and then one of the testcases that it holds. Set NewPool of a teasel.Campaign to the method [Portfolio.NewPool]:
// its workers use the scheduler of the pool, unless the campaign has another one. The zero value has no pools and keeps nothing.
type Portfolio []Part

// Part is one pool of a portfolio.
type Part struct {
	Name         string                  // unique name for statistics
	Weight       float64                 // how often the pool is drawn, relative to the others; 0: 1; negative: never
	New          func() teasel.Pool      // makes the pool; nil: teasel.NewPool
	NewScheduler func() teasel.Scheduler // makes the scheduler that picks within the pool; nil: teasel.NewScheduler
}

func (p *Part) pool() teasel.Pool {
	if p.New == nil {
		return teasel.NewPool()
	}
	return p.New()
}

func (p *Part) scheduler() teasel.Scheduler {
	if p.NewScheduler == nil {
		return teasel.NewScheduler()
	}
	return p.NewScheduler()
}

// Combined is the pool of a portfolio. It is for one goroutine at a time.
type Combined struct {
	teasel.Pool // the composed pools of the parts
	parts       []*member
	sched       *combinedScheduler // nil: Scheduler was not called
}

// member is a part of a Combined.
type member struct {
	Part
	pool  teasel.Pool
	held  map[teasel.ID]struct{}
	stats PoolStats

	sched  teasel.Scheduler
	listed map[teasel.ID]struct{} // testcases that were added to sched
}

var (
	_ teasel.Pool      = (*Combined)(nil)
	_ teasel.Pool      = (*member)(nil)
	_ teasel.Scheduler = (*combinedScheduler)(nil)
)

// PoolStats are the statistics of one pool.
type PoolStats struct {
	Name    string
	Size    int     // number of testcases in the pool
	Score   float64 // score of a [Scorer], such as a number of features or a total; Size for other pools
	Added   uint64  // number of testcases added so far
	Evicted uint64  // number of testcases evicted so far
}

// Scorer is a pool with a score of its testcases together, the higher the better.
type Scorer interface{ Score() float64 }

// NewPool returns a new pool of the portfolio.
func (p Portfolio) NewPool() teasel.Pool { return p.Pool() }

// Pool returns a new pool of the portfolio, with access to its statistics.
func (p Portfolio) Pool() *Combined {
	c := &Combined{}
	var pools []teasel.Pool
	for _, part := range p {
		m := &member{Part: part, pool: part.pool(), held: map[teasel.ID]struct{}{}, stats: PoolStats{Name: part.Name}}
		c.parts, pools = append(c.parts, m), append(pools, m)
	}
	c.Pool = Compose(pools...)
	return c
}

// Wants implements [teasel.Pool].
func (m *member) Wants(o *teasel.Observation, complexity float64) bool {
	return m.pool.Wants(o, complexity)
}

// Offer implements [teasel.Pool].
func (m *member) Offer(id teasel.ID, o *teasel.Observation, complexity float64) teasel.Delta {
	d := m.pool.Offer(id, o, complexity)
	if d.Added {
		m.held[id] = struct{}{}
		m.stats.Added++
	}
	for _, g := range d.Evicted {
		delete(m.held, g)
		m.stats.Evicted++
		m.drop(g)
	}
	return d
}

// Stats returns the statistics of the pools, in the order of the portfolio.
func (c *Combined) Stats() (out []PoolStats) {
	for _, m := range c.parts {
		s := m.stats
		s.Size = len(m.held)
		s.Score = float64(s.Size)
		if x, ok := m.pool.(Scorer); ok {
			s.Score = x.Score()
		}
		out = append(out, s)
	}
	return out
}

// combinedScheduler picks from the pools of a Combined. A testcase is added to the scheduler of each pool that holds it.
type combinedScheduler struct {
	parts  []*member
	weight fenwick.Weights // of the parts that hold a testcase
	last   int             // the part of the last pick
}

// Scheduler returns the scheduler of the pool; further calls return the same one. A testcase must be offered to the pool before it is
// added to the scheduler, as workers do.
func (c *Combined) Scheduler() teasel.Scheduler {
	if c.sched == nil {
		c.sched = &combinedScheduler{parts: c.parts}
		for _, m := range c.parts {
			m.sched, m.listed = m.scheduler(), map[teasel.ID]struct{}{}
		}
	}
	return c.sched
}

// Add implements [teasel.Scheduler].
func (s *combinedScheduler) Add(r teasel.Rating) {
	for _, m := range s.parts {
		if _, ok := m.held[r.ID]; ok {
			m.listed[r.ID] = struct{}{}
			m.sched.Add(r)
		}
	}
}

func (m *member) drop(id teasel.ID) {
	if _, ok := m.listed[id]; ok {
		delete(m.listed, id)
		m.sched.Remove(id)
	}
}

// Remove implements [teasel.Scheduler].
func (s *combinedScheduler) Remove(id teasel.ID) {
	for _, m := range s.parts {
		m.drop(id)
	}
}

// weigh sets the weights of parts: 0 for those that hold no testcase.
func (s *combinedScheduler) weigh() {
	for i, m := range s.parts {
		w := uint64(0)
		if len(m.listed) > 0 && m.Weight >= 0 {
			w = max(uint64(cmp.Or(m.Weight, 1)*weightUnit), 1)
		}
		s.weight.Set(i, w)
	}
}

// Next implements [teasel.Scheduler].
func (s *combinedScheduler) Next(r *teasel.Rand) (teasel.Pick, bool) {
	s.weigh()
	at, ok := s.weight.Draw(r)
	if !ok { // only parts with a negative weight hold testcases
		at = slices.IndexFunc(s.parts, func(m *member) bool { return len(m.listed) > 0 })
		if at < 0 {
			return teasel.Pick{}, false
		}
	}
	s.last = at
	return s.parts[at].sched.Next(r)
}

// Done implements [teasel.Scheduler].
func (s *combinedScheduler) Done(p teasel.Pick, executions uint64, kept int) {
	s.parts[s.last].sched.Done(p, executions, kept)
}

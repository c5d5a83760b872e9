package policy

import (
	"cmp"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/fenwick"
)

// Portfolio combines pools: a testcase is kept while any of them wants it, and the next one to work on is picked by
// drawing a pool by its weight and then a testcase that it holds (fuzzcheck's AndPool). NewPool goes into a
// teasel.Campaign, whose workers pick from such a pool by the scheduler that it has, unless the campaign has another one.
// The zero value has no pools and keeps nothing.
type Portfolio []Part

// Part is one pool of a portfolio.
type Part struct {
	Name         string                  // in statistics; unique
	Weight       float64                 // how often testcases are picked from it, relative to the others; 0: 1; negative: never
	New          func() teasel.Pool      // makes the pool; nil: teasel.NewPool
	NewScheduler func() teasel.Scheduler // picks within the pool; nil: teasel.NewScheduler
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

// Combined is the pool of a portfolio. It has one owner.
type Combined struct {
	teasel.Pool // of the parts, composed
	parts       []*member
	sched       *combinedScheduler // nil: nobody picks
}

// member is a pool of a portfolio at work.
type member struct {
	Part
	pool  teasel.Pool
	held  map[teasel.ID]struct{}
	stats PoolStats

	sched  teasel.Scheduler
	listed map[teasel.ID]struct{} // known to sched
}

var (
	_ teasel.Pool      = (*Combined)(nil)
	_ teasel.Pool      = (*member)(nil)
	_ teasel.Scheduler = (*combinedScheduler)(nil)
)

// PoolStats is what one pool has come to.
type PoolStats struct {
	Name    string
	Size    int     // testcases that it holds
	Score   float64 // what the pool itself counts as good, such as features or a total; its size if it does not say
	Added   uint64  // testcases that it has taken
	Evicted uint64  // and dropped
}

// Scorer is a pool that has a measure of how good its testcases are together.
type Scorer interface{ Score() float64 }

// NewPool returns the pool.
func (p Portfolio) NewPool() teasel.Pool { return p.Pool() }

// Pool returns the pool, for those who want its statistics.
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

// Wants implements teasel.Pool.
func (m *member) Wants(o *teasel.Observation, complexity float64) bool {
	return m.pool.Wants(o, complexity)
}

// Offer implements teasel.Pool.
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

// combinedScheduler picks from the pools of the worker. A testcase is known to the scheduler of each pool that holds it.
type combinedScheduler struct {
	parts  []*member
	weight fenwick.Weights // of the parts that hold something
	last   int             // the part of the last pick
}

// Scheduler returns the scheduler of the pool, always the same one. It picks testcases that were offered to the pool
// before they were added to it, as a worker does.
func (c *Combined) Scheduler() teasel.Scheduler {
	if c.sched == nil {
		c.sched = &combinedScheduler{parts: c.parts}
		for _, m := range c.parts {
			m.sched, m.listed = m.scheduler(), map[teasel.ID]struct{}{}
		}
	}
	return c.sched
}

// Add implements teasel.Scheduler.
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

// Remove implements teasel.Scheduler.
func (s *combinedScheduler) Remove(id teasel.ID) {
	for _, m := range s.parts {
		m.drop(id)
	}
}

// weigh makes parts that hold nothing weigh nothing.
func (s *combinedScheduler) weigh() {
	for i, m := range s.parts {
		w := uint64(0)
		if len(m.listed) > 0 && m.Weight >= 0 {
			w = max(uint64(cmp.Or(m.Weight, 1)*weightUnit), 1)
		}
		s.weight.Set(i, w)
	}
}

// Next implements teasel.Scheduler.
func (s *combinedScheduler) Next(r *teasel.Rand) (teasel.Pick, bool) {
	s.weigh()
	at, ok := s.weight.Draw(r)
	if !ok { // those that are never picked from hold all that there is
		at = slices.IndexFunc(s.parts, func(m *member) bool { return len(m.listed) > 0 })
		if at < 0 {
			return teasel.Pick{}, false
		}
	}
	s.last = at
	return s.parts[at].sched.Next(r)
}

// Done implements teasel.Scheduler.
func (s *combinedScheduler) Done(p teasel.Pick, executions uint64, kept int) {
	s.parts[s.last].sched.Done(p, executions, kept)
}

package policy

import (
	"cmp"
	"path"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/fenwick"
)

// Portfolio combines pools: a testcase is kept while any of them wants it, and the next one to work on is picked by
// drawing a pool by its weight and then a testcase that it holds (fuzzcheck's AndPool). NewPool and NewScheduler go into a
// teasel.Campaign; what they return has one owner each. The zero value has no pools and keeps nothing.
type Portfolio []Part

// Part is one pool of a portfolio.
type Part struct {
	Name         string                  // in statistics, and of the pool's directory; unique
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

// Combined is the pool of a portfolio.
type Combined struct {
	parts   []*member
	holders map[teasel.ID]int // how many pools hold a testcase
	last    []PoolDelta
}

// member is a pool of a portfolio at work.
type member struct {
	Part
	pool  teasel.Pool
	held  map[teasel.ID]struct{}
	stats PoolStats
}

var (
	_ teasel.Pool      = (*Combined)(nil)
	_ teasel.Scheduler = (*combinedScheduler)(nil)
)

// PoolDelta says how the last offer changed one pool.
type PoolDelta struct {
	Path string // of the directory with the pool's testcases, relative to that of the statistics
	teasel.Delta
}

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
	c := &Combined{holders: map[teasel.ID]int{}}
	for _, part := range p {
		c.parts = append(c.parts, &member{Part: part, pool: part.pool(), held: map[teasel.ID]struct{}{}, stats: PoolStats{Name: part.Name}})
	}
	return c
}

// Wants implements teasel.Pool.
func (c *Combined) Wants(o *teasel.Observation, complexity float64) bool {
	for _, m := range c.parts {
		if m.pool.Wants(o, complexity) {
			return true
		}
	}
	return false
}

// Offer implements teasel.Pool.
func (c *Combined) Offer(id teasel.ID, o *teasel.Observation, complexity float64) (d teasel.Delta) {
	c.last = c.last[:0]
	var gone []teasel.ID
	for _, m := range c.parts {
		e := m.offer(id, o, complexity)
		if !e.Added {
			continue
		}
		c.last = append(c.last, PoolDelta{path.Join("pools", m.Name), e})
		c.holders[id]++
		d.Added = true
		gone = append(gone, e.Evicted...)
	}
	for _, g := range gone {
		if release(c.holders, g) {
			d.Evicted = append(d.Evicted, g)
		}
	}
	return d
}

func (m *member) offer(id teasel.ID, o *teasel.Observation, complexity float64) teasel.Delta {
	d := m.pool.Offer(id, o, complexity)
	if d.Added {
		m.held[id] = struct{}{}
		m.stats.Added++
	}
	for _, g := range d.Evicted {
		delete(m.held, g)
		m.stats.Evicted++
	}
	return d
}

// Deltas returns how the last offer changed each pool, those that took nothing left out. It is good until the next offer.
func (c *Combined) Deltas() []PoolDelta { return c.last }

// Holders returns the names of the pools that hold a testcase, in the order of the portfolio.
func (c *Combined) Holders(id teasel.ID) (names []string) {
	for _, m := range c.parts {
		if _, ok := m.held[id]; ok {
			names = append(names, m.Name)
		}
	}
	return names
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

// combinedScheduler has pools of its own, to which it offers what it is given: so it knows which of them hold a testcase,
// whoever owns the worker's pool.
type combinedScheduler struct {
	parts  []*picker
	weight fenwick.Weights // of the parts that hold something
	last   int             // the part of the last pick
}

type picker struct {
	member
	sched  teasel.Scheduler
	listed map[teasel.ID]struct{} // known to sched
}

// NewScheduler returns the scheduler.
func (p Portfolio) NewScheduler() teasel.Scheduler {
	s := &combinedScheduler{}
	for _, part := range p {
		s.parts = append(s.parts, &picker{member: member{Part: part, pool: part.pool(), held: map[teasel.ID]struct{}{}}, sched: part.scheduler(),
			listed: map[teasel.ID]struct{}{}})
	}
	return s
}

// Add implements teasel.Scheduler.
func (s *combinedScheduler) Add(r teasel.Rating) {
	o := &teasel.Observation{Exit: teasel.ExitOK, Features: r.Features.Append(nil), Measures: r.Measures, Work: r.Work}
	taken := false
	for i, p := range s.parts {
		d := p.offer(r.ID, o, r.Complexity)
		for _, g := range d.Evicted {
			p.drop(g)
		}
		if d.Added {
			p.list(r)
			taken = true
		}
		s.weigh(i)
	}
	if !taken && len(s.parts) > 0 { // the pools have seen more than the worker's, so its last testcases would never be picked
		s.parts[0].list(r)
		s.weigh(0)
	}
}

func (p *picker) list(r teasel.Rating) {
	p.listed[r.ID] = struct{}{}
	p.sched.Add(r)
}

func (p *picker) drop(id teasel.ID) {
	if _, ok := p.listed[id]; ok {
		delete(p.listed, id)
		p.sched.Remove(id)
	}
}

// Remove implements teasel.Scheduler.
func (s *combinedScheduler) Remove(id teasel.ID) {
	for i, p := range s.parts {
		p.drop(id)
		s.weigh(i)
	}
}

// weigh makes parts that hold nothing weigh nothing.
func (s *combinedScheduler) weigh(i int) {
	p, w := s.parts[i], uint64(0)
	if len(p.listed) > 0 && p.Weight >= 0 {
		w = max(uint64(cmp.Or(p.Weight, 1)*weightUnit), 1)
	}
	s.weight.Set(i, w)
}

// Next implements teasel.Scheduler.
func (s *combinedScheduler) Next(r *teasel.Rand) (teasel.Pick, bool) {
	at, ok := s.weight.Draw(r)
	if !ok { // those that are never picked from hold all that there is
		at = slices.IndexFunc(s.parts, func(p *picker) bool { return len(p.listed) > 0 })
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

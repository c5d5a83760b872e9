package session

import (
	"sync"

	"github.com/teaselfuzz/teasel"
)

// Combiner makes one campaign of many for those who look on: what happens in each is reported, and their statistics are
// added up. Reporters may be called at once.
type Combiner struct {
	To teasel.Reporter

	mu    sync.Mutex
	stats []teasel.Stats // the last of each campaign
}

// Reporter returns the reporter of one more campaign.
func (c *Combiner) Reporter() teasel.Reporter {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats = append(c.stats, teasel.Stats{})
	return &member{c, len(c.stats) - 1}
}

type member struct {
	c     *Combiner
	index int
}

// Report implements [teasel.Reporter].
func (s *member) Report(e teasel.Event) error {
	c := s.c
	c.mu.Lock()
	defer c.mu.Unlock()
	switch e.Kind {
	case teasel.EventProgress:
		c.stats[s.index] = e.Stats
		e.Stats = Sum(c.stats)
		if len(c.stats) > 1 {
			e.Workers = nil // each campaign numbers its own
		}
	}
	return c.To.Report(e)
}

// Sum adds the statistics of campaigns that ran side by side. Findings that several have are counted in each, and stability is that of
// what those have reached of which it was measured.
func Sum(all []teasel.Stats) (sum teasel.Stats) {
	stages := map[string]int{}
	stable, reached := 0.0, 0.0
	for _, s := range all {
		sum.Elapsed, sum.LastKept, sum.LastFound = max(sum.Elapsed, s.Elapsed), max(sum.LastKept, s.LastKept), max(sum.LastFound, s.LastFound)
		sum.Executions += s.Executions
		sum.Corpus += s.Corpus
		sum.Evicted += s.Evicted
		sum.Features += s.Features
		sum.Messages += s.Messages
		sum.Seeds += s.Seeds
		sum.SeedsRun += s.SeedsRun
		sum.Waiting += s.Waiting
		sum.Findings += s.Findings
		sum.Pending += s.Pending
		if s.Stability > 0 {
			stable, reached = stable+float64(s.Features), reached+float64(s.Features)/s.Stability
		}
		sum.Workers += s.Workers
		sum.Memory = max(sum.Memory, s.Memory) // of this process, which is the same one
		for _, g := range s.Stages {
			at, ok := stages[g.Name]
			if !ok {
				at = len(sum.Stages)
				stages[g.Name] = at
				sum.Stages = append(sum.Stages, teasel.StageStats{Name: g.Name})
			}
			sum.Stages[at].Executions += g.Executions
			sum.Stages[at].Time += g.Time
			sum.Stages[at].Kept += g.Kept
			sum.Stages[at].Planned += g.Planned
		}
	}
	if reached > 0 {
		sum.Stability = stable / reached
	}
	return sum
}

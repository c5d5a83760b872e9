package teasel

import (
	"fmt"
	"slices"
	"time"
)

// Snapshot is what a stopped campaign needs to carry on.
type Snapshot struct {
	Elapsed    time.Duration
	Executions uint64
	Messages   uint64
	Workers    []WorkerState // by number
	Waiting    int           // how many of the last seeds may not have been run
	Entries    []Entry       // in order of arrival; those that were never run are seeds
	Evicted    int
	Findings   []Finding
	Untried    []Finding // that there was no time to reproduce: workers try them when the campaign goes on
	Unstable   []Feature // sorted
	Stages     []StageStats
	LastKept   time.Duration // on the clock of Elapsed
	LastFound  time.Duration
}

// Resume takes over where another run stopped. Entries that were run are taken as they are, the others are seeds. Findings that
// there was no time to reproduce are errands.
func (h *Hub) Resume(s *Snapshot) error {
	for _, fs := range [...][]Finding{s.Findings, s.Untried} {
		for i := range fs {
			if err := fs[i].check(); err != nil {
				return fmt.Errorf("resuming: %w", err)
			}
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	h.before, h.workers = s.Elapsed, slices.Clone(s.Workers)
	h.stats.Executions, h.stats.Messages, h.stats.Evicted, h.stats.LastKept, h.stats.LastFound = s.Executions, s.Messages, s.Evicted, s.LastKept, s.LastFound
	h.unstable.add(s.Unstable, noWorker)
	h.unstable.reported = len(h.unstable.order)
	for _, e := range s.Entries {
		if e.Runs == 0 {
			h.seeds.add(e)
		} else {
			h.offer(noWorker, e)
		}
	}
	for _, f := range s.Findings {
		h.findings.put(f)
	}
	for _, f := range s.Untried {
		h.errand(Errand{Finding: f, Worker: -1})
	}
	for _, st := range s.Stages {
		h.stages[st.Name] = &st
	}
	return h.takeFailure()
}

// Snapshot returns what a later run needs to carry on.
func (h *Hub) Snapshot() Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	now := h.now()
	untried := slices.DeleteFunc(h.findings.unconfirmed(), func(f Finding) bool { return f.Tries > 0 })
	return Snapshot{Elapsed: now.Elapsed, Executions: now.Executions, Messages: now.Messages, Workers: slices.Clone(h.workers),
		Waiting: now.Waiting, Entries: h.kept.all(), Evicted: now.Evicted, Findings: h.findings.sorted(), Untried: untried,
		Unstable: h.unstable.sorted(), Stages: now.Stages, LastKept: now.LastKept, LastFound: now.LastFound}
}

package corpus

import (
	"maps"
	"slices"

	"github.com/teaselfuzz/teasel"
)

// state is what campaign.json and the journal tell together. Playing the same records gives the same state.
type state struct {
	stats    teasel.Stats
	stopped  string
	workers  []teasel.WorkerState
	unstable []teasel.Feature         // in order of discovery
	order    []string                 // keys as they came; some of them evicted since
	entries  map[string]*teasel.Entry // what is kept, without the bytes
	findings map[string]*teasel.Finding
	counts   map[string]uint64 // occurrences, also of findings that have no file
	picks    uint64            // how often testcases were chosen
	unlucky  uint64            // picks when the last testcase came
	current  string            // key of the testcase that was chosen last
}

func newState() state {
	return state{entries: map[string]*teasel.Entry{}, findings: map[string]*teasel.Finding{}, counts: map[string]uint64{}}
}

func (s *state) apply(r *record) {
	if r.Added != nil {
		s.add(r.Added.entry())
		s.unlucky = s.picks
	}
	if e := s.entries[r.Evicted]; e != nil {
		delete(s.entries, r.Evicted)
		s.stats.Evicted++
	}
	if r.Found != "" {
		s.counts[r.Found] = max(s.counts[r.Found], 1)
	}
	if r.Stats != nil {
		s.stats, s.stopped = r.Stats.stats(), "" // it goes on
	}
	for _, w := range r.Workers {
		i := slices.IndexFunc(s.workers, func(o teasel.WorkerState) bool { return o.Number == w.Number })
		if i < 0 {
			i = len(s.workers)
			s.workers = append(s.workers, teasel.WorkerState{})
		}
		s.workers[i] = teasel.WorkerState(w)
	}
	for _, a := range r.Advances {
		if e := s.entries[a.Key]; e != nil {
			s.picks += a.Picked - min(a.Picked, e.Picked)
			e.Step, e.Picked, s.current = a.Step, a.Picked, a.Key
		}
	}
	s.unstable = r.Unstable.Append(s.unstable)
	for id, n := range r.Occurrences {
		s.counts[id] = max(s.counts[id], n)
	}
	if r.Stopped != "" {
		s.stopped = r.Stopped
	}
}

func (s *state) add(e *teasel.Entry) {
	if s.entries[e.Key] == nil {
		s.order = append(s.order, e.Key)
	}
	s.entries[e.Key] = e
	s.picks += e.Picked
}

// kept returns the testcases in order of arrival, and forgets the places of evicted ones.
func (s *state) kept() []*teasel.Entry {
	out, order := make([]*teasel.Entry, 0, len(s.entries)), s.order[:0]
	placed := make(map[string]bool, len(s.entries))
	for _, k := range s.order {
		if e := s.entries[k]; e != nil && !placed[k] {
			placed[k] = true
			out, order = append(out, e), append(order, k)
		}
	}
	s.order = order
	return out
}

func (s *state) ids() []string { return slices.Sorted(maps.Keys(s.counts)) }

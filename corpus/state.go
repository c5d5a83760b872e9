package corpus

import (
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
)

// state is the content of campaign.json with the records of the journals applied to it. The same records give the same state.
type state struct {
	stats       teasel.Stats
	stopped     string
	untested    string // see Dir.SetUntested
	workers     []teasel.WorkerState
	unstable    []teasel.Feature // in order of discovery
	list        []*teasel.Entry  // testcases in order of arrival, without their bytes; nil: evicted since. An entry is replaced, never changed
	at          map[string]int   // places in list, by key
	findings    map[string]*teasel.Finding
	counts      map[string]uint64  // occurrences, also of findings that have no file
	last        map[string]seconds // run time at the last finding whose input is in a folder
	picks       uint64             // how often testcases were picked
	picksBefore uint64             // picks when the last testcase was added
	current     string             // key of the testcase that was picked last
	pending     int                // testcases never picked
	found       int                // testcases that are no seeds
	depth       int                // most mutations between a testcase and its seed
}

func newState() state {
	return state{at: map[string]int{}, findings: map[string]*teasel.Finding{}, counts: map[string]uint64{}, last: map[string]seconds{}}
}

// apply applies a record of the journal.
func (s *state) apply(r *record) {
	if r.Added != nil {
		s.add(r.Added.entry())
		s.picksBefore = s.picks
	}
	if s.remove(r.Evicted) {
		s.stats.Evicted++
	}
	if r.Found != "" {
		s.counts[r.Found] = max(s.counts[r.Found], 1)
	}
	if r.Folder != "" {
		s.last[r.Folder] = r.At
	}
	if r.Stats != nil {
		s.stats, s.stopped, s.untested = r.Stats.stats(), "", "" // the campaign goes on
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
		if e := s.entry(a.Key); e != nil {
			s.picks += a.Picked - min(a.Picked, e.Picked)
			moved := *e
			moved.Step, moved.Picked, moved.LastPicked, s.current = a.Step, a.Picked, time.Duration(a.At), a.Key
			s.put(&moved)
		}
	}
	s.unstable = r.Unstable.Append(s.unstable)
	for id, n := range r.Occurrences {
		s.counts[id] = max(s.counts[id], n)
	}
	if r.Stopped != "" {
		s.stopped = r.Stopped
	}
	if r.Untested != "" {
		s.untested = r.Untested
	}
}

// entry returns the testcase with a key, nil if there is none.
func (s *state) entry(key string) *teasel.Entry {
	if i, ok := s.at[key]; ok {
		return s.list[i]
	}
	return nil
}

func (s *state) add(e *teasel.Entry) {
	s.put(e)
	s.picks += e.Picked
}

// put adds a testcase, or replaces the one with its key.
func (s *state) put(e *teasel.Entry) {
	if old := s.entry(e.Key); old != nil {
		s.count(old, -1)
		s.list[s.at[e.Key]] = e
	} else {
		s.at[e.Key] = len(s.list)
		s.list = append(s.list, e)
	}
	s.count(e, 1)
	s.depth = max(s.depth, e.Depth)
}

func (s *state) count(e *teasel.Entry, n int) {
	if e.Picked == 0 {
		s.pending += n
	}
	if e.Stage != "" {
		s.found += n
	}
}

// remove evicts a testcase and reports whether there was one. The list is compacted when half of its places are empty.
func (s *state) remove(key string) bool {
	e := s.entry(key)
	if e == nil {
		return false
	}
	s.count(e, -1)
	s.list[s.at[key]] = nil
	delete(s.at, key)
	if len(s.at) < len(s.list)/2 {
		s.list = slices.Collect(s.kept())
		for i, e := range s.list {
			s.at[e.Key] = i
		}
	}
	return true
}

// kept yields the testcases in order of arrival.
func (s *state) kept() iter.Seq[*teasel.Entry] {
	return func(yield func(*teasel.Entry) bool) {
		for _, e := range s.list {
			if e != nil && !yield(e) {
				return
			}
		}
	}
}

func (s *state) ids() []string { return slices.Sorted(maps.Keys(s.counts)) }

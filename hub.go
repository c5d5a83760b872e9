package teasel

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Hub is the single owner of a campaign's corpus and findings. It knows nothing of the type of input. Its fields are
// set before the first call; its methods may be called concurrently.
type Hub struct {
	Pool      Pool                  // nil: NewPool
	Reporters []Reporter            // called in this order
	Pause     *Pause                // holds workers up; nil: nothing does
	StopAfter int                   // findings after which the campaign ends; 0: never
	Counts    func(f *Finding) bool // which of them StopAfter counts; nil: all but those for information
	Runs      uint64                // executions after which it ends; 0: never

	mu       sync.Mutex
	ready    bool
	begun    time.Time
	before   time.Duration // elapsed in earlier runs
	paused   time.Duration // what Pause had counted when the hub began
	seeds    seedQueue
	links    []*link // of the workers that have not left, in order of joining
	joined   int     // workers so far
	kept     entryLog
	scratch  []Feature
	features map[Feature]struct{} // stable ones that any testcase has reached
	unstable unstableSet
	findings findingSet
	errands  errandQueue
	stages   map[string]*StageStats
	workers  []WorkerState
	advanced map[string]Advance // by key, since the last progress event
	stats    Stats
	ended    []SeedEnd // since the last progress event
	stopped  string    // why it ends; "": it goes on
	failure  error     // of reporters, since the last call of takeFailure
}

// begin must be called with the lock held.
func (h *Hub) begin() {
	if h.ready {
		return
	}
	h.ready, h.begun = true, time.Now()
	h.paused = h.Pause.total(h.begun)
	if h.Pool == nil {
		h.Pool = NewPool()
	}
	h.features, h.advanced, h.stages = map[Feature]struct{}{}, map[string]Advance{}, map[string]*StageStats{}
	h.kept, h.unstable, h.findings = newEntryLog(), newUnstableSet(), newFindingSet()
}

// Seed adds an input that no worker has run yet.
func (h *Hub) Seed(data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	h.seeds.add(Entry{Key: Key(data), Data: data})
}

// Take adds what a source has brought. An errand whose finding has no severity is an error.
func (h *Hub) Take(s Supply) error {
	for _, data := range s.Inputs {
		h.Seed(data)
	}
	h.mu.Lock()
	h.begin()
	h.mask(s.Unstable, noWorker)
	h.mu.Unlock()
	for _, e := range s.Errands {
		if err := h.Errand(e); err != nil {
			return err
		}
	}
	return nil
}

// needsSeeds reports whether workers have run all seeds.
func (h *Hub) needsSeeds() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.seeds.waiting) == 0 && !slices.ContainsFunc(h.links, func(l *link) bool { return unrun(l.dealt) > 0 })
}

// Join returns an exchange for one more worker.
func (h *Hub) Join() Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	h.joined++
	l := &link{h: h, number: h.joined, worker: -1}
	h.links = append(h.links, l)
	h.stats.Workers = max(h.stats.Workers, len(h.links))
	return l
}

// Stop ends the campaign: each worker gets [ErrStop] from its next Sync. Of several causes the first is kept. For the causes that
// teasel itself gives see [Summary].
func (h *Hub) Stop(cause string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.stop(cause)
}

func (h *Hub) stop(cause string) {
	if h.stopped == "" {
		h.stopped = cause
	}
}

// over reports whether the campaign has been stopped.
func (h *Hub) over() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.stopped != ""
}

// Summary returns the state of the campaign.
func (h *Hub) Summary() Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	return Summary{Stats: h.now(), Findings: h.findings.sorted(), Unconfirmed: h.findings.unconfirmed(), Stopped: h.stopped}
}

// now returns the figures of this moment.
func (h *Hub) now() Stats {
	s := h.stats
	s.Elapsed, s.Features, s.Findings, s.Waiting = h.elapsed(), len(h.features), len(h.findings.byID), h.waiting()
	s.Corpus, s.Stability, s.Seeds, s.SeedsRun = h.kept.len(), h.stability(), h.seeds.added, h.seedsRun()
	s.Pending = h.findings.untried()
	for _, l := range h.links {
		s.Pending += l.pending
	}
	s.Stages = h.sortedStages()
	return s
}

func (h *Hub) sortedStages() []StageStats {
	var out []StageStats
	for _, name := range slices.Sorted(maps.Keys(h.stages)) {
		out = append(out, *h.stages[name])
	}
	return out
}

// stability returns the share of the features reached that recur; 0: nothing has been calibrated.
func (h *Hub) stability() float64 {
	if unstable := len(h.unstable.order); h.unstable.calibrated || unstable > 0 {
		stable := len(h.features)
		return float64(stable) / float64(max(stable+unstable, 1))
	}
	return 0
}

func (h *Hub) elapsed() time.Duration {
	if h.begun.IsZero() {
		return h.before
	}
	now := time.Now()
	return h.before + now.Sub(h.begun) - (h.Pause.total(now) - h.paused)
}

// Progress reports where the campaign stands. memory is what we hold, for [Stats]. It is called about once a second, and
// once when all workers have left; errands that nobody is going to answer are reported as unconfirmed then.
func (h *Hub) Progress(memory uint64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	h.dropErrands()
	h.stats.Memory = memory
	e := Event{Kind: EventProgress, Stats: h.now(), Workers: slices.Clone(h.workers), Unstable: h.unstable.news(),
		Sightings: h.findings.occurrences(), Seeds: h.ended}
	h.ended = nil
	for _, key := range slices.Sorted(maps.Keys(h.advanced)) {
		e.Advances = append(e.Advances, h.advanced[key])
	}
	clear(h.advanced)
	h.report(e)
	return h.takeFailure()
}

// report hands an event to all reporters. If one fails, the campaign ends, and the others still learn of what was found, and that it was
// not saved. report returns the first error.
func (h *Hub) report(e Event) (failed error) {
	for _, r := range h.Reporters {
		err := r.Report(e)
		if err == nil {
			continue
		}
		h.stop("failed")
		h.failure = cmp.Or(h.failure, fmt.Errorf("reporting %v: %w", e.Kind, err))
		failed = cmp.Or(failed, err)
		if e.Kind == EventFound || e.Kind == EventUnconfirmed {
			e.Finding.Unsaved = failed.Error()
		}
	}
	return failed
}

// announce reports a finding, and marks it if it could not be saved.
func (h *Hub) announce(kind EventKind, f *Finding) {
	if err := h.report(Event{Kind: kind, Finding: *f}); err != nil {
		f.Unsaved = err.Error()
	}
}

// note tells the reporters what a person may want to know.
func (h *Hub) note(text string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.report(Event{Kind: EventNote, Text: text})
	return h.takeFailure()
}

// takeFailure returns the first error of a reporter since the last call.
func (h *Hub) takeFailure() error {
	err := h.failure
	h.failure = nil
	return err
}

// account adds up the counts in news.
func (h *Hub) account(n *News) {
	h.stats.Executions += n.Executions
	h.stats.Messages += n.Messages
	h.ended = append(h.ended, n.Seeds...)
	for _, s := range n.Sightings {
		h.findings.addOccurrences(s.ID, s.Times)
	}
	for _, s := range n.Stages {
		t := h.stages[s.Name]
		if t == nil {
			t = &StageStats{Name: s.Name}
			h.stages[s.Name] = t
		}
		t.Planned = max(t.Planned, s.Planned)
		t.Executions += s.Executions
		t.Kept += s.Kept
		t.Time += s.Time
	}
	if n.Worker.Draws > 0 {
		for len(h.workers) <= n.Worker.Number {
			h.workers = append(h.workers, WorkerState{Number: len(h.workers)})
		}
		h.workers[n.Worker.Number] = n.Worker
	}
}

// advance records how far work on testcases has gone.
func (h *Hub) advance(as []Advance) {
	for _, a := range as {
		if r := h.kept.byKey(a.Key); r != nil {
			r.Step, r.Picked, r.LastPicked = max(r.Step, a.Step), max(r.Picked, a.Picked), h.elapsed()
			h.advanced[a.Key] = Advance{a.Key, r.Step, r.Picked, r.LastPicked}
		}
	}
}

// mask removes features that do not recur from the campaign. Testcases that reach them stay.
func (h *Hub) mask(fs []Feature, from int) {
	for _, f := range h.unstable.add(fs, from) {
		delete(h.features, f)
	}
}

// finding keeps the better confirmed of two sightings of the same, and then the simpler.
func (h *Hub) finding(f *Finding) {
	fresh := false
	f.Found = h.elapsed()
	if known := h.findings.get(f.ID()); known != nil {
		f.Found = known.Found
	} else if seen, ok := h.findings.notConfirmed[f.ID()]; ok {
		f.Found = seen.Found
	}
	switch h.findings.judge(f) {
	case findingKnown:
		return
	case findingTooMany:
		h.report(Event{Kind: EventNote, Text: tooManyFindings(f.Severity)})
		return
	case findingRefused:
		return
	case findingNew:
		if fresh = true; h.enough() && h.counts(f) {
			f.Stable, f.Tries = 0, 0 // a resumed campaign confirms it
			h.unconfirmed(f)
			return
		}
	case findingBetter:
	}
	h.announce(EventFound, f)
	h.findings.put(*f)
	if fresh {
		h.stats.LastFound = h.elapsed()
	}
	if h.enough() {
		h.stop(stoppedFindings)
	}
}

// enough reports whether there are as many findings as were wanted.
func (h *Hub) enough() bool {
	if h.StopAfter <= 0 {
		return false
	}
	n := 0
	for _, f := range h.findings.byID {
		if h.counts(f) {
			n++
		}
	}
	return n >= h.StopAfter
}

func (h *Hub) counts(f *Finding) bool {
	if h.Counts == nil {
		return f.Severity > Info
	}
	return h.Counts(f)
}

// unconfirmed reports a finding that could not be confirmed, once.
func (h *Hub) unconfirmed(f *Finding) {
	if f.Found == 0 {
		f.Found = h.elapsed()
	}
	if h.findings.addUnconfirmed(f) {
		h.announce(EventUnconfirmed, f)
		if f.Unsaved == "" {
			f.History = nil // the reporters have it
		}
		h.findings.notConfirmed[f.ID()] = *f
	}
}

// offer keeps an entry if the hub's own pool wants it. An entry of an earlier run (from is noWorker) was reported by that run.
func (h *Hub) offer(from int, e Entry) {
	if h.kept.byKey(e.Key) != nil {
		return
	}
	e.Features = h.unstable.without(e.Features)
	h.unstable.calibrated = h.unstable.calibrated || e.Runs > 1
	h.scratch = e.Features.Append(h.scratch[:0])
	d := h.Pool.Offer(h.kept.next, &Observation{Exit: ExitOK, Features: h.scratch, Measures: e.Measures, Work: e.Work}, e.Complexity)
	if !d.Added {
		return
	}
	first := 0
	for _, f := range h.scratch {
		if _, known := h.features[f]; !known {
			h.features[f] = struct{}{}
			first++
		}
	}
	if from != noWorker {
		e.First = first
		e.Found = h.elapsed()
		h.stats.LastKept = e.Found
	}
	h.kept.add(from, e)
	if from != noWorker {
		h.report(Event{Kind: EventAdded, Entry: e})
	}
	for _, old := range d.Evicted {
		h.evict(old)
	}
}

func (h *Hub) evict(id ID) {
	key := h.kept.remove(id)
	delete(h.advanced, key)
	h.stats.Evicted++
	h.report(Event{Kind: EventEvicted, Entry: Entry{Key: key}})
}

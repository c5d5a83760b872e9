package teasel

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"
)

// Snapshot is what a stopped campaign needs to carry on.
type Snapshot struct {
	Elapsed    time.Duration
	Executions uint64
	Workers    []WorkerState // by number
	Waiting    int           // seeds that may not have been run: the last ones
	Entries    []Entry       // in order of arrival
	Evicted    int
	Findings   []Finding
	Stages     []StageStats
	LastKept   time.Duration // on the clock of Elapsed
	LastFound  time.Duration
}

// Hub is the single owner of a campaign's corpus and findings. It knows nothing of the type of input. Its fields are
// set before the first call; its methods may be called at once.
type Hub struct {
	Pool      Pool       // nil: NewPool
	Reporters []Reporter // told in this order
	StopAfter int        // findings after which the campaign ends; 0: never
	Runs      uint64     // executions after which it ends; 0: never

	mu       sync.Mutex
	begun    time.Time
	before   time.Duration // elapsed in earlier runs
	seeds    []Entry       // never run; a worker takes them from the front
	given    int           // seeds that were taken
	links    []*link
	log      []record // what was kept, in order; an ID is an index
	keys     map[string]ID
	features map[Feature]struct{}
	found    map[string]*Finding
	same     map[string]string // findings that are not told by those that were found at their place
	lost     map[string]bool   // unconfirmed findings that were told of
	stages   map[string]*StageStats
	workers  []WorkerState
	moved    map[string]Advance // since the last progress
	seen     map[string]bool    // findings seen again since then
	stats    Stats
	stopped  string // why it ends; "": it goes on
}

type record struct {
	Entry
	from int  // the link that brought it; 0: an earlier run
	gone bool // evicted
}

// seedShare is how many seeds a worker gets at a time: several workers share them out, and work on testcases goes on
// between some of them (Worker.sync), so that dear seeds do not hold it up.
const seedShare = 16

// begin must be called with the lock held.
func (h *Hub) begin() {
	if h.keys != nil {
		return
	}
	h.begun = time.Now()
	if h.Pool == nil {
		h.Pool = NewPool()
	}
	h.keys, h.features = map[string]ID{}, map[Feature]struct{}{}
	h.moved, h.seen = map[string]Advance{}, map[string]bool{}
	h.found, h.same, h.lost, h.stages = map[string]*Finding{}, map[string]string{}, map[string]bool{}, map[string]*StageStats{}
}

// Seed adds an input that no worker has run yet.
func (h *Hub) Seed(data []byte) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	h.seeds = append(h.seeds, Entry{Key: Key(data), Data: data})
}

// hungry reports whether workers have run all seeds.
func (h *Hub) hungry() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.waiting() == 0
}

// waiting returns how many seeds there are from the first on that a worker may not have run yet.
func (h *Hub) waiting() int {
	first := h.given
	for _, l := range h.links {
		if l.fed {
			first = min(first, l.first)
		}
	}
	return h.given - first + len(h.seeds)
}

// Resume takes over where another run stopped. Entries with features are believed, the others run again as seeds.
func (h *Hub) Resume(s *Snapshot) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	h.before, h.workers = s.Elapsed, slices.Clone(s.Workers)
	h.stats.Executions, h.stats.Evicted, h.stats.LastKept, h.stats.LastFound = s.Executions, s.Evicted, s.LastKept, s.LastFound
	for _, e := range s.Entries {
		if len(e.Features) == 0 {
			h.seeds = append(h.seeds, e)
		} else if err := h.offer(0, e); err != nil {
			return err
		}
	}
	for _, f := range s.Findings {
		h.found[f.ID()] = &f
	}
	for _, st := range s.Stages {
		h.stages[st.Name] = &st
	}
	return nil
}

// Join returns an exchange for one more worker.
func (h *Hub) Join() Exchange {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	h.stats.Workers++
	l := &link{h: h, number: h.stats.Workers}
	h.links = append(h.links, l)
	return l
}

// Stop ends the campaign: each worker learns of it at its next Sync. The first cause is the one that is told.
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

// Summary returns the state of the campaign.
func (h *Hub) Summary() Summary {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.summary()
}

func (h *Hub) summary() Summary {
	s := Summary{Stats: h.now(), Stopped: h.stopped}
	for _, f := range h.found {
		s.Findings = append(s.Findings, *f)
	}
	slices.SortFunc(s.Findings, func(a, b Finding) int { return a.Compare(&b) })
	return s
}

// now returns the figures of this moment.
func (h *Hub) now() Stats {
	s := h.stats
	s.Elapsed, s.Features, s.Findings, s.Waiting = h.elapsed(), len(h.features), len(h.found), h.waiting()
	s.Stages = nil
	for _, st := range h.stages {
		s.Stages = append(s.Stages, *st)
	}
	slices.SortFunc(s.Stages, func(a, b StageStats) int { return cmp.Compare(a.Name, b.Name) })
	return s
}

func (h *Hub) elapsed() time.Duration {
	if h.begun.IsZero() {
		return h.before
	}
	return h.before + time.Since(h.begun)
}

// Snapshot returns what a later run needs to carry on.
func (h *Hub) Snapshot() Snapshot {
	h.mu.Lock()
	defer h.mu.Unlock()
	sum := h.summary()
	s := Snapshot{Elapsed: sum.Elapsed, Executions: sum.Executions, Workers: slices.Clone(h.workers),
		Waiting: sum.Waiting, Evicted: sum.Evicted, Findings: sum.Findings, Stages: sum.Stages,
		LastKept: sum.LastKept, LastFound: sum.LastFound}
	for i := range h.log {
		if !h.log[i].gone {
			s.Entries = append(s.Entries, h.log[i].Entry)
		}
	}
	return s
}

// Progress tells the reporters where the campaign stands. memory is what we hold, for [Stats].
func (h *Hub) Progress(memory uint64) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	h.stats.Memory = memory
	e := Event{Kind: EventProgress, Stats: h.now(), Workers: slices.Clone(h.workers)}
	for _, key := range slices.Sorted(maps.Keys(h.moved)) {
		e.Advances = append(e.Advances, h.moved[key])
	}
	for _, id := range slices.Sorted(maps.Keys(h.seen)) {
		e.Sightings = append(e.Sightings, Sighting{id, h.found[id].Occurrences})
	}
	clear(h.moved)
	clear(h.seen)
	return h.report(e)
}

func (h *Hub) report(e Event) error {
	for _, r := range h.Reporters {
		if err := r.Report(e); err != nil {
			h.stop("failed")
			return fmt.Errorf("reporting %v: %w", e.Kind, err)
		}
	}
	return nil
}

// link is the exchange of a worker in this process, and of anything that [Serve] brings.
type link struct {
	h      *Hub
	number int
	next   int  // in the log
	fed    bool // it was given seeds, and has not run all of them yet
	first  int  // of these, among all that were given
}

func (l *link) Sync(_ context.Context, news News) (back []Entry, err error) {
	h := l.h
	h.mu.Lock()
	defer h.mu.Unlock()
	h.account(&news)
	for i := range news.Findings {
		if err := h.finding(&news.Findings[i]); err != nil {
			return nil, err
		}
	}
	for i := range news.Unconfirmed {
		f := &news.Unconfirmed[i]
		if id := f.ID(); h.found[id] == nil && !h.lost[id] {
			h.lost[id] = true
			if err := h.report(Event{Kind: EventUnconfirmed, Finding: *f}); err != nil {
				return nil, err
			}
		}
	}
	for _, e := range news.Entries {
		if err := h.offer(l.number, e); err != nil {
			return nil, err
		}
	}
	for ; l.next < len(h.log); l.next++ {
		if r := &h.log[l.next]; r.from != l.number && !r.gone {
			back = append(back, r.Entry)
		}
	}
	if h.Runs > 0 && h.stats.Executions >= h.Runs {
		h.stop("runs")
	}
	l.fed = l.fed && news.Pending
	if h.stopped != "" {
		return back, ErrStop
	}
	if news.Hungry {
		back = l.feed(back)
	}
	return back, nil
}

// feed appends the next few seeds. They count as waiting until the worker has run them.
func (l *link) feed(back []Entry) []Entry {
	h := l.h
	n := min(len(h.seeds), seedShare)
	back = append(back, h.seeds[:n]...)
	clear(h.seeds[:n]) // some are large
	h.seeds = h.seeds[n:]
	if n > 0 && !l.fed {
		l.fed, l.first = true, h.given
	}
	h.given += n
	return back
}

// account adds up what needs no judgement.
func (h *Hub) account(n *News) {
	h.stats.Executions += n.Executions
	for _, s := range n.Sightings {
		id := cmp.Or(h.same[s.ID], s.ID)
		if f := h.found[id]; f != nil {
			f.Occurrences += s.Times
			h.seen[id] = true
		}
	}
	for _, a := range n.Advances {
		if id, ok := h.keys[a.Key]; ok {
			e := &h.log[id].Entry
			e.Step, e.Picked = max(e.Step, a.Step), max(e.Picked, a.Picked)
			h.moved[a.Key] = Advance{a.Key, e.Step, e.Picked}
		}
	}
	for _, s := range n.Stages {
		t := h.stages[s.Name]
		if t == nil {
			t = &StageStats{Name: s.Name}
			h.stages[s.Name] = t
		}
		t.Executions += s.Executions
		t.Kept += s.Kept
	}
	if n.Worker.Draws > 0 {
		for len(h.workers) <= n.Worker.Number {
			h.workers = append(h.workers, WorkerState{Number: len(h.workers)})
		}
		h.workers[n.Worker.Number] = n.Worker
	}
}

// finding keeps the better confirmed of two sightings of the same, and then the simpler.
func (h *Hub) finding(f *Finding) error {
	id := f.ID()
	if known := h.found[id]; known != nil {
		known.Occurrences += f.Occurrences
		if !f.improves(known) {
			return nil
		}
		f.Occurrences = known.Occurrences
	} else if other := h.atPlace(f); other != nil {
		other.Occurrences += f.Occurrences
		h.same[id], h.seen[other.ID()] = other.ID(), true
		return nil
	} else {
		h.stats.LastFound = h.elapsed()
	}
	if err := h.report(Event{Kind: EventFound, Finding: *f}); err != nil {
		return err
	}
	h.found[id] = f
	if h.StopAfter > 0 && len(h.found) >= h.StopAfter {
		h.stop("findings")
	}
	return nil
}

// atPlace returns a finding of another rule that stands for a new one, nil if none does.
func (h *Hub) atPlace(f *Finding) (other *Finding) {
	for _, g := range h.found {
		if f.Place != "" && g.Place == f.Place && g.Severity >= f.Severity && (g.Confirmed() || !f.Confirmed()) && (other == nil || g.Compare(other) < 0) {
			other = g
		}
	}
	return other
}

// offer keeps an entry if the hub's own pool wants it. from 0 is an earlier run, whose reports were made then.
func (h *Hub) offer(from int, e Entry) error {
	if _, dup := h.keys[e.Key]; dup {
		return nil
	}
	id := ID(len(h.log))
	d := h.Pool.Offer(id, &Observation{Exit: ExitOK, Features: e.Features, Measures: e.Measures}, e.Complexity)
	if !d.Added {
		return nil
	}
	h.keys[e.Key] = id
	for _, f := range e.Features {
		h.features[f] = struct{}{}
	}
	if from > 0 {
		e.Found = h.elapsed()
		h.stats.LastKept = e.Found
	}
	h.log = append(h.log, record{Entry: e, from: from})
	h.stats.Corpus++
	if from > 0 {
		if err := h.report(Event{Kind: EventAdded, Entry: e}); err != nil {
			return err
		}
	}
	for _, old := range d.Evicted {
		if err := h.evict(old); err != nil {
			return err
		}
	}
	return nil
}

// evict forgets the bytes of a testcase as well, or a long campaign would hold all it ever kept.
func (h *Hub) evict(id ID) error {
	r := &h.log[id]
	key := r.Key
	delete(h.keys, key)
	delete(h.moved, key)
	r.Entry, r.gone = Entry{}, true
	h.stats.Corpus--
	h.stats.Evicted++
	return h.report(Event{Kind: EventEvicted, Entry: Entry{Key: key}})
}

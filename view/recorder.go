package view

import (
	"maps"
	"reflect"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Options say what a [Recorder] adds to what the events say. The zero value is fine.
type Options struct {
	Commands func(*teasel.Finding) []Command // that show a finding again; nil: none
	Known    func(id string) string          // why a finding does not count, "" if it does; nil: all do
	Rules    []teasel.Rule
	Panels   Paneler       // nil: there are none
	Pause    *teasel.Pause // of the campaign; nil: it cannot be paused
}

// Recorder is a reporter that keeps the state of a campaign.
type Recorder struct {
	options Options

	mu      sync.Mutex
	state   State
	series  series
	stats   teasel.Stats
	at      map[string]int // of findings in state.Findings, by id
	shared  bool           // state.Findings is in a snapshot: it must not be changed
	started bool
	seeding Seeding
	clock   time.Time // when stats was reported, or the recorder made

	entries map[string]teasel.Entry // those kept
	changed uint64                  // counts changes of entries

	making sync.Mutex // held while panels are made
	made   uint64     // changed when those of the kind were made
	madeAt time.Time
	ofKind []Panel
	more   []func() []Panel // further ones, from AddPanels
}

var _ teasel.Reporter = (*Recorder)(nil)

const (
	mostLines   = 500             // of the log
	panelsEvery = 3 * time.Second // at least
)

// NewRecorder returns a recorder of a campaign that begins, or goes on, with a state; entries are the testcases that it has already.
func NewRecorder(from State, entries []teasel.Entry, o Options) *Recorder {
	from.Prepare()
	from.Run = strconv.FormatInt(time.Now().UnixNano(), 36)
	from.Status, from.Running, from.Whole, from.Revision = "running", true, true, 1
	r := &Recorder{options: o, state: from, at: map[string]int{}, shared: true, clock: time.Now()}
	r.stats.Elapsed = time.Duration(from.Figures.Elapsed * float64(time.Second))
	for _, p := range from.Series {
		p.revision = 1
		r.series.add(p)
	}
	for i := range from.Findings {
		r.at[from.Findings[i].ID] = i
		r.rule(from.Findings[i].Rule)
	}
	r.entries = make(map[string]teasel.Entry, len(entries))
	for _, e := range entries {
		r.entries[e.Key] = e
	}
	r.changed = uint64(len(entries))
	return r
}

// Report implements [teasel.Reporter]. It never fails and never waits for who looks at the state.
func (r *Recorder) Report(e teasel.Event) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	switch e.Kind {
	case teasel.EventAdded, teasel.EventEvicted:
		r.entry(&e)
		return nil
	case teasel.EventFound, teasel.EventUnconfirmed:
		r.state.Revision++
		r.finding(&e.Finding, e.Kind == teasel.EventUnconfirmed)
	case teasel.EventNote:
		r.state.Revision++
		r.log("note", "", plain.Line(e.Text))
	case teasel.EventProgress:
		r.state.Revision++
		r.progress(&e)
	}
	return nil
}

func (r *Recorder) entry(e *teasel.Event) {
	if e.Kind == teasel.EventAdded {
		r.entries[e.Entry.Key] = e.Entry
	} else {
		delete(r.entries, e.Entry.Key)
	}
	r.changed++
}

// finding takes over a finding that is new, or better than before.
func (r *Recorder) finding(f *teasel.Finding, unconfirmed bool) {
	id := f.ID()
	i, known := r.at[id]
	if unconfirmed && known && !r.state.Findings[i].Unconfirmed {
		return
	}
	var commands []Command
	if r.options.Commands != nil && !unconfirmed {
		commands = r.options.Commands(f)
	}
	v := NewFinding(f, commands...)
	if v.Found == 0 {
		v.Found = r.now().Seconds()
	}
	v.revision, v.Unconfirmed = r.state.Revision, unconfirmed
	if r.options.Known != nil {
		v.Known = plain.Line(r.options.Known(id))
	}
	r.unshareFindings()
	if known {
		before := &r.state.Findings[i]
		v.Occurrences = max(v.Occurrences, before.Occurrences)
		if before.Unconfirmed == unconfirmed {
			v.Found = before.Found
		}
		confirmed := before.Unconfirmed && !unconfirmed
		r.state.Findings[i] = v
		if !confirmed {
			return
		}
	} else {
		r.at[id] = len(r.state.Findings)
		r.state.Findings = append(r.state.Findings, v)
	}
	r.rule(v.Rule)
	kind := "found"
	if unconfirmed {
		kind = "unconfirmed"
	} else {
		r.state.Figures.LastFound = r.now().Seconds() // figures that say so come up to a second later
	}
	r.log(kind, id, v.Severity+"  "+v.Rule+"  "+v.Subject)
}

// unshareFindings makes state.Findings one that no snapshot has.
func (r *Recorder) unshareFindings() {
	if r.shared {
		r.state.Findings, r.shared = slices.Clone(r.state.Findings), false
	}
}

func (r *Recorder) rule(id string) {
	if _, ok := r.state.Rules[id]; ok {
		return
	}
	i := slices.IndexFunc(r.options.Rules, func(u teasel.Rule) bool { return u.ID == id })
	if i >= 0 {
		r.state.Rules = maps.Clone(r.state.Rules)
		r.state.AddRule(r.options.Rules[i])
	}
}

// now is the time on the campaign's clock, from the last progress event on.
func (r *Recorder) now() time.Duration {
	if r.options.Pause.On() {
		return r.stats.Elapsed
	}
	return r.stats.Elapsed + time.Since(r.clock)
}

func (r *Recorder) log(kind, id, text string) {
	l := append(r.state.Log, Line{Elapsed: r.now().Seconds(), Kind: kind, ID: id, Text: text, revision: r.state.Revision})
	if len(l) > 2*mostLines {
		l = slices.Clone(l[len(l)-mostLines:])
	}
	r.state.Log = l
}

func (r *Recorder) progress(e *teasel.Event) {
	before, s := r.stats, &r.state
	rate := s.Figures.Rate
	r.stats, s.Figures, s.Stages = e.Stats, newFigures(&e.Stats), plainStages(e.Stats.Stages)
	if d := e.Stats.Elapsed - before.Elapsed; r.started && d > 0 && e.Stats.Executions >= before.Executions {
		// The average with the old figure changes slowly enough to be read.
		s.Figures.Rate = (rate + float64(e.Stats.Executions-before.Executions)/d.Seconds()) / 2
	} else if d == 0 && r.started { // it is paused
		s.Figures.Rate = rate
	} else if e.Stats.Elapsed > 0 {
		s.Figures.Rate = float64(e.Stats.Executions) / e.Stats.Elapsed.Seconds()
	}
	if left, ok := r.seeding.Left(&e.Stats); ok {
		s.Figures.SeedsLeft = left.Seconds()
	}
	r.started, r.clock = true, time.Now()
	p := newPoint(&e.Stats)
	p.revision = s.Revision
	if n := len(r.series.points); n == 0 || r.series.points[n-1].Elapsed < p.Elapsed {
		if r.series.add(p) {
			s.thinned = s.Revision
		}
	}
	s.Series = r.series.points
	s.Figures.Fresh = fresh(s.Series, &s.Figures)
	if len(e.Workers) > 0 {
		s.Workers = newWorkers(e.Workers)
	}
	for _, a := range e.Advances {
		if entry, ok := r.entries[a.Key]; ok {
			entry.Picked = a.Picked
			r.entries[a.Key] = entry
		}
	}
	for _, seen := range e.Sightings {
		if i, ok := r.at[seen.ID]; ok && s.Findings[i].Occurrences < seen.Times {
			r.unshareFindings()
			s.Findings[i].Occurrences, s.Findings[i].counted = seen.Times, s.Revision
		}
	}
}

func newWorkers(ws []teasel.WorkerState) (all []Worker) {
	for _, w := range ws {
		all = append(all, Worker{w.Number, w.Executions})
	}
	return all
}

// End records why the campaign has ended.
func (r *Recorder) End(stopped string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.state.Revision++
	r.state.Ended(stopped)
}

// AddPanels adds panels to those of the kind. They are asked for again and again, and must not wait for anything.
func (r *Recorder) AddPanels(panels func() []Panel) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.more = append(r.more, panels)
}

// Snapshot returns the state. It never waits for the campaign, nor the campaign for it: the caller makes the panels if they are out of
// date and nobody else is at it.
func (r *Recorder) Snapshot() State {
	if r.making.TryLock() {
		r.makePanels()
		r.making.Unlock()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.shared = true
	s := r.state
	s.Pausable = s.Running && r.options.Pause != nil
	if s.Running && r.options.Pause.On() {
		s.Status = "paused"
	}
	return s
}

// SetPaused pauses the campaign, or has it go on. It does nothing if there is no Options.Pause.
func (r *Recorder) SetPaused(on bool) {
	if r.options.Pause != nil {
		r.options.Pause.Set(on)
	}
}

func (r *Recorder) makePanels() {
	r.mu.Lock()
	changed, further, running := r.changed, r.more, r.state.Running
	stale := r.options.Panels != nil && changed != r.made
	if !stale && len(further) == 0 || running && time.Since(r.madeAt) < panelsEvery {
		r.mu.Unlock()
		return
	}
	var entries []teasel.Entry
	if stale {
		entries = slices.Collect(maps.Values(r.entries))
	}
	r.mu.Unlock()
	if stale {
		r.ofKind = plainPanels(r.options.Panels.Panels(entries))
	}
	panels := r.ofKind
	for _, more := range further {
		panels = slices.Concat(panels, plainPanels(more()))
	}
	r.made, r.madeAt = changed, time.Now()
	r.mu.Lock()
	defer r.mu.Unlock()
	if reflect.DeepEqual(panels, r.state.Panels) {
		return
	}
	r.state.Revision++
	r.state.Panels, r.state.panels = panels, r.state.Revision
}

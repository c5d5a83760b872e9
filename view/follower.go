package view

import (
	"reflect"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// Follower is a [Recorder] of a campaign that another process runs, or has run: it learns what happens from the campaign's directory.
type Follower struct {
	*Recorder
	dir      *corpus.Dir               // as it was last read
	findings map[string]teasel.Finding // those reported, by id
	problem  string                    // why the directory could not be read the last time; "": it was read
}

// NewFollower returns a follower of the campaign in a directory; from is its state, and entries are its testcases.
func NewFollower(dir *corpus.Dir, from State, entries []teasel.Entry, o Options) *Follower {
	f := &Follower{Recorder: NewRecorder(from, entries, o), dir: dir, findings: map[string]teasel.Finding{}}
	sum := dir.Summary()
	for _, list := range [][]teasel.Finding{sum.Unconfirmed, sum.Findings} {
		for _, x := range list {
			x.Occurrences = 0
			f.findings[x.ID()] = x
		}
	}
	f.setRunning(corpus.Held(dir.Path()))
	return f
}

// Running reports whether the campaign ran when it was last looked at.
func (f *Follower) Running() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state.Running
}

// Read reads the directory again if the campaign runs, or has ended since the last time, and records what has changed. It is for one
// goroutine. That a directory cannot be read is noted, once, and the state stays as it was.
func (f *Follower) Read() {
	running := corpus.Held(f.dir.Path()) // before it is read: what is written at the end is read once more
	if !running && !f.Running() {
		return
	}
	dir, err := corpus.OpenReadOnly(f.dir.Path())
	var s teasel.Snapshot
	if err == nil {
		s, _, err = dir.Snapshot(nil)
	}
	if err == nil {
		f.dir, f.problem = dir, ""
		f.take(s)
	} else if text := err.Error(); text != f.problem {
		f.problem = text
		_ = f.Report(teasel.Event{Kind: teasel.EventNote, Text: text})
	}
	f.setRunning(running)
}

func (f *Follower) setRunning(on bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	switch {
	case on == f.state.Running:
		return
	case on:
		f.state.Status, f.state.Running = "running", true
	default:
		f.state.Ended(f.dir.Summary().Stopped)
	}
	f.state.Revision++
}

// take records the state of the directory.
func (f *Follower) take(s teasel.Snapshot) {
	sum := f.dir.Summary()
	progress := teasel.Event{Kind: teasel.EventProgress, Stats: sum.Stats, Workers: f.dir.Workers()}
	f.mu.Lock()
	before := make(map[string]uint64, len(f.entries)) // times picked, by key
	for key, e := range f.entries {
		before[key] = e.Picked
	}
	f.mu.Unlock()
	for _, e := range s.Entries {
		picked, known := before[e.Key]
		delete(before, e.Key)
		switch {
		case !known:
			_ = f.Report(teasel.Event{Kind: teasel.EventAdded, Entry: e})
		case picked != e.Picked:
			progress.Advances = append(progress.Advances, teasel.Advance{Key: e.Key, Picked: e.Picked})
		}
	}
	for key := range before {
		_ = f.Report(teasel.Event{Kind: teasel.EventEvicted, Entry: teasel.Entry{Key: key}})
	}
	found := func(kind teasel.EventKind, list []teasel.Finding) {
		for _, x := range list {
			id, times := x.ID(), x.Occurrences
			progress.Sightings = append(progress.Sightings, teasel.Sighting{ID: id, Times: times})
			x.Occurrences = 0
			if old, known := f.findings[id]; known && reflect.DeepEqual(old, x) {
				continue
			}
			f.findings[id] = x
			x.Occurrences = times
			_ = f.Report(teasel.Event{Kind: kind, Finding: x})
		}
	}
	found(teasel.EventUnconfirmed, sum.Unconfirmed)
	found(teasel.EventFound, sum.Findings)
	_ = f.Report(progress)
}

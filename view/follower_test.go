package view

import (
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// Whoever follows a campaign by its directory comes to see what was reported there, what was evicted, and how it has ended; and sees
// it go on when it is resumed.
func TestFollower(t *testing.T) {
	path := filepath.Join(t.TempDir(), "out")
	dir, err := corpus.Create(path, corpus.Meta{Kind: "mcp", Name: "node server.js"})
	if err != nil {
		t.Fatal(err)
	}
	added := func(text string) teasel.Event {
		return teasel.Event{Kind: teasel.EventAdded, Entry: teasel.Entry{Key: teasel.Key([]byte(text)), Data: []byte(text), Runs: 1}}
	}
	crash := found("mcp/crash", "a")
	unconfirmed := found("mcp/hang", "b")
	unconfirmed.Kind, unconfirmed.Finding.Tries, unconfirmed.Finding.Stable = teasel.EventUnconfirmed, 0, 0
	report(t, dir, added("one"), added("two"), unconfirmed, progress(1))
	looked, err := corpus.OpenReadOnly(path)
	if err != nil {
		t.Fatal(err)
	}
	from, err := FromDir(looked)
	if err != nil {
		t.Fatal(err)
	}
	kept, _, err := looked.Snapshot(nil)
	if err != nil {
		t.Fatal(err)
	}
	f := NewFollower(looked, from, kept.Entries, Options{})
	s := f.Snapshot()
	seen := page(nil, s.Since("", 0))
	if !s.Running || s.Status != "running" || len(s.Findings) != 1 || !s.Findings[0].Unconfirmed || len(f.Testcases()) != 2 {
		t.Fatalf("at first: %+v, %d testcases", s, len(f.Testcases()))
	}
	f.Read()
	if s := f.Snapshot(); len(s.Log) != 0 || s.Findings[0].revision > seen.Revision {
		t.Errorf("nothing has changed, and yet: %+v", s)
	}

	crash.Finding.Occurrences = 4
	unconfirmed.Kind, unconfirmed.Finding.Tries, unconfirmed.Finding.Stable = teasel.EventFound, 3, 3
	report(t, dir, added("three"), teasel.Event{Kind: teasel.EventEvicted, Entry: teasel.Entry{Key: teasel.Key([]byte("one"))}}, crash, unconfirmed, progress(2))
	f.Read()
	s = f.Snapshot()
	seen = page(seen, s.Since(seen.Run, seen.Revision))
	if s.Figures.Executions != 200 || len(s.Findings) != 2 || s.Findings[0].Unconfirmed || len(s.Series) != 2 || len(f.Testcases()) != 2 {
		t.Errorf("after two seconds: %+v, %d testcases", s, len(f.Testcases()))
	}
	if _, ok := f.Testcase(teasel.Key([]byte("one"))); ok {
		t.Error("a testcase that was evicted is shown")
	}
	more := progress(3)
	more.Sightings = []teasel.Sighting{{ID: crash.Finding.ID(), Times: 9}}
	report(t, dir, more)
	if err := dir.Finish(teasel.Summary{Stats: more.Stats, Stopped: "runs"}); err != nil {
		t.Fatal(err)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	f.Read()
	s = f.Snapshot()
	seen = page(seen, s.Since(seen.Run, seen.Revision))
	if s.Running || !strings.HasPrefix(s.Status, "ended: all of its executions") || seen.Findings[1].Occurrences != 9 || seen.Findings[1].Subject != "a" {
		t.Errorf("at the end: %+v", seen)
	}

	if dir, err = corpus.Open(path); err != nil {
		t.Fatal(err)
	}
	report(t, dir, progress(4))
	f.Read()
	if s = f.Snapshot(); !s.Running || s.Figures.Executions != 400 {
		t.Errorf("resumed: %+v", s)
	}
	if err := dir.Close(); err != nil {
		t.Fatal(err)
	}
	f.Read()
	if s = f.Snapshot(); s.Running {
		t.Errorf("killed: %+v", s)
	}
}

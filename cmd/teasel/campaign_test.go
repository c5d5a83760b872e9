package main

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// A campaign that reaches next to nothing says so, once; one that does has nothing to say.
func TestDoubt(t *testing.T) {
	stats := teasel.Stats{Elapsed: time.Minute, Executions: 1e6, Corpus: 1}
	for name, test := range map[string]struct {
		change func(*teasel.Stats)
		notes  int
	}{
		"stuck":     {func(*teasel.Stats) {}, 1},
		"early":     {func(s *teasel.Stats) { s.Elapsed = time.Second }, 0},
		"slow":      {func(s *teasel.Stats) { s.Executions = 10 }, 0},
		"goes well": {func(s *teasel.Stats) { s.Corpus = 2 }, 0},
		"found":     {func(s *teasel.Stats) { s.Findings = 1 }, 0},
	} {
		var notes recorder
		d := doubt{to: &notes, text: "look there"}
		e := teasel.Event{Kind: teasel.EventProgress, Stats: stats}
		test.change(&e.Stats)
		for range 3 {
			if err := d.Report(e); err != nil {
				t.Fatal(err)
			}
		}
		if len(notes) != test.notes {
			t.Errorf("%s: %d notes, want %d", name, len(notes), test.notes)
		}
	}
}

// recorder keeps what it is told.
type recorder []teasel.Event

func (r *recorder) Report(e teasel.Event) error {
	*r = append(*r, e)
	return nil
}

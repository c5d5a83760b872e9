package main

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// A campaign that reaches next to nothing says so, once, and so does one that executes nothing; one that does has nothing to say.
func TestDoubt(t *testing.T) {
	stats := teasel.Stats{Elapsed: time.Minute, Executions: 1e6, Corpus: 1}
	for name, test := range map[string]struct {
		change func(*teasel.Stats, *doubt)
		notes  int
	}{
		"stuck":          {func(*teasel.Stats, *doubt) {}, 1},
		"early":          {func(s *teasel.Stats, _ *doubt) { s.Elapsed = time.Second }, 0},
		"slow":           {func(s *teasel.Stats, _ *doubt) { s.Executions = 10 }, 0},
		"goes well":      {func(s *teasel.Stats, _ *doubt) { s.Corpus = 2 }, 0},
		"found":          {func(s *teasel.Stats, _ *doubt) { s.Findings = 1 }, 0},
		"no idea":        {func(_ *teasel.Stats, d *doubt) { d.idle = "" }, 0},
		"nothing":        {func(s *teasel.Stats, _ *doubt) { *s = teasel.Stats{Elapsed: 6 * time.Second} }, 1},
		"not yet":        {func(s *teasel.Stats, _ *doubt) { *s = teasel.Stats{Elapsed: 2 * time.Second} }, 0},
		"resumed":        {func(s *teasel.Stats, d *doubt) { d.ran, d.took = s.Executions, s.Elapsed; s.Corpus = 5 }, 0},
		"resumed, stuck": {func(s *teasel.Stats, d *doubt) { d.ran, d.took = s.Executions, s.Elapsed-6*time.Second; s.Corpus = 5 }, 1},
	} {
		var notes recorder
		d := doubt{to: &notes, idle: "look there"}
		e := teasel.Event{Kind: teasel.EventProgress, Stats: stats}
		test.change(&e.Stats, &d)
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

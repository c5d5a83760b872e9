package main

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// notes are the texts of notes.
type notes []string

func (n *notes) Report(e teasel.Event) error {
	*n = append(*n, e.Text)
	return nil
}

// A target that takes everything and never answers is worth one note; one that has answered is worth none.
func TestSilentTarget(t *testing.T) {
	const answer = teasel.Feature(7)
	answered := func(fs teasel.FeatureSet) bool { return fs.Contains(answer) }
	for _, tt := range []struct {
		name    string
		reached []teasel.Feature
		runs    uint64
		want    int
	}{
		{"silent", []teasel.Feature{3}, 500, 1},
		{"silent, and not tried much", []teasel.Feature{3}, 50, 0},
		{"answers", []teasel.Feature{3, answer}, 500, 0},
	} {
		var got notes
		d := &doubt{to: &got, answered: answered, silent: "silent"}
		for _, e := range []teasel.Event{
			{Kind: teasel.EventAdded, Entry: teasel.Entry{Features: teasel.NewFeatureSet(tt.reached...)}},
			{Kind: teasel.EventProgress, Stats: teasel.Stats{Elapsed: 9 * time.Second, Executions: tt.runs, Corpus: 2}},
			{Kind: teasel.EventProgress, Stats: teasel.Stats{Elapsed: 10 * time.Second, Executions: tt.runs, Corpus: 2}},
		} {
			if err := d.Report(e); err != nil {
				t.Fatal(err)
			}
		}
		if len(got) != tt.want {
			t.Errorf("%s: notes %q, want %d", tt.name, got, tt.want)
		}
	}
}

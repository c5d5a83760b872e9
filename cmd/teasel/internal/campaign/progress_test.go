package campaign

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// notes keeps the texts of notes.
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
		d := &ProgressCheck{To: &got, answered: answered, silent: func() string { return "silent" }}
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

// A campaign that reaches almost nothing is worth one note, and so is one that executes nothing; one that goes well is worth none.
func TestProgressCheck(t *testing.T) {
	stats := teasel.Stats{Elapsed: time.Minute, Executions: 1e6, Corpus: 1}
	for name, test := range map[string]struct {
		change func(*teasel.Stats, *ProgressCheck)
		notes  int
	}{
		"stuck":     {func(*teasel.Stats, *ProgressCheck) {}, 1},
		"early":     {func(s *teasel.Stats, _ *ProgressCheck) { s.Elapsed = time.Second }, 0},
		"slow":      {func(s *teasel.Stats, _ *ProgressCheck) { s.Executions = 10 }, 0},
		"goes well": {func(s *teasel.Stats, _ *ProgressCheck) { s.Corpus = 2 }, 0},
		"found":     {func(s *teasel.Stats, _ *ProgressCheck) { s.Findings = 1 }, 0},
		"no note":   {func(_ *teasel.Stats, d *ProgressCheck) { d.stuck = "" }, 0},
		"nothing":   {func(s *teasel.Stats, _ *ProgressCheck) { *s = teasel.Stats{Elapsed: 6 * time.Second} }, 1},
		"not yet":   {func(s *teasel.Stats, _ *ProgressCheck) { *s = teasel.Stats{Elapsed: 2 * time.Second} }, 0},
		"resumed": {func(s *teasel.Stats, d *ProgressCheck) {
			d.earlierRuns, d.earlierTime = s.Executions, s.Elapsed
			s.Corpus = 5
		}, 0},
		"resumed, stuck": {func(s *teasel.Stats, d *ProgressCheck) {
			d.earlierRuns, d.earlierTime = s.Executions, s.Elapsed-6*time.Second
			s.Corpus = 5
		}, 1},
	} {
		var got notes
		d := ProgressCheck{To: &got, stuck: "look there"}
		e := teasel.Event{Kind: teasel.EventProgress, Stats: stats}
		test.change(&e.Stats, &d)
		for range 3 {
			if err := d.Report(e); err != nil {
				t.Fatal(err)
			}
		}
		if len(got) != test.notes {
			t.Errorf("%s: notes %q, want %d", name, got, test.notes)
		}
	}
}

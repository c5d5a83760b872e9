package teasel_test

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// Of findings at one place the first stands for those that are no worse and no better confirmed.
func TestPlace(t *testing.T) {
	first := teasel.Finding{Rule: "overflow", Severity: teasel.High, Place: "p", Stable: 3, Tries: 3, Occurrences: 1}
	flaky := first
	flaky.Stable = 1
	for _, c := range []struct {
		name          string
		first, second teasel.Finding
		findings      int
		occurrences   uint64 // of the first
	}{
		{"as bad", first, teasel.Finding{Rule: "fault", Severity: teasel.High, Place: "p", Stable: 3, Tries: 3, Occurrences: 2}, 1, 7},
		{"less bad", first, teasel.Finding{Rule: "null", Severity: teasel.Medium, Place: "p", Stable: 3, Tries: 3, Occurrences: 2}, 1, 7},
		{"worse", first, teasel.Finding{Rule: "write", Severity: teasel.Critical, Place: "p", Stable: 3, Tries: 3, Occurrences: 2}, 2, 1},
		{"better confirmed", flaky, teasel.Finding{Rule: "fault", Severity: teasel.High, Place: "p", Stable: 3, Tries: 3, Occurrences: 2}, 2, 1},
		{"elsewhere", first, teasel.Finding{Rule: "fault", Severity: teasel.High, Place: "q", Stable: 3, Tries: 3, Occurrences: 2}, 2, 1},
		{"nowhere", first, teasel.Finding{Rule: "fault", Severity: teasel.High, Stable: 3, Tries: 3, Occurrences: 2}, 2, 1},
	} {
		told := 0
		h := &teasel.Hub{Reporters: []teasel.Reporter{reportFunc(func(e teasel.Event) error {
			if e.Kind == teasel.EventFound {
				told++
			}
			return nil
		})}}
		x := h.Join()
		for _, n := range []teasel.News{{Findings: []teasel.Finding{c.first}}, {Findings: []teasel.Finding{c.second}}, {Sightings: []teasel.Sighting{{ID: c.second.ID(), Times: 4}}}} {
			if _, err := x.Sync(context.Background(), n); err != nil {
				t.Fatal(err)
			}
		}
		if err := h.Progress(0); err != nil {
			t.Fatal(err)
		}
		fs := h.Summary().Findings
		if len(fs) != c.findings || told != c.findings {
			t.Errorf("%s: %d findings, %d told, want %d", c.name, len(fs), told, c.findings)
		}
		for _, f := range fs {
			if f.Rule == c.first.Rule && f.Occurrences != c.occurrences {
				t.Errorf("%s: seen %d times, want %d", c.name, f.Occurrences, c.occurrences)
			}
		}
	}
}

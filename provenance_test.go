package teasel_test

import (
	"testing"

	"github.com/teaselfuzz/teasel"
)

// A finding says by which stage its input was made, of which testcase, by what change, and that minimising has come to its end; a
// testcase how many features it was the first to reach.
func TestProvenance(t *testing.T) {
	c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
		o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(1+len(in)), 1000)
		if len(in) > 1 && in[0] == 's' && in[1] != 'e' {
			o.Exit, o.Detail = teasel.ExitCrash, "not e"
		}
	}))
	c.Runs, c.Calibrate, c.StopAfter = 40_000, 1, 1
	keys, first := map[string]bool{}, 0
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventAdded {
			keys[e.Entry.Key] = true
			first += e.Entry.First
		}
		return nil
	})}
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 1 {
		t.Fatalf("findings %v, %v", s.Findings, err)
	}
	f := s.Findings[0]
	if f.Stage != "havoc" || !keys[f.Parent] || f.Change == "" || f.Found == 0 || !f.Minimal || len(f.Input) != 2 {
		t.Errorf("made by %q of %q, %q, after %v, minimal %v, %q", f.Stage, f.Parent, f.Change, f.Found, f.Minimal, f.Input)
	}
	if first != s.Features {
		t.Errorf("testcases were the first to reach %d features, of %d", first, s.Features)
	}
	c.MinimizeRuns = -1
	if s, err = c.Run(t.Context()); err != nil || len(s.Findings) != 1 || s.Findings[0].Minimal {
		t.Errorf("without minimising: findings %v, %v", s.Findings, err)
	}
}

// What a mutator changes in place is compared with what it was before.
func TestProvenanceOfUndoer(t *testing.T) {
	for seed := range uint64(8) {
		c := orders(inProcess{})
		c.StopAfter, c.Runs, c.Seed = 1, 400_000, seed
		s, err := c.Run(t.Context())
		if err != nil || len(s.Findings) != 1 {
			t.Fatalf("findings %v, %v", s.Findings, err)
		}
		if f := s.Findings[0]; f.Change == "" || f.Change == "nothing changed" {
			t.Errorf("seed %d: by %s, %q", seed, f.Stage, f.Change)
		}
	}
}

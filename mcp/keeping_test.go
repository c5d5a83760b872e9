package mcp_test

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/judge"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// What calls leave behind, or do to one another, is one finding, of the calls that it takes: what spoils the state is one call between those
// that ask, twice each, and what is lost is one of two in flight.
func TestKeeping(t *testing.T) {
	program := mcptest.BuildServer(t, "keeping")
	for _, tt := range []struct {
		mode, rule      string
		once, unawaited int // calls that are made once, and that the next one is not held back for
	}{
		{"brittle", check.RuleUsed, 1, 0},
		{"locked", check.RuleUsed, 1, 0},
		{"fragile", check.RuleUsed, 1, 0},
		{"spoiled", check.RuleUsed, 1, 0},
		{"half-done", check.RuleUsed, 1, 0},
		{"lossy", check.RuleLostWrite, 6, 1},
		{"together", judge.RuleCrash, 2, 1},
	} {
		t.Run(tt.mode, func(t *testing.T) {
			t.Parallel()
			h := &hunt{command: []string{program, tt.mode}, seed: 1, checks: true, labels: []string{check.Used, check.SideBySide}}
			var found []teasel.Finding
			for _, f := range h.run(t).Findings {
				if f.Rule == tt.rule {
					found = append(found, f)
				}
			}
			if len(found) != 1 || found[0].Stable != found[0].Tries {
				t.Fatalf("%d findings of %s, want one that is reproduced always: %v", len(found), tt.rule, found)
			}
			in, err := script.Codec{}.Decode(found[0].Input)
			if err != nil {
				t.Fatal(err)
			}
			once, unawaited := 0, 0
			for i := range in.Steps {
				again := func(s script.Step) bool { return string(s.Line) == string(in.Steps[i].Line) }
				if !slices.ContainsFunc(in.Steps[i+1:], again) && !slices.ContainsFunc(in.Steps[:i], again) {
					once++
				}
				if in.Steps[i].NoWait {
					unawaited++
				}
			}
			if once != tt.once || unawaited != tt.unawaited {
				t.Errorf("%d calls are made once, %d unawaited, want %d and %d:\n%s", once, unawaited, tt.once, tt.unawaited, found[0].Input)
			}
		})
	}
}

// What a call leaves behind that makes the next one larger or slower is found of each tool, whichever was measured before it, and reproduced.
func TestCollecting(t *testing.T) {
	long(t)
	program := mcptest.BuildServer(t, "keeping")
	for _, tt := range []struct {
		mode, rule string
		tools      int
	}{{"leaking", check.RuleMemoryGrowth, 3}, {"slower", check.RuleSlower, 3}} {
		t.Run(tt.mode, func(t *testing.T) {
			h := &hunt{command: []string{program, tt.mode}, seed: 1, checks: true, labels: []string{check.GrowthMemory}}
			found := 0
			for _, f := range h.run(t).Findings {
				if f.Rule != tt.rule {
					continue
				}
				if found++; f.Stable != f.Tries && tt.rule != check.RuleSlower { // in processor time others on the machine have a part
					t.Errorf("reproduced %d of %d times: %s", f.Stable, f.Tries, f.Message)
				}
			}
			if found != tt.tools {
				t.Errorf("%d findings of %s, want %d", found, tt.rule, tt.tools)
			}
		})
	}
}

// What ends a server some time after it was answered is named, and not the call that came next.
func TestLateDeath(t *testing.T) {
	program := mcptest.BuildServer(t, "keeping")
	for seed := range uint64(2) {
		h := &hunt{command: []string{program, "late-death"}, seed: seed, checks: true, beside: true, labels: []string{check.Injection, check.Invalid, check.Batch}}
		deaths := 0
		for _, f := range h.run(t).Findings {
			if f.Rule != judge.RuleCrash && f.Rule != judge.RuleExit {
				continue
			}
			deaths++
			if in, err := (script.Codec{}).Decode(f.Input); err != nil || f.Subject != "tools/call count_words" || len(in.Steps) != 1 {
				t.Errorf("seed %d: %s of %s: %s\n%s", seed, f.Rule, f.Subject, f.Message, f.Input)
			}
		}
		if deaths == 0 {
			t.Errorf("seed %d: the death is not found", seed)
		}
	}
}

package mcp_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/judge"
)

// TestFailingServer: what becomes of a whole server is one finding, whichever requests meet it.
func TestFailingServer(t *testing.T) {
	t.Parallel()
	server := mcptest.BuildServer(t, "plantedhttp")
	for _, tt := range []struct {
		flags, rule string // "": nothing is found
		long        bool
	}{
		{"-fails 500 -on '", judge.RuleRefuses, false},
		{"-fails 429 -on '", "", false},
		{"-fails 404 -on '", judge.RuleRefuses, true},
		{"-fails 307 -on '", judge.RuleRefuses, true},
		{"-fails silent -on '", judge.RuleDeaf, true},
		{"-fails unlistening -on '", judge.RuleDeaf, true},
		{"-fails cut -on '", judge.RuleRefuses, true},
		{"-fails exit -on '", judge.RuleExit, true},
		{"-fails exit -after 300", judge.RuleExit, false},
		{"-fails 500 -after 300", judge.RuleRefuses, true},
		{"-fails silent -after 300", judge.RuleDeaf, true},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			if tt.long {
				long(t)
			}
			h := &hunt{command: append([]string{server, "-port", "{port}", "-clean"}, strings.Fields(tt.flags)...), url: plantedURL, seed: 1, enough: 20_000, timeout: 2 * time.Second}
			switch {
			case !testing.Short():
			case tt.rule == "":
				h.enough = shorter(t, 20_000, 2000)
			default:
				h.stop = anyFound
			}
			fs := h.run(t).Findings
			if rules := strings.Join(rulesOf(fs), " "); rules != tt.rule {
				t.Errorf("found %q, want %q", rules, tt.rule)
			}
			for _, f := range fs {
				t.Logf("%d of %d: %s %s: %s\n%.300s", f.Stable, f.Tries, f.Rule, f.Subject, f.Message, f.Detail)
			}
		})
	}
}

// TestWornServer: a server that ends after so many requests is one finding, whichever came then.
func TestWornServer(t *testing.T) {
	t.Parallel()
	h := &hunt{command: []string{mcptest.BuildServer(t, plantedtest.Wicked), "exit-each-100"}, seed: 1, enough: 20_000, timeout: 2 * time.Second}
	if testing.Short() {
		h.stop = func(fs []teasel.Finding) bool { return slices.Contains(rulesOf(fs), judge.RuleExit) }
	}
	fs := slices.DeleteFunc(h.run(t).Findings, func(f teasel.Finding) bool { return f.Rule != judge.RuleExit })
	if len(fs) != 1 || !strings.Contains(fs[0].Message, "whatever they are") {
		t.Errorf("%d findings, want one", len(fs))
	}
	for _, f := range fs {
		t.Logf("%d of %d: %s %s: %s\n%.300s", f.Stable, f.Tries, f.Rule, f.Subject, f.Message, f.Detail)
	}
}

func anyFound(fs []teasel.Finding) bool { return len(fs) > 0 }

func rulesOf(fs []teasel.Finding) (rules []string) {
	for _, f := range fs {
		rules = append(rules, f.Rule)
	}
	return rules
}

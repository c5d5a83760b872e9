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
	for _, tt := range []struct{ flags, rule string }{
		{"-fails 500 -on '", judge.RuleRefuses},
		{"-fails 404 -on '", judge.RuleRefuses},
		{"-fails 307 -on '", judge.RuleRefuses},
		{"-fails silent -on '", judge.RuleDeaf},
		{"-fails unlistening -on '", judge.RuleDeaf},
		{"-fails cut -on '", judge.RuleRefuses},
		{"-fails exit -on '", judge.RuleExit},
		{"-fails exit -after 300", judge.RuleExit},
		{"-fails 500 -after 300", judge.RuleRefuses},
		{"-fails silent -after 300", judge.RuleDeaf},
	} {
		t.Run(tt.flags, func(t *testing.T) {
			h := &hunt{command: append([]string{server, "-port", "{port}", "-clean"}, strings.Fields(tt.flags)...), url: plantedURL, seed: 1, enough: shorter(t, 20_000), timeout: 2 * time.Second}
			fs := h.run(t).Findings
			if len(fs) != 1 || fs[0].Rule != tt.rule {
				t.Errorf("%d findings, want one of %s", len(fs), tt.rule)
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
	h := &hunt{command: []string{mcptest.BuildServer(t, plantedtest.Wicked), "exit-each-100"}, seed: 1, enough: shorter(t, 20_000), timeout: 2 * time.Second}
	fs := slices.DeleteFunc(h.run(t).Findings, func(f teasel.Finding) bool { return f.Rule != judge.RuleExit })
	if len(fs) != 1 || !strings.Contains(fs[0].Message, "whatever they are") {
		t.Errorf("%d findings, want one", len(fs))
	}
	for _, f := range fs {
		t.Logf("%d of %d: %s %s: %s\n%.300s", f.Stable, f.Tries, f.Rule, f.Subject, f.Message, f.Detail)
	}
}

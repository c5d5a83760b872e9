package mcp_test

import (
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/mcptest"
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

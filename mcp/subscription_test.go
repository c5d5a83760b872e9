package mcp_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/judge"
)

// TestSubscriptions: what is wrong with subscriptions is found over standard input and output too, where they share the stream with all else.
func TestSubscriptions(t *testing.T) {
	t.Parallel()
	server := mcptest.BuildServer(t, "asking")
	for _, tt := range []struct{ bug, said string }{ // said is a part of the finding's message
		{"no-acknowledgment", "was not acknowledged"},
		{"early", "before that was acknowledged"},
		{"other-id", "does not carry its id"},
		{"none", ""},
	} {
		t.Run(tt.bug, func(t *testing.T) {
			t.Parallel()
			clean := tt.bug == "none"
			command := []string{server, "-stateless", "-bug", tt.bug}
			h := &hunt{command: command, stateless: true, seed: 1, checks: true, labels: []string{check.Subscriptions}, timeout: time.Second}
			found := h.run(t).Findings
			for _, f := range found {
				t.Logf("%s %s %s: %s", f.Severity, f.Rule, f.Subject, f.Message)
			}
			right := slices.ContainsFunc(found, func(f teasel.Finding) bool {
				return f.Rule == judge.RuleSubscription && strings.Contains(f.Message, tt.said)
			})
			switch {
			case clean && len(found) > 0:
				t.Error("false alarm")
			case !clean && !right:
				t.Error("not found")
			}
		})
	}
}

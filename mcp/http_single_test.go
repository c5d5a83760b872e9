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
	"github.com/teaselfuzz/teasel/mcp/session"
)

// TestSingleBugs: a bug of HTTP that is the only one of a server is found by the systematic checks, under its rule. TestCleanHTTP has the same
// server without it.
func TestSingleBugs(t *testing.T) {
	t.Parallel()
	server := mcptest.BuildServer(t, "plantedhttp")
	for _, tt := range []struct {
		bug, flags, rule, said, label string // said is a part of the finding's message; label is of the checks that are run
	}{
		{"answer-on-get", "-sse", judge.RuleHTTPGetAnswer, "", check.Sessions},
		{"resumed-stream", "-sse", check.RuleSessionLeak, "", check.Sessions},
		{"resumed-all", "-sse", check.RuleSessionLeak, "", check.Sessions},
		{"last-client", "", check.RuleSessionState, "", check.SessionState},
		{"session-file", "", check.RuleSessionKept, "files open", check.GrowthFiles},
		{"session-memory", "", check.RuleSessionKept, "Memory grew", check.GrowthMemory},
		{"long-head-exit", "", judge.RuleCrash, "+X-Teasel", check.HTTP},
		{"long-head-hang", "", judge.RuleDeaf, "+X-Teasel", check.HTTP},
		{"declines-some", "", judge.RuleHTTPDeclined, "401", check.HTTP},
		{"progress-elsewhere", "-sse", check.RuleSessionLeak, "", check.Sessions},
		{"third-stream", "-sse", judge.RuleCrash, "too many streams", check.HTTP},
		{"swapped-answers", "", check.RuleMixedAnswers, "", check.InFlight},
		{"call-file", "", check.RuleKeptOpen, "open files", check.KeptOpen},
		{"call-zombie", "", check.RuleKeptOpen, "child processes", check.KeptOpen},
		{"server-request", "-stateless -sse", judge.RuleServerRequest, "", check.Progress},
		{"unasked-log", "-stateless -sse", judge.RuleUnaskedLog, "", check.Progress},
		{"unasked-change", "-stateless -sse", judge.RuleSubscription, "", check.Progress},
		{"scope-of-pages", "-stateless", judge.RuleCaching, "page", check.Pagination},
		{"list-asks", "-stateless", judge.RuleInputRequired, "this method", check.Repeat},
		{"asks-undeclared", "-stateless", judge.RuleInputRequired, "did not declare", check.BareClient},
		{"refuses-missing", "-stateless", judge.RuleMissingInput, "go", check.Questions},
		{"needs-other-code", "-stateless", check.RuleCapabilityCode, "-32603", check.BareClient},
		{"no-discover", "-stateless", judge.RuleDiscover, "-32601", check.Stateless},
		{"discover-404", "-stateless", judge.RuleDiscover, "page not found and status 404", check.Stateless},
		{"needs-other-status", "-stateless", judge.RuleHTTPStatus, "-32021", check.BareClient},
	} {
		t.Run(tt.bug, func(t *testing.T) {
			t.Parallel()
			found := func(fs []teasel.Finding) bool {
				return slices.ContainsFunc(fs, func(f teasel.Finding) bool { return f.Rule == tt.rule && strings.Contains(f.Message, tt.said) })
			}
			h := &hunt{command: append([]string{server, "-port", "{port}", "-bug", tt.bug}, strings.Fields(tt.flags)...), url: plantedURL, seed: 1, checks: true, beside: tt.label == check.InFlight, labels: []string{tt.label},
				stateless: strings.Contains(tt.flags, "-stateless"), choose: session.Selection{Include: []string{"read_text", "confirm"}}, timeout: time.Second, stop: found}
			fs := h.run(t).Findings
			if !found(fs) {
				t.Error("not found")
			}
			for _, f := range fs {
				t.Logf("%s %s %s: %s", f.Severity, f.Rule, f.Subject, f.Message)
			}
		})
	}
}

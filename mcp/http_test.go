package mcp_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/judge"
)

const plantedURL = "http://127.0.0.1:{port}/mcp"

// httpRules are those of which plantedhttp has a planted violation each.
var httpRules = []string{
	judge.RuleHTTPError, judge.RuleHTTPNoResponse, judge.RuleHTTPType, judge.RuleHTTPAccepted, judge.RuleHTTPOrigin,
	judge.RuleHTTPVersion, judge.RuleHTTPSession, judge.RuleHTTPNoSession, judge.RuleHTTPSessionID, judge.RuleHTTPGet,
}

// statelessRules are the same in the version without a handshake, which has no sessions.
var statelessRules = []string{
	judge.RuleHTTPError, judge.RuleHTTPNoResponse, judge.RuleHTTPType, judge.RuleHTTPAccepted, judge.RuleHTTPOrigin, judge.RuleHTTPGet, judge.RuleHTTPMismatch,
	judge.RuleMeta, judge.RuleMetaCode, judge.RuleResultType, judge.RuleCaching,
}

// TestPlantedHTTP: each rule about HTTP has a bug that shows it, with and without the handshake.
func TestPlantedHTTP(t *testing.T) {
	server := mcptest.BuildServer(t, "plantedhttp")
	for _, tt := range []struct {
		name      string
		stateless bool
		rules     []string
	}{{"handshake", false, httpRules}, {"stateless", true, statelessRules}} {
		t.Run(tt.name, func(t *testing.T) {
			lost := func(fs []teasel.Finding) []string {
				return slices.DeleteFunc(slices.Clone(tt.rules), func(rule string) bool {
					return slices.ContainsFunc(fs, func(f teasel.Finding) bool { return f.Rule == rule })
				})
			}
			h := &hunt{command: []string{server, "-port", "{port}", fmt.Sprintf("-stateless=%t", tt.stateless)}, url: plantedURL, stateless: tt.stateless, seed: 1,
				runs: 100_000, stop: func(fs []teasel.Finding) bool { return len(lost(fs)) == 0 }}
			if rules := lost(h.run(t).Findings); len(rules) > 0 {
				t.Errorf("not found: %v", rules)
			}
		})
	}
}

// TestCleanHTTP: on the same server without the bugs nothing is found, whichever way it answers.
func TestCleanHTTP(t *testing.T) {
	server := mcptest.BuildServer(t, "plantedhttp")
	for _, tt := range []struct {
		name, flag string
		stateless  bool
	}{{"json", "-sse=false", false}, {"events", "-sse", false}, {"stateless", "-stateless", true}} {
		t.Run(tt.name, func(t *testing.T) {
			h := &hunt{command: []string{server, "-port", "{port}", "-clean", tt.flag}, url: plantedURL, stateless: tt.stateless, seed: 2, runs: shorter(t, 20_000)}
			for _, f := range h.run(t).Findings {
				t.Errorf("false alarm: %s %s: %s\n%s", f.Rule, f.Subject, f.Message, f.Detail)
			}
		})
	}
}

// TestSameSeedHTTP: the same seed gives the same run over HTTP.
func TestSameSeedHTTP(t *testing.T) {
	server := mcptest.BuildServer(t, "plantedhttp")
	outcome := func() [3]int {
		h := &hunt{command: []string{server, "-port", "{port}"}, url: plantedURL, seed: 7, runs: 3000}
		sum := h.run(t)
		return [3]int{int(sum.Executions), sum.Corpus, len(sum.Findings)}
	}
	if first, second := outcome(), outcome(); first != second {
		t.Errorf("%v and %v", first, second)
	}
}

package mcp_test

import (
	"fmt"
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

const plantedURL = "http://127.0.0.1:{port}/mcp"

// httpRules are those of which plantedhttp has a planted violation each.
var httpRules = []string{
	judge.RuleHTTPError, judge.RuleHTTPNoResponse, judge.RuleHTTPType, judge.RuleHTTPAccepted, judge.RuleHTTPOrigin,
	judge.RuleHTTPVersion, judge.RuleHTTPSession, judge.RuleHTTPNoSession, judge.RuleHTTPSessionID, judge.RuleHTTPGet,
	judge.RuleHTTPHost, judge.RuleHTTPFraming, judge.RuleHTTPRequestType, check.RuleOpenFiles, check.RuleVersions,
}

// eventRules are those of which it has one where it answers with event streams.
var eventRules = []string{judge.RuleHTTPEventID, check.RuleReplay, judge.RuleHTTPBroadcast}

// statelessRules are the same in the version without a handshake, which has no sessions.
var statelessRules = []string{
	judge.RuleHTTPError, judge.RuleHTTPNoResponse, judge.RuleHTTPType, judge.RuleHTTPAccepted, judge.RuleHTTPOrigin, judge.RuleHTTPGet, judge.RuleHTTPMismatch,
	judge.RuleHTTPHost, judge.RuleHTTPEncoding, judge.RuleHTTPStatus, check.RuleOpenFiles, judge.RuleSubscription,
	judge.RuleMeta, judge.RuleMetaCode, judge.RuleResultType, judge.RuleCaching,
}

// TestPlantedHTTP: each rule about HTTP has a bug that shows it, with and without the handshake. Some of the systematic checks show them all; without
// -short a whole campaign has to, in which they are confirmed beside everything else.
func TestPlantedHTTP(t *testing.T) {
	t.Parallel()
	server := mcptest.BuildServer(t, "plantedhttp")
	for _, tt := range []struct {
		name      string
		stateless bool
		sse       bool
		tools     []string // those that are called; nil: all of them
		rules     []string
		labels    []string // of the checks that are run with -short; "": those of all methods and tools
	}{
		{"handshake", false, false, nil, httpRules, []string{"", check.HTTP, check.Traversal, check.Injection, check.GrowthFiles, check.Versions}},
		{"events", false, true, []string{"read_text"}, eventRules, []string{check.IDs, check.Sessions}}, // it is the streams that matter
		{"stateless", true, false, nil, statelessRules, []string{"", check.HTTP, check.Stateless, check.Traversal, check.Injection, check.GrowthFiles}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			lost := func(fs []teasel.Finding) []string {
				return slices.DeleteFunc(slices.Clone(tt.rules), func(rule string) bool {
					return slices.ContainsFunc(fs, func(f teasel.Finding) bool { return f.Rule == rule })
				})
			}
			h := &hunt{command: []string{server, "-port", "{port}", fmt.Sprintf("-stateless=%t", tt.stateless), fmt.Sprintf("-sse=%t", tt.sse)}, url: plantedURL, stateless: tt.stateless, seed: 1,
				choose: session.Selection{Include: tt.tools}, checks: testing.Short(), timeout: time.Second, stop: func(fs []teasel.Finding) bool { return len(lost(fs)) == 0 }}
			if testing.Short() {
				h.labels = tt.labels
			}
			if rules := lost(h.run(t).Findings); len(rules) > 0 {
				t.Errorf("not found: %v", rules)
			}
		})
	}
}

// TestSessionLeak: two sessions with requests of the same ids at once get each other's answers. Where runs are counted there is one request at
// a time, so that this campaign goes by the clock.
func TestSessionLeak(t *testing.T) {
	long(t)
	leaks := func(fs []teasel.Finding) bool {
		return slices.ContainsFunc(fs, func(f teasel.Finding) bool { return f.Rule == check.RuleSessionLeak })
	}
	h := &hunt{command: []string{mcptest.BuildServer(t, "plantedhttp"), "-port", "{port}"}, url: plantedURL, seed: 1, duration: 2 * time.Minute, stop: leaks}
	if !leaks(h.run(t).Findings) {
		t.Error("the leak between sessions was not found")
	}
}

// TestCleanHTTP: on the same server without the bugs nothing is found, whichever way it answers.
func TestCleanHTTP(t *testing.T) {
	t.Parallel()
	server := mcptest.BuildServer(t, "plantedhttp")
	for _, tt := range []struct {
		name, flags string
		stateless   bool
	}{{"json", "-sse=false", false}, {"closes", "-sse=false -closes", false}, {"closes events", "-sse -closes", false}, {"events", "-sse", false}, {"stateless", "-stateless", true}, {"stateless events", "-stateless -sse", true}} {
		t.Run(tt.name, func(t *testing.T) {
			t.Parallel()
			h := &hunt{command: append([]string{server, "-port", "{port}", "-clean"}, strings.Fields(tt.flags)...), url: plantedURL, stateless: tt.stateless, seed: 2, runs: shorter(t, 20_000, 2000)}
			for _, f := range h.run(t).Findings {
				t.Errorf("false alarm: %s %s: %s\n%s", f.Rule, f.Subject, f.Message, f.Detail)
			}
		})
	}
}

// TestSameSeedHTTP: the same seed gives the same run over HTTP.
func TestSameSeedHTTP(t *testing.T) {
	server := mcptest.BuildServer(t, "plantedhttp")
	var outcomes [2][3]int
	t.Run("runs", func(t *testing.T) {
		for i := range outcomes {
			t.Run(fmt.Sprint(i+1), func(t *testing.T) {
				t.Parallel()
				h := &hunt{command: []string{server, "-port", "{port}"}, url: plantedURL, seed: 7, runs: shorter(t, 3000, 1000), timeout: time.Second}
				sum := h.run(t)
				outcomes[i] = [3]int{int(sum.Executions), sum.Corpus, len(sum.Findings)}
			})
		}
	})
	if outcomes[0] != outcomes[1] {
		t.Errorf("%v and %v", outcomes[0], outcomes[1])
	}
}

package mcp_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/judge"
)

// askingBugs are the planted bugs of the server asking, by whether it has a handshake: a rule, and a part of the subject or message.
var askingBugs = map[bool][][2]string{
	false: {
		{judge.RuleCrash, "nil pointer"}, {judge.RuleCrash, "index out of range"}, {judge.RuleCrash, "slice bounds"}, {judge.RuleCrash, "close of closed channel"},
		{judge.RuleHang, "book_table"}, {judge.RuleRequestShape, "elicitation/create"},
		{judge.RuleTaskStatus, "peel_potatoes"}, {judge.RuleTaskStatus, "tasks/get"}, {judge.RuleTaskCancel, ""}, {judge.RuleTaskTimes, ""},
		{judge.RuleTaskSupport, "peel_potatoes"}, {judge.RuleTaskSupport, "open_door"}, {judge.RuleTaskResult, ""},
	},
	true: {{check.RuleEarlierRequests, "tools/list"}, {judge.RuleRequestState, "pay_bill"}, {judge.RuleInputRequired, "wait_for_waiter"}, {judge.RuleCrash, "nil pointer"}},
}

// TestAsking: a client that answers finds what goes wrong behind its answers.
func TestAsking(t *testing.T) {
	long(t)
	server := mcptest.BuildServer(t, "asking")
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprintf("stateless=%t", stateless), func(t *testing.T) {
			t.Parallel()
			lost := func(fs []teasel.Finding) [][2]string {
				return slices.DeleteFunc(slices.Clone(askingBugs[stateless]), func(b [2]string) bool {
					return slices.ContainsFunc(fs, func(f teasel.Finding) bool {
						return f.Rule == b[0] && strings.Contains(f.Subject+f.Message+f.Detail, b[1])
					})
				})
			}
			h := &hunt{command: []string{server, fmt.Sprintf("-stateless=%t", stateless)}, stateless: stateless, seed: 1,
				runs: 60_000, stop: func(fs []teasel.Finding) bool { return len(lost(fs)) == 0 }}
			found := h.run(t).Findings
			for _, b := range lost(found) {
				t.Errorf("not found: %v", b)
			}
		})
	}
}

// TestAskingClean: without the bugs there is nothing to find.
func TestAskingClean(t *testing.T) {
	long(t)
	server := mcptest.BuildServer(t, "asking")
	for _, stateless := range []bool{false, true} {
		t.Run(fmt.Sprintf("stateless=%t", stateless), func(t *testing.T) {
			t.Parallel()
			h := &hunt{command: []string{server, "-clean", fmt.Sprintf("-stateless=%t", stateless)}, stateless: stateless, seed: 2, runs: 8_000}
			for _, f := range h.run(t).Findings {
				t.Errorf("false alarm: %s %s: %s\n%s", f.Rule, f.Subject, f.Message, f.Detail)
			}
		})
	}
}

package gotest

import (
	"fmt"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/blocks"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/report"
)

// progressCheck returns what notes that a fuzz test skips all inputs, or that all go the same way.
func (t *fuzzTest) progressCheck(to *campaign.Live) *campaign.ProgressCheck {
	why := fmt.Sprintf("; a test that skips its inputs lacks something here, and this shows what it says: %s", t.target.Plain("-v"))
	return campaign.NewProgressCheck(to, func() bool { return t.tested.Load() > 0 },
		func(executions uint64) string { return t.target.Name + skips(executions) + " so far" + why },
		fmt.Sprintf("all inputs of %s go the same way: does it return before the code under test, as for a variable of the environment or testing.Short, or before a goroutine that it has started is done?", t.target.Name))
}

// skips says of a fuzz test that it has skipped all of so many inputs.
func skips(executions uint64) string {
	return " has skipped all " + noun.Count(int(executions), "input", "inputs")
}

// sameWayRuns is after how many executions that went the same way it is said that no input goes another.
const sameWayRuns = 1000

// untested returns what a fuzz test has done instead of testing anything, though it has run and nothing was seen; "": it has tested
// something, or that is not known.
func (s *testRun) untested(t *fuzzTest) string {
	sum := &t.summary
	switch {
	case sum.Executions == 0 || len(sum.Findings)+len(sum.Unconfirmed) > 0 || t.err != nil:
		return ""
	case t.tested.Load() == 0:
		return skips(sum.Executions)
	case sum.Corpus == 1 && sum.Executions >= sameWayRuns && s.code.returnsEarly(t):
		return " runs the same few lines of its own and nothing else, whatever the input is: it returns early, or does not wait for what it has started"
	}
	return ""
}

// addUntested adds to a report the fuzz tests that have tested nothing. If none has tested anything, that is what the report says.
func (s *testRun) addUntested(r *report.Run) {
	var all []string
	for _, t := range s.tests {
		if why := s.untested(t); why != "" {
			all = append(all, t.target.Name+why)
			r.Skipped = append(r.Skipped, report.Skip{Subject: t.String(), Reason: "it" + why})
		}
	}
	if len(all) > 0 && len(all) == len(s.tests) {
		r.Untested = strings.Join(all, ", ") + "."
	}
}

// returnsEarly reports whether nothing but the fuzz target itself was reached by the testcases of a fuzz test, and not its end.
func (c *codePanel) returnsEarly(t *fuzzTest) bool {
	s, _, err := t.dir.Snapshot(nil)
	if err != nil {
		return false
	}
	return onlyTarget(c.blocksOf(t), countersOf(t, s.Entries), "."+t.target.Name+".func")
}

// onlyTarget reports whether all blocks that were reached are of functions with target in their names, such as ".FuzzX.func", and the last
// block of these was not: it stands for what comes behind a guard. A target that ends in a check has a block behind that too.
func onlyTarget(known []blocks.Block, reached corpus.EdgeSet, target string) bool {
	missed := false
	for i, b := range known {
		_, was := reached[teasel.Feature(i)]
		own := strings.Contains(b.Function, target)
		if was && !own {
			return false
		}
		if own {
			missed = !was
		}
	}
	return missed && len(reached) > 0
}

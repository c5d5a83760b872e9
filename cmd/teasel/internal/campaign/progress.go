package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/internal/clock"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/report"
)

// untestedHints say how to look at a target that takes no input, by kind.
var untestedHints = map[string]string{
	"mcp":    "the server answered initialize and the lists when teasel looked at it, and nothing in the campaign: try it by hand, or give it longer with --timeout and --duration",
	"net":    "does the server take a connection and answer? teasel net --dry-run shows what is known of it; --timeout and --duration give it longer",
	"native": "look at one of them by hand: teasel native --dry-run shows how inputs are given",
	"go":     "does go test run the fuzz tests? --timeout and --duration give them longer",
}

// aimHints say how to go on where there were executions, and what the run was for was not tested, by kind.
var aimHints = map[string]string{
	"go":  "a test that skips or leaves out its inputs lacks something here, such as a file, a variable of the environment or a flag: go test -v shows what it says",
	"mcp": "--allow NAME calls a tool that may change something, in a place where it can do no harm; --exclude '*' says that only the protocol is to be fuzzed",
	"net": "does the server speak this protocol? 'teasel net check MODEL' shows what is sent, and --strict reports what comes instead",
}

// NothingTested returns an error for a campaign in which no input was run and accepted: that is not a clean result. The summary
// says so as well.
func NothingTested(ctx context.Context, kind string, sum *teasel.Summary) error {
	if ctx.Err() != nil || !report.Untested(sum) {
		return nil
	}
	sum.Stopped = "failed"
	what := "no input was run before the campaign ended: the target was too slow, or takes none"
	if sum.Executions > 0 {
		what = fmt.Sprintf("%s, and no input was accepted: the target refused each, or was so slow that the campaign ended first", noun.Count(int(sum.Executions), "execution", "executions"))
	}
	return &exit.Error{Status: exit.StatusTarget, Err: errors.New(what), Hint: untestedHints[kind]}
}

// ProgressCheck is a reporter that notes, once each, that a campaign executes nothing, and what may be wrong when it reaches almost
// nothing or its target never answers.
type ProgressCheck struct {
	To    teasel.Reporter // of the notes
	start time.Duration   // what a start of the target took before; 0: it is not known
	stuck string          // note for a campaign that reaches nothing new; "": none
	// answered reports whether the target has answered anything in a testcase with these features; nil: it is not known. silent is the
	// note for a target that has never answered.
	answered func(teasel.FeatureSet) bool
	silent   func() string
	// refused returns the note for a target all of whose answers are errors; "": some are not; nil: it is not known.
	refused  func() string
	tested   func() bool                    // whether the target has done anything with an input; nil: it is not known
	untested func(executions uint64) string // note for one that has not

	earlierRuns uint64        // executions of the campaign before it was resumed
	earlierTime time.Duration // its run time until then

	notedNothing, notedStuck, hasAnswered bool
}

// NewProgressCheck returns the check of a campaign whose target says whether it has done anything with an input: untested is the note for
// one that has not, after so many executions, and stuck for one that reaches nothing new.
func NewProgressCheck(to teasel.Reporter, tested func() bool, untested func(executions uint64) string, stuck string) *ProgressCheck {
	return &ProgressCheck{To: to, tested: tested, untested: untested, stuck: stuck}
}

// The times and executions after which a campaign should have kept more than one testcase, its target should have answered, and
// something should have been executed.
const (
	stuckAfter   = 3 * time.Second
	stuckRuns    = 2000
	silentRuns   = 200
	nothingAfter = 5 * time.Second
)

// Report implements [teasel.Reporter].
func (c *ProgressCheck) Report(e teasel.Event) error {
	if e.Kind == teasel.EventAdded && c.answered != nil {
		c.hasAnswered = c.hasAnswered || c.answered(e.Entry.Features)
	}
	if e.Kind != teasel.EventProgress {
		return nil
	}
	s := &e.Stats
	if !c.notedNothing && s.Executions == c.earlierRuns && s.Elapsed-c.earlierTime >= nothingAfter {
		c.notedNothing = true
		why := "the target is still starting, takes that long for an input, or gets no processor"
		if c.start >= slowStart {
			why = fmt.Sprintf("getting the target ready took %s before the campaign, and each worker starts its own", clock.Tenths(c.start))
		}
		return c.note(fmt.Sprintf("no execution has come to an end in %v: %s", (s.Elapsed - c.earlierTime).Round(time.Second), why))
	}
	ran := s.Executions - c.earlierRuns
	if !c.notedStuck && c.tested != nil && s.Elapsed-c.earlierTime >= stuckAfter && ran >= silentRuns && s.Findings == 0 && !c.tested() {
		c.notedStuck = true
		return c.note(c.untested(ran))
	}
	if !c.notedStuck && c.stuck != "" && s.Elapsed >= stuckAfter && s.Executions >= stuckRuns && s.Corpus <= 1 && s.Findings == 0 {
		c.notedStuck = true
		return c.note(c.stuck)
	}
	if !c.notedStuck && c.refused != nil && s.Elapsed-c.earlierTime >= stuckAfter && ran >= silentRuns {
		if note := c.refused(); note != "" {
			c.notedStuck = true
			return c.note(note)
		}
	}
	if !c.notedStuck && c.answered != nil && !c.hasAnswered && s.Elapsed-c.earlierTime >= stuckAfter && ran >= silentRuns && s.Corpus > 0 && s.Findings == 0 {
		c.notedStuck = true
		return c.note(c.silent())
	}
	return nil
}

func (c *ProgressCheck) note(text string) error {
	return c.To.Report(teasel.Event{Kind: teasel.EventNote, Text: text})
}

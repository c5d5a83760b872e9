package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/teaselfuzz/teasel"
)

// lookByHand says how to look at a target that takes nothing, by kind.
var lookByHand = map[string]string{
	"mcp":    "the server answered initialize and the lists, and nothing since: try it by hand, or give it longer with --timeout and --duration",
	"net":    "does the server take a connection and answer? teasel net --dry-run shows what is known of it; --timeout and --duration give it longer",
	"native": "look at one of them by hand: teasel native --dry-run shows how inputs are given",
	"go":     "does go test run the fuzz tests? --timeout and --duration give them longer",
}

// untested is an error if a campaign has ended without one execution that was good for anything: that is no clean result. The
// summary says so as well.
func untested(ctx context.Context, kind string, sum *teasel.Summary) error {
	if ctx.Err() != nil || sum.Corpus > 0 || len(sum.Findings)+len(sum.Unconfirmed) > 0 {
		return nil
	}
	sum.Stopped = "failed"
	what := "no input was run before the campaign ended: the target was too slow, or takes none"
	if sum.Executions > 0 {
		what = fmt.Sprintf("%s, and no input was accepted: the target refused each, or was so slow that the campaign ended first", plural(int(sum.Executions), "execution", "executions"))
	}
	return &exit{status: exitTarget, err: errors.New(what), hint: lookByHand[kind]}
}

// doubt is a reporter that says once that nothing was executed, and once what may be wrong when a campaign has seen next to
// nothing.
type doubt struct {
	to   teasel.Reporter
	idle string // what may be wrong when nothing new is reached; "": nothing comes to mind
	// answered reports whether the target has answered anything in a testcase of these features; nil: nobody knows. silent is what
	// may be wrong when it has never.
	answered func(teasel.FeatureSet) bool
	silent   string
	ran      uint64        // executions before this run
	took     time.Duration // of the runs before this one

	saidNothing, saidIdle, heard bool
}

// These say when a campaign should have executed something, when it should have kept more than one testcase, and when a target
// should have answered something.
const (
	doubtAfter   = 3 * time.Second
	doubtRuns    = 2000
	silentRuns   = 200
	nothingAfter = 5 * time.Second
)

func (d *doubt) Report(e teasel.Event) error {
	if e.Kind == teasel.EventAdded && d.answered != nil {
		d.heard = d.heard || d.answered(e.Entry.Features)
	}
	if e.Kind != teasel.EventProgress {
		return nil
	}
	s := &e.Stats
	if !d.saidNothing && s.Executions == d.ran && s.Elapsed-d.took >= nothingAfter {
		d.saidNothing = true
		return d.note(fmt.Sprintf("nothing was executed in %v: the target is still starting, does not answer, or gets no processor", (s.Elapsed - d.took).Round(time.Second)))
	}
	if !d.saidIdle && d.idle != "" && s.Elapsed >= doubtAfter && s.Executions >= doubtRuns && s.Corpus <= 1 && s.Findings == 0 {
		d.saidIdle = true
		return d.note(d.idle)
	}
	ran := s.Executions - d.ran
	if !d.saidIdle && d.answered != nil && !d.heard && s.Elapsed-d.took >= doubtAfter && ran >= silentRuns && s.Corpus > 0 && s.Findings == 0 {
		d.saidIdle = true
		return d.note(d.silent)
	}
	return nil
}

// reporters passes each event to all of them, in order.
type reporters []teasel.Reporter

func (rs reporters) Report(e teasel.Event) error {
	for _, r := range rs {
		if err := r.Report(e); err != nil {
			return err
		}
	}
	return nil
}

func (d *doubt) note(text string) error {
	return d.to.Report(teasel.Event{Kind: teasel.EventNote, Text: text})
}

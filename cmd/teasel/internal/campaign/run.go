package campaign

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/report"
)

// run prepares, runs and reports a campaign in a directory, which it closes.
func (p *Plan[T]) run(cmd *cobra.Command, dir *corpus.Dir, page *Page, prepare func() error) (err error) {
	defer func() {
		if e := dir.Close(); e != nil && err == nil {
			err = exit.Failure(e)
		} else if e != nil { // the status is that of the campaign, but this has to be seen
			fmt.Fprintf(cmd.ErrOrStderr(), "teasel: %v\n", e)
		}
	}()
	if err := prepare(); err != nil {
		return exit.Failure(err)
	}
	if p.Triage != nil {
		p.Triage.announce(cmd.ErrOrStderr(), p.Options)
	} else {
		Announce(cmd.ErrOrStderr(), p.Options)
	}
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	var before []teasel.Finding
	if r := p.Campaign.Resume; r != nil {
		before = r.Findings
	}
	live := NewLive(cmd, p.Options, before)
	defer live.Close()
	if err := p.attach(cmd, dir, page, live, cancel); err != nil {
		return err
	}
	sum, runErr := p.Campaign.Run(ctx)
	if ctx.Err() != nil && cmd.Context().Err() == nil {
		sum.Stopped = context.Cause(ctx).Error()
	}
	if f, gone := p.gone(runErr); gone {
		runErr = nil
		if !slices.ContainsFunc(sum.Unconfirmed, func(seen teasel.Finding) bool { return seen.ID() == f.ID() }) {
			sum.Unconfirmed = append(sum.Unconfirmed, f)
			e := teasel.Event{Kind: teasel.EventUnconfirmed, Finding: f}
			runErr = errors.Join(dir.Report(e), live.Report(e))
		}
		if runErr == nil {
			sum.Stopped = "gone"
		}
	}
	p.member.Leave(sum.Stopped)
	p.member = nil
	if p.recorder != nil {
		p.recorder.End(sum.Stopped)
	}
	_ = live.Close() // what it could not show is in the report
	return p.conclude(cmd, dir, sum, runErr)
}

// attach gives the campaign its limits, and those whom it reports to: the directory, then whoever looks on, then the fleet. stop ends the
// campaign, for a cause.
func (p *Plan[T]) attach(cmd *cobra.Command, dir *corpus.Dir, page *Page, live *Live, stop context.CancelCauseFunc) error {
	c, o := &p.Campaign, p.Options
	left, err := p.left(cmd.ErrOrStderr())
	if err != nil {
		return err
	}
	if p.Triage != nil {
		c.SeedsOnly, c.TrimRuns = true, -1
		c.Reporters = append(c.Reporters, p.Triage)
	}
	c.Reporters = append(c.Reporters, dir, live) // on disk first, then on the screen
	if err := p.show(cmd, page, live, dir); err != nil {
		return exit.Failure(err)
	}
	c.Reporters = append(c.Reporters, p.progressCheck(live))
	c.NewDetectors = WithSandbox(WithSeverity(c.NewDetectors, p.Severity), p.Sandbox)
	c.Seed, c.Workers, c.Duration, c.Runs, c.Memory = o.Seed, o.Workers, left, o.Runs, o.LimitMemory()
	if err := p.join(dir, live, stop); err != nil {
		return err
	}
	c.StopAfter, c.Counts = o.StopAfter, o.Counts
	return nil
}

// conclude writes how the campaign has ended to its directory, and reports it.
func (p *Plan[T]) conclude(cmd *cobra.Command, dir *corpus.Dir, sum teasel.Summary, runErr error) error {
	var nothing error
	if runErr == nil && sum.Stopped != "gone" {
		nothing = p.explainStart(NothingTested(cmd.Context(), p.Meta.Kind, &sum))
	}
	if e := dir.Finish(sum); e != nil && runErr == nil {
		runErr = e
	}
	if p.Triage != nil {
		runErr = errors.Join(runErr, dir.WriteTriaged(p.Triage.ended(&sum)))
	}
	if e := p.keepSources(dir); e != nil && runErr == nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "teasel: warning: %v\n", e)
	}
	sum.Unconfirmed = withUntried(sum.Unconfirmed, dir.Summary().Unconfirmed)
	if runErr != nil {
		return p.failed(cmd, dir, sum, runErr)
	}
	run, err := p.report(cmd, dir, sum)
	if err != nil {
		return err
	}
	if nothing != nil {
		return nothing
	}
	if err := Outcome(cmd.Context(), run, p.Options); p.Triage == nil || cmd.Context().Err() == nil {
		return err
	}
	return &exit.Error{Status: exit.StatusInterrupted, Hint: "run the same command again to triage all inputs"}
}

// keepSources notes which source files the testcases reach, if the kind knows that.
func (p *Plan[T]) keepSources(dir *corpus.Dir) error {
	m := dir.Meta()
	if s, ok := p.Kind.Paneler(&m, dir.Path()).(sourcer); ok {
		return KeepSources(dir, s.Files)
	}
	return nil
}

// A sourcer is a view.Paneler that knows the source files that have code, those with code that testcases reach apart.
type sourcer interface {
	Files(entries []teasel.Entry) (reached, missed []string)
}

// gone returns the finding that an error of the campaign is.
func (p *Plan[T]) gone(err error) (teasel.Finding, bool) {
	if err == nil || p.Gone == nil {
		return teasel.Finding{}, false
	}
	return p.Gone(err)
}

// join has the campaign take part in its fleet, if it has one. What it finds is on disk before it is sent.
func (p *Plan[T]) join(dir *corpus.Dir, notes teasel.Reporter, stop context.CancelCauseFunc) error {
	if p.member == nil {
		return nil
	}
	c := &p.Campaign
	if c.Pause == nil {
		c.Pause = &teasel.Pause{}
	}
	c.Errands = true
	b, err := p.member.Join(p.Options, dir, fleet.Options{Existing: c.Resume, Notes: notes, Pause: c.Pause.Set, Stop: func(cause string) { stop(errors.New(cause)) }})
	if err != nil {
		return err
	}
	if p.recorder != nil {
		p.recorder.AddPanels(b.Panels)
	}
	c.Reporters = append(c.Reporters, b)
	if c.Source == nil {
		c.Source = b
	} else {
		c.Source = sources{c.Source, b}
	}
	return nil
}

// progressCheck returns the check of the campaign, whose notes go to a reporter.
func (p *Plan[T]) progressCheck(to teasel.Reporter) *ProgressCheck {
	c := &ProgressCheck{To: to, start: p.started, stuck: p.StuckNote, refused: p.RefusedNote, answered: p.Answered, silent: p.SilentNote}
	if r := p.Campaign.Resume; r != nil && len(r.Entries) > 0 {
		c.answered = nil // earlier testcases are not reported again
		c.earlierRuns, c.earlierTime = r.Executions, r.Elapsed
	}
	return c
}

// withUntried adds the findings that earlier runs had no time to reproduce, and this one neither, to those of this run. The engine does
// not know them; the directory has left out what was confirmed or tried meanwhile.
func withUntried(these, earlier []teasel.Finding) []teasel.Finding {
	seen := map[string]bool{}
	for i := range these {
		seen[these[i].ID()] = true
	}
	for _, f := range earlier {
		if !seen[f.ID()] {
			these = append(these, f)
		}
	}
	slices.SortFunc(these, func(a, b teasel.Finding) int { return a.Compare(&b) })
	return these
}

// failed writes the report of a campaign that a failure of ours has ended, or a target that could not be started any more.
func (p *Plan[T]) failed(cmd *cobra.Command, dir *corpus.Dir, sum teasel.Summary, cause error) error {
	err := exit.TargetFailure(cause)
	if sum.Executions == 0 {
		return err
	}
	if _, e := p.report(cmd, dir, sum); e != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "teasel: %v\n", e)
	}
	var e *exit.Error
	if errors.As(err, &e) && corpus.IsCampaign(dir.Path()) {
		saved := "what was found until then is saved"
		if slices.ContainsFunc(slices.Concat(sum.Findings, sum.Unconfirmed), func(f teasel.Finding) bool { return f.Unsaved != "" }) {
			saved = "what was found until then is saved, but for the findings that the report has as not saved"
		}
		saved += "; to carry on: teasel resume " + plain.Quote(dir.Path())
		e.Hint = strings.TrimPrefix(e.Hint+"\nhint: "+saved, "\nhint: ")
	}
	return err
}

// Outcome returns the error with the exit status of a campaign that has ended normally, and that a report is about; nil: nothing that is
// severe enough was found, or seen and not tried again.
func Outcome(ctx context.Context, r *report.Run, o *flags.Options) error {
	if ctx.Err() != nil {
		return &exit.Error{Status: exit.StatusInterrupted, Hint: "to carry on: teasel resume " + o.Out}
	}
	if outcome := r.Outcome(); outcome.Fails(o.FailOn) {
		return &exit.Error{Status: exit.StatusFindings}
	}
	if r.Untested != "" {
		return &exit.Error{Status: exit.StatusTarget, Err: errors.New(strings.TrimSuffix(r.Untested, ".")), Hint: aimHints[r.Kind]}
	}
	return nil
}

// report writes the report of the campaign, and returns what it is about.
func (p *Plan[T]) report(cmd *cobra.Command, dir *corpus.Dir, sum teasel.Summary) (*report.Run, error) {
	run := p.Kind.Report(dir, sum)
	run.Baseline = p.Options.Known
	if p.Complete != nil {
		p.Complete(run)
	}
	if run.Untested != "" {
		if err := dir.SetUntested(run.Untested); err != nil {
			fmt.Fprintf(cmd.ErrOrStderr(), "teasel: warning: %v\n", err)
		}
	}
	WarnMemory(cmd.ErrOrStderr(), p.Options, run)
	return run, WriteReports(cmd.OutOrStdout(), p.Options, run)
}

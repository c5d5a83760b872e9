// Package campaign plans, runs and reports a campaign of any kind of target, and finds and opens the directories of campaigns.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
	"github.com/teaselfuzz/teasel/gofunc/session"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// Plan is a campaign of one kind, ready to run. It is the last type that knows the type of inputs.
type Plan[T any] struct {
	Meta       corpus.Meta
	Options    *flags.Options
	Campaign   teasel.Campaign[T]
	Seeds      []Seed[T]
	Severity   map[string]string // by rule, from the configuration
	Kind       Kind
	RunAgain   bool                               // the target has changed: all testcases and seeds run again
	StuckNote  string                             // for a campaign that reaches nothing new; "": none
	SilentNote string                             // for a target that never answers; see Answered
	Answered   func(teasel.FeatureSet) bool       // whether the target answers in a testcase with these features; nil: it is not known
	Introduce  func(io.Writer)                    // prints what is fuzzed, and warnings about it; nil: nothing
	Given      string                             // what a new campaign begins with, in a few words; "": Introduce says it
	DryRun     func(io.Writer) error              // shows what would be fuzzed
	Close      func()                             // ends what planning has started; nil: nothing
	Triage     *Triage                            // the seeds are files to triage, and nothing is made from them; nil: it is an ordinary campaign
	member     *Member                            // of a fleet; nil: of none
	recorder   *view.Recorder                     // for a page and a screen; nil: there are none
	Gone       func(error) (teasel.Finding, bool) // the finding that an error of the campaign is, of a target that is not ours and has ended; nil: there is none
	Complete   func(*report.Run)                  // adds to the report what is known when the campaign has run; nil: nothing
}

// Seed is an input to begin with, and the folder of the campaign's directory that it is written to.
type Seed[T any] struct {
	Folder string // corpus.Valid, corpus.EdgeCases; "": it comes from a directory of the user's
	Name   string
	Input  T
}

// Begin runs a new campaign. A campaign that is in the directory already is kept, under another name.
func (p *Plan[T]) Begin(cmd *cobra.Command) error {
	o := p.Options
	var err error
	if p.member, err = Enlist(cmd.Context(), o, &p.Meta, o.Out, "", cmd.ErrOrStderr()); err != nil {
		return err
	}
	defer func() { p.member.Leave("failed") }()
	page, err := OpenPage(o, cmd.ErrOrStderr()) // before the earlier campaign is moved, for the address may be wrong
	if err != nil {
		return err
	}
	defer page.Close()
	if err := p.goOn(cmd.ErrOrStderr()); err != nil {
		return err
	}
	dir, err := corpus.Create(o.Out, p.Meta)
	if err != nil {
		return exit.Usage("choose another directory with --out", "%w", err)
	}
	return p.finish(cmd, dir, page, func() error { return Begin(&p.Campaign, dir, p.Seeds) })
}

// Begin gives a campaign its seeds, and writes those that are not the user's to its directory.
func Begin[T any](c *teasel.Campaign[T], dir *corpus.Dir, seeds []Seed[T]) error {
	for _, s := range seeds {
		c.Seeds = append(c.Seeds, s.Input)
		if s.Folder == "" {
			continue
		}
		data, err := c.Codec.Encode(s.Input)
		if err == nil {
			err = dir.WriteSeed(s.Folder, s.Name, data)
		}
		if err != nil {
			return fmt.Errorf("writing seed %s: %w", s.Name, err)
		}
	}
	return nil
}

// goOn moves the campaign that is in the directory already aside and, unless this one is to begin anew, has it begin with what that one
// has learnt.
func (p *Plan[T]) goOn(w io.Writer) error {
	earlier, err := moveEarlier(p.Options.Out)
	if err != nil || earlier == "" {
		return err
	}
	var seeds []Seed[T]
	findings := 0
	if !p.Options.Fresh {
		if seeds, findings, err = p.learnt(earlier, w); err != nil {
			return err
		}
	}
	if len(seeds) == 0 {
		fmt.Fprintf(w, "teasel: the earlier campaign in %s is now in %s ('teasel resume %s' carries it on)\n", p.Options.Out, earlier, earlier)
		return nil
	}
	p.Seeds = append(seeds, p.Seeds...)
	fmt.Fprintf(w, "teasel: going on from %s and %s of the earlier campaign, now in %s; --fresh begins anew\n",
		noun.Count(len(seeds)-findings, "testcase", "testcases"), noun.Count(findings, "finding", "findings"), earlier)
	return nil
}

// Resume runs a campaign from where it stopped.
func (p *Plan[T]) Resume(cmd *cobra.Command, dir *corpus.Dir) (err error) {
	m := dir.Meta()
	if p.member, err = Enlist(cmd.Context(), p.Options, &m, dir.Path(), "", cmd.ErrOrStderr()); err != nil {
		return errors.Join(err, dir.Close())
	}
	defer func() { p.member.Leave("failed") }()
	page, err := OpenPage(p.Options, cmd.ErrOrStderr())
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	defer page.Close()
	return p.finish(cmd, dir, page, func() error {
		s, problems, err := dir.Snapshot(func(data []byte) error {
			_, err := p.Campaign.Codec.Decode(data)
			return err
		})
		if err != nil {
			return err
		}
		Warn(cmd.ErrOrStderr(), problems)
		p.Campaign.Resume = &s
		waiting := s.Waiting
		if p.RunAgain || s.Elapsed == 0 { // or it was killed before it has stored how many
			waiting = len(p.Seeds)
		}
		for _, left := range p.Seeds[max(0, len(p.Seeds)-waiting):] {
			p.Campaign.Seeds = append(p.Campaign.Seeds, left.Input)
		}
		return nil
	})
}

// finish prepares, runs and reports a campaign in a directory, which it closes.
func (p *Plan[T]) finish(cmd *cobra.Command, dir *corpus.Dir, page *Page, prepare func() error) (err error) {
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
	c := &p.Campaign
	var before []teasel.Finding
	if c.Resume != nil {
		before = c.Resume.Findings
	}
	if p.Triage != nil {
		c.SeedsOnly, c.TrimRuns = true, -1
		c.Reporters = append(c.Reporters, p.Triage)
		p.Triage.announce(cmd.ErrOrStderr(), p.Options)
	} else {
		Announce(cmd.ErrOrStderr(), p.Options)
	}
	live := NewLive(cmd, p.Options, before)
	defer live.Close()
	c.Reporters = append(c.Reporters, dir, live) // on disk first, then on the screen
	if err := p.show(cmd, page, live, dir); err != nil {
		return exit.Failure(err)
	}
	c.Reporters = append(c.Reporters, p.progressCheck(live))
	c.NewDetectors = WithSandbox(WithSeverity(c.NewDetectors, p.Severity), &p.Options.Isolation)
	o := p.Options
	c.Seed, c.Workers, c.Duration, c.Runs = o.Seed, o.Workers, o.Duration, o.Runs
	c.Memory = o.LimitMemory()
	ctx, cancel := context.WithCancelCause(cmd.Context())
	defer cancel(nil)
	enough := &session.Limit{Findings: o.StopAfter, Ignore: o.Known.Known, Reached: func() { cancel(errors.New("findings")) }}
	if err := p.join(dir, live, cancel); err != nil {
		return err
	}
	if o.Known == nil {
		c.StopAfter = o.StopAfter
	} else {
		c.Reporters = append(c.Reporters, enough)
	}
	sum, runErr := c.Run(ctx)
	if ctx.Err() != nil && cmd.Context().Err() == nil {
		sum.Stopped = context.Cause(ctx).Error()
	}
	f, gone := p.gone(runErr)
	if gone {
		e := teasel.Event{Kind: teasel.EventUnconfirmed, Finding: f}
		if runErr = errors.Join(dir.Report(e), live.Report(e)); runErr == nil {
			sum.Unconfirmed, sum.Stopped = append(sum.Unconfirmed, f), "gone"
		}
	}
	p.member.Leave(sum.Stopped)
	p.member = nil
	if p.recorder != nil {
		p.recorder.End(sum.Stopped)
	}
	_ = live.Close() // what it could not show is in the report
	var nothing error
	if runErr == nil && !gone {
		nothing = NothingTested(cmd.Context(), p.Meta.Kind, &sum)
	}
	if e := dir.Finish(sum); e != nil && runErr == nil {
		runErr = e
	}
	if p.Triage != nil {
		runErr = errors.Join(runErr, dir.WriteTriaged(p.Triage.ended(&sum)))
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
	if err := Outcome(cmd.Context(), run, o); p.Triage == nil || cmd.Context().Err() == nil {
		return err
	}
	return &exit.Error{Status: exit.StatusInterrupted, Hint: "run the same command again to triage all inputs"}
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
	b, err := p.member.Join(p.Options, dir, fleet.Options{Existing: c.Resume, Errands: true, Notes: notes, Pause: c.Pause.Set, Stop: func(cause string) { stop(errors.New(cause)) }})
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

// progressCheck returns the check of the campaign, whose notes go to a reporter.
func (p *Plan[T]) progressCheck(to teasel.Reporter) *ProgressCheck {
	c := &ProgressCheck{To: to, stuck: p.StuckNote, answered: p.Answered, silent: p.SilentNote}
	if r := p.Campaign.Resume; r != nil {
		c.answered = nil // earlier testcases are not reported again
		c.earlierRuns, c.earlierTime = r.Executions, r.Elapsed
	}
	return c
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
		saved := "what was found until then is saved; to carry on: teasel resume " + report.Quote(dir.Path())
		e.Hint = strings.TrimPrefix(e.Hint+"\nhint: "+saved, "\nhint: ")
	}
	return err
}

// Announce prints what begins, how, and when it ends.
func Announce(w io.Writer, o *flags.Options) {
	var until []string
	if o.Duration > 0 {
		until = append(until, "for "+o.Duration.String())
	}
	if o.Runs > 0 {
		until = append(until, fmt.Sprintf("for %d executions", o.Runs))
	}
	if until == nil {
		until = []string{"without end"}
	}
	fmt.Fprintf(w, "teasel: fuzzing %s, profile %s, %s, seed %d, into %s; Ctrl-C stops and saves\n", strings.Join(until, " or "), o.ProfileName(), noun.Count(o.Workers, "worker", "workers"), o.Seed, o.Out)
}

// Outcome returns the error with the exit status of a campaign that has ended normally, and that a report is about; nil: nothing that is
// severe enough was found, or seen and not tried again.
func Outcome(ctx context.Context, r *report.Run, o *flags.Options) error {
	if ctx.Err() != nil {
		return &exit.Error{Status: exit.StatusInterrupted, Hint: "to carry on: teasel resume " + o.Out}
	}
	if came := r.Outcome(); came.Fails(o.FailOn) {
		return &exit.Error{Status: exit.StatusFindings}
	}
	if r.Untested != "" {
		return &exit.Error{Status: exit.StatusTarget, Err: errors.New(strings.TrimSuffix(r.Untested, ".")), Hint: untestedHint}
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
	return run, WriteReports(cmd.OutOrStdout(), p.Options, run)
}

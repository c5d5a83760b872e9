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
	"github.com/teaselfuzz/teasel/gofunc/session"
	"github.com/teaselfuzz/teasel/monitor"
	"github.com/teaselfuzz/teasel/report"
)

// Plan is a campaign of one kind, ready to run. It is the last type that knows the type of inputs.
type Plan[T any] struct {
	Meta       corpus.Meta
	Options    *flags.Options
	Campaign   teasel.Campaign[T]
	Seeds      []Seed[T]
	Severity   map[string]string                             // by rule, from the configuration
	NewReport  func(*corpus.Dir, teasel.Summary) *report.Run // gathers what the report is about
	RunAgain   bool                                          // the target has changed: all testcases and seeds run again
	StuckNote  string                                        // for a campaign that reaches nothing new; "": none
	SilentNote string                                        // for a target that never answers; see Answered
	Answered   func(teasel.FeatureSet) bool                  // whether the target answers in a testcase with these features; nil: it is not known
	Complete   func(*report.Run)                             // adds to the report what is known when the campaign has run; nil: nothing
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
	if err := moveEarlier(o.Out, cmd.ErrOrStderr()); err != nil {
		return err
	}
	dir, err := corpus.Create(o.Out, p.Meta)
	if err != nil {
		return exit.Usage("choose another directory with --out", "%w", err)
	}
	return p.finish(cmd, dir, func() error {
		for _, s := range p.Seeds {
			p.Campaign.Seeds = append(p.Campaign.Seeds, s.Input)
			if s.Folder == "" {
				continue
			}
			data, err := p.Campaign.Codec.Encode(s.Input)
			if err != nil {
				return fmt.Errorf("encoding seed %s: %w", s.Name, err)
			}
			if err := dir.WriteSeed(s.Folder, s.Name, data); err != nil {
				return err
			}
		}
		return nil
	})
}

// Resume runs a campaign from where it stopped.
func (p *Plan[T]) Resume(cmd *cobra.Command, dir *corpus.Dir) error {
	return p.finish(cmd, dir, func() error {
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
func (p *Plan[T]) finish(cmd *cobra.Command, dir *corpus.Dir, prepare func() error) (err error) {
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
	show := monitor.Options{Title: p.Meta.Kind + ": " + p.Meta.Name, Plain: p.Options.NoUI, Known: p.Options.Known.Known}
	if c.Resume != nil {
		show.Before = c.Resume.Findings
	}
	Announce(cmd.ErrOrStderr(), p.Options)
	live := monitor.New(cmd.ErrOrStderr(), show)
	c.Reporters = append(c.Reporters, dir, live, p.progressCheck(live)) // on disk first, then on the screen
	c.NewDetectors = WithSeverity(c.NewDetectors, p.Severity)
	o := p.Options
	c.Seed, c.Workers, c.Duration, c.Runs = o.Seed, o.Workers, o.Duration, o.Runs
	c.Memory = o.LimitMemory()
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	enough := &session.Limit{Findings: o.StopAfter, Ignore: o.Known.Known, Reached: cancel}
	if o.Known == nil {
		c.StopAfter = o.StopAfter
	} else {
		c.Reporters = append(c.Reporters, enough)
	}
	sum, runErr := c.Run(ctx)
	if ctx.Err() != nil && cmd.Context().Err() == nil {
		sum.Stopped = "findings"
	}
	_ = live.Close() // what it could not show is in the report
	var nothing error
	if runErr == nil {
		nothing = NothingTested(cmd.Context(), p.Meta.Kind, &sum)
	}
	if e := dir.Finish(sum); e != nil && runErr == nil {
		runErr = e
	}
	sum.Unconfirmed = withUntried(sum.Unconfirmed, dir.Summary().Unconfirmed)
	if runErr != nil {
		return p.failed(cmd, dir, sum, runErr)
	}
	if err := p.report(cmd, dir, sum); err != nil {
		return err
	}
	if nothing != nil {
		return nothing
	}
	return Outcome(cmd.Context(), sum, o)
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
	if e := p.report(cmd, dir, sum); e != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "teasel: %v\n", e)
	}
	var e *exit.Error
	if errors.As(err, &e) {
		saved := "what was found until then is saved; to carry on: teasel resume " + report.Quote(dir.Path())
		e.Hint = strings.TrimPrefix(e.Hint+"\nhint: "+saved, "\nhint: ")
	}
	return err
}

// Announce prints what begins, and when it ends.
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
	fmt.Fprintf(w, "teasel: fuzzing %s, seed %d, into %s; Ctrl-C stops and saves\n", strings.Join(until, " or "), o.Seed, o.Out)
}

// Outcome returns the error with the exit status of a campaign that has ended normally; nil: nothing was found.
func Outcome(ctx context.Context, sum teasel.Summary, o *flags.Options) error {
	if ctx.Err() != nil {
		return &exit.Error{Status: exit.StatusInterrupted, Hint: "to carry on: teasel resume " + o.Out}
	}
	for _, f := range sum.Unconfirmed {
		if f.Tries == 0 && f.Severity >= o.FailOn && !o.Known.Known(f.ID()) { // there was no time to reproduce it: it may be real
			return &exit.Error{Status: exit.StatusFindings}
		}
	}
	for i := range sum.Findings {
		if f := &sum.Findings[i]; f.Severity >= o.FailOn && !o.Known.Known(f.ID()) {
			return &exit.Error{Status: exit.StatusFindings}
		}
	}
	return nil
}

// report writes the report of the campaign.
func (p *Plan[T]) report(cmd *cobra.Command, dir *corpus.Dir, sum teasel.Summary) error {
	run := p.NewReport(dir, sum)
	run.Baseline = p.Options.Known
	if p.Complete != nil {
		p.Complete(run)
	}
	return WriteReport(cmd.OutOrStdout(), p.Options.Format, run)
}

// WriteReport writes a report to w.
func WriteReport(w io.Writer, format string, r *report.Run) error {
	if err := report.Write(w, format, r); err != nil {
		return exit.Failure(fmt.Errorf("writing the report: %w", err))
	}
	return nil
}

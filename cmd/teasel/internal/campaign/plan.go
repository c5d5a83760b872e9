// Package campaign plans, runs and reports a campaign of any kind of target, and finds and opens the directories of campaigns.
package campaign

import (
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/isolation"
	"github.com/teaselfuzz/teasel/internal/noun"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// Plan is a campaign of one kind, ready to run. It is the last type that knows the type of inputs.
type Plan[T any] struct {
	Meta        corpus.Meta
	Options     *flags.Options
	Campaign    teasel.Campaign[T]
	Seeds       []Seed[T]
	Severity    map[string]string // by rule, from the configuration
	Kind        Kind
	RunAgain    bool                               // the target has changed: all testcases and seeds run again
	StuckNote   string                             // for a campaign that reaches nothing new; "": none
	RefusedNote func() string                      // for a target whose answers are all errors; "": they are not; nil: it is not known
	SilentNote  func() string                      // for a target that never answers; see Answered
	Answered    func(teasel.FeatureSet) bool       // whether the target answers in a testcase with these features; nil: it is not known
	Introduce   func(io.Writer)                    // prints what is fuzzed, and warnings about it; nil: nothing
	Given       string                             // what a new campaign begins with, in a few words; "": Introduce says it
	DryRun      func(io.Writer) error              // shows what would be fuzzed
	Close       func()                             // ends what planning has started; nil: nothing
	Triage      *Triage                            // the seeds are files to triage, and nothing is made from them; nil: it is an ordinary campaign
	Sandbox     *isolation.Sandbox                 // around the programs; nil: there is none
	member      *Member                            // of a fleet; nil: of none
	recorder    *view.Recorder                     // for a page and a screen; nil: there are none
	Gone        func(error) (teasel.Finding, bool) // the finding that an error of the campaign is, of a target that is not ours and has ended; nil: there is none
	started     time.Duration                      // what planning has taken: the target was started for it
	Complete    func(*report.Run)                  // adds to the report what is known when the campaign has run; nil: nothing
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
	if p.member, err = JoinFleet(cmd.Context(), o, &p.Meta, o.Out, "", cmd.ErrOrStderr()); err != nil {
		return err
	}
	defer func() { p.member.Leave("failed") }()
	page, err := OpenPage(o, cmd.ErrOrStderr()) // before the earlier campaign is moved, for the address may be wrong
	if err != nil {
		return err
	}
	defer page.Close()
	if err := p.continueEarlier(cmd.ErrOrStderr()); err != nil {
		return err
	}
	dir, err := corpus.Create(o.Out, p.Meta)
	if err != nil {
		return exit.Usage("choose another directory with --out", "%w", err)
	}
	return p.run(cmd, dir, page, func() error { return Begin(&p.Campaign, dir, p.Seeds) })
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

// continueEarlier moves the campaign that is in the directory already aside and, unless this one is to begin anew, has it begin with what that one
// has learnt.
func (p *Plan[T]) continueEarlier(w io.Writer) error {
	earlier, err := moveEarlier(p.Options.Out)
	if err != nil || earlier == "" {
		return err
	}
	var seeds []Seed[T]
	var untried []teasel.Finding
	findings := 0
	if !p.Options.Fresh {
		if seeds, untried, findings, err = p.earlierInputs(earlier, w); err != nil {
			return err
		}
	}
	if len(seeds)+len(untried) == 0 {
		fmt.Fprintf(w, "teasel: the earlier campaign in %s is now in %s ('teasel resume %s' carries it on)\n", p.Options.Out, earlier, earlier)
		return nil
	}
	p.Seeds = append(seeds, p.Seeds...)
	if len(untried) > 0 {
		p.Campaign.Resume = &teasel.Snapshot{Untried: untried}
	}
	fmt.Fprintf(w, "teasel: going on from %s and %s of the earlier campaign, now in %s; --fresh begins anew\n",
		noun.Count(len(seeds)+len(untried)-findings, "testcase", "testcases"), noun.Count(findings, "finding", "findings"), earlier)
	return nil
}

// resume runs a campaign from where it stopped.
func (p *Plan[T]) resume(cmd *cobra.Command, dir *corpus.Dir) (err error) {
	m := dir.Meta()
	if p.member, err = JoinFleet(cmd.Context(), p.Options, &m, dir.Path(), "", cmd.ErrOrStderr()); err != nil {
		return errors.Join(err, dir.Close())
	}
	defer func() { p.member.Leave("failed") }()
	page, err := OpenPage(p.Options, cmd.ErrOrStderr())
	if err != nil {
		return errors.Join(err, dir.Close())
	}
	defer page.Close()
	return p.run(cmd, dir, page, func() error {
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

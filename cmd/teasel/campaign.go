package main

import (
	"context"
	"crypto/rand"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/session"
	"github.com/teaselfuzz/teasel/monitor"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/report"
)

// plan is a campaign of one kind, ready to run. It is the last place that knows the type of input.
type plan[T any] struct {
	meta     corpus.Meta
	options  *options
	campaign teasel.Campaign[T]
	seeds    []seed[T]
	rules    []teasel.Rule
	severity map[string]string            // by rule, from the configuration
	again    bool                         // the target is not what it was: what was run before runs again
	idle     string                       // what may be wrong when nothing new is reached; "": nothing comes to mind
	answered func(teasel.FeatureSet) bool // see doubt
	silent   string
	complete func(*report.Run) // adds what is known when the campaign has run; nil: nothing is
}

// seed is an input to begin with and where it is filed.
type seed[T any] struct {
	folder string // corpus.Valid, corpus.EdgeCases; "": it comes from a directory of the user's
	name   string
	in     T
}

// drawSeed returns a seed for a campaign whose user named none: small enough to be typed.
func drawSeed() uint64 {
	var b [4]byte
	_, _ = rand.Read(b[:]) // never fails
	return uint64(binary.LittleEndian.Uint32(b[:]))
}

// begin runs a new campaign. One that is there already in the directory is kept, under another name.
func (p *plan[T]) begin(cmd *cobra.Command) error {
	o := p.options
	if err := makeRoom(o.Out, cmd.ErrOrStderr()); err != nil {
		return err
	}
	dir, err := corpus.Create(o.Out, p.meta)
	if err != nil {
		return usage("choose another directory with --out", "%w", err)
	}
	return p.finish(cmd, dir, func() error {
		for _, s := range p.seeds {
			p.campaign.Seeds = append(p.campaign.Seeds, s.in)
			if s.folder == "" {
				continue
			}
			data, err := p.campaign.Codec.Encode(s.in)
			if err != nil {
				return fmt.Errorf("encoding seed %s: %w", s.name, err)
			}
			if err := dir.WriteSeed(s.folder, s.name, data); err != nil {
				return err
			}
		}
		return nil
	})
}

// resume runs a campaign on from where it stopped.
func (p *plan[T]) resume(cmd *cobra.Command, dir *corpus.Dir) error {
	return p.finish(cmd, dir, func() error {
		s, problems, err := dir.Snapshot(func(data []byte) error {
			_, err := p.campaign.Codec.Decode(data)
			return err
		})
		if err != nil {
			return err
		}
		warn(cmd.ErrOrStderr(), problems)
		p.campaign.Resume = &s
		waiting := s.Waiting
		if p.again || s.Elapsed == 0 { // or it was killed before it could say how many
			waiting = len(p.seeds)
		}
		for _, left := range p.seeds[max(0, len(p.seeds)-waiting):] {
			p.campaign.Seeds = append(p.campaign.Seeds, left.in)
		}
		return nil
	})
}

// finish prepares, runs and reports a campaign in a directory, which it closes.
func (p *plan[T]) finish(cmd *cobra.Command, dir *corpus.Dir, prepare func() error) (err error) {
	defer func() {
		if e := dir.Close(); e != nil && err == nil {
			err = failure(e)
		} else if e != nil { // what the campaign came to says more by its status, but this must not pass unseen
			fmt.Fprintf(cmd.ErrOrStderr(), "teasel: %v\n", e)
		}
	}()
	if err := prepare(); err != nil {
		return failure(err)
	}
	c := &p.campaign
	show := monitor.Options{Title: p.meta.Kind + ": " + p.meta.Name, Plain: p.options.NoUI, Known: p.options.known.Known}
	if c.Resume != nil {
		show.Before = c.Resume.Findings
	}
	p.announce(cmd.ErrOrStderr())
	live := monitor.New(cmd.ErrOrStderr(), show)
	c.Reporters = append(c.Reporters, dir, live) // on disk first, then on the screen
	d := &doubt{to: live, idle: p.idle, answered: p.answered, silent: p.silent}
	if c.Resume != nil {
		d.answered = nil // the testcases of before are not reported again
		d.ran, d.took = c.Resume.Executions, c.Resume.Elapsed
	}
	c.Reporters = append(c.Reporters, d)
	c.NewDetectors = p.detectors(c.NewDetectors)
	o := p.options
	c.Seed, c.Workers, c.Duration, c.Runs = o.Seed, o.Workers, o.Duration, o.Runs
	c.Memory = uint64(o.Memory)
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	enough := &session.Limit{Findings: o.StopAfter, Ignore: o.known.Known, Reached: cancel}
	if o.known == nil {
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
		nothing = untested(cmd.Context(), p.meta.Kind, &sum)
	}
	if e := dir.Finish(sum); e != nil && runErr == nil {
		runErr = e
	}
	if runErr != nil {
		return p.failed(cmd, dir, sum, runErr)
	}
	if err := p.report(cmd, dir, sum); err != nil {
		return err
	}
	if nothing != nil {
		return nothing
	}
	return outcome(cmd.Context(), sum, o)
}

// failed reports what a campaign came to until something of ours, or a target that cannot be started any more, ended it.
func (p *plan[T]) failed(cmd *cobra.Command, dir *corpus.Dir, sum teasel.Summary, cause error) error {
	err := targetFailure(cause)
	if sum.Executions == 0 { // it has not begun
		return err
	}
	if e := p.report(cmd, dir, sum); e != nil {
		fmt.Fprintf(cmd.ErrOrStderr(), "teasel: %v\n", e)
	}
	var e *exit
	if errors.As(err, &e) {
		saved := "what was found until then is saved; to carry on: teasel resume " + report.Quote(dir.Path())
		e.hint = strings.TrimPrefix(e.hint+"\nhint: "+saved, "\nhint: ")
	}
	return err
}

// announce says what begins, and how it ends.
func (p *plan[T]) announce(w io.Writer) {
	o := p.options
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

// outcome is the exit status of a campaign that went well.
func outcome(ctx context.Context, sum teasel.Summary, o *options) error {
	if ctx.Err() != nil {
		return &exit{status: exitInterrupted, hint: "to carry on: teasel resume " + o.Out}
	}
	for _, f := range sum.Unconfirmed {
		if f.Tries == 0 && f.Severity >= o.FailOn && !o.known.Known(f.ID()) { // it was seen, and nobody knows yet that it is none
			return &exit{status: exitFindings}
		}
	}
	for i := range sum.Findings {
		if f := &sum.Findings[i]; f.Severity >= o.FailOn && !o.known.Known(f.ID()) {
			return &exit{status: exitFindings}
		}
	}
	return nil
}

func (p *plan[T]) report(cmd *cobra.Command, dir *corpus.Dir, sum teasel.Summary) error {
	run := reportRun(dir, sum, p.rules)
	run.Baseline = p.options.known
	if p.complete != nil {
		p.complete(run)
	}
	return writeReport(cmd.OutOrStdout(), p.options.Format, run)
}

// reportRun gathers what a report is about from the campaign's directory.
func reportRun(dir *corpus.Dir, sum teasel.Summary, rules []teasel.Rule) *report.Run {
	m := dir.Meta()
	r := &report.Run{Version: version, Kind: m.Kind, Target: m.Name, Seed: m.Seed, Summary: sum, Rules: rules,
		Blocked: m.Blocked, Subjects: m.Subjects, Dir: dir.Path(), Skipped: m.Skipped, Coverage: coverageOf(dir),
		ByHand: func(f teasel.Finding) string { return byHand(m.Kind, m.Target, &f, dir.FindingPath(f.ID())) }}
	if _, err := os.Stat(defaultConfig); err == nil {
		r.Source = defaultConfig // code scanning can only show what is in the repository
	}
	return r
}

func writeReport(w io.Writer, format string, r *report.Run) error {
	if err := report.Write(w, format, r); err != nil {
		return failure(fmt.Errorf("writing the report: %w", err))
	}
	return nil
}

// detectors gives findings the severity that the user wants.
func (p *plan[T]) detectors(all func() []teasel.Detector) func() []teasel.Detector {
	if len(p.severity) == 0 {
		return all
	}
	return func() (out []teasel.Detector) {
		for _, d := range all() {
			out = append(out, &graded{d, p.severity})
		}
		return out
	}
}

// graded is a detector whose findings have the severity that the user wants.
type graded struct {
	teasel.Detector
	severity map[string]string // by rule
}

func (g *graded) Detect(o *teasel.Observation) []teasel.Finding {
	return grade(g.Detector.Detect(o), g.severity)
}

// grade returns the findings that the user wants, with the severity that he wants by rule.
func grade(all []teasel.Finding, severity map[string]string) (fs []teasel.Finding) {
	for _, f := range all {
		switch level := severity[f.Rule]; level {
		case "off":
			continue
		case "":
		default:
			f.Severity, _ = teasel.ParseSeverity(level) // was checked when it was read
		}
		fs = append(fs, f)
	}
	return fs
}

// makeRoom moves a campaign that is in the way aside.
func makeRoom(out string, stderr io.Writer) error {
	if !corpus.IsCampaign(out) {
		return nil
	}
	d, err := corpus.Open(out)
	if errors.Is(err, corpus.ErrLocked) {
		return usage("choose another directory with --out, or wait for it to end", "%w", err)
	}
	if err == nil {
		err = d.Close()
	}
	if err != nil {
		return usage("choose another directory with --out", "%w", err)
	}
	for n := 1; ; n++ {
		old := fmt.Sprintf("%s.%d", filepath.Clean(out), n)
		if _, err := os.Lstat(old); err == nil {
			continue
		}
		if err := os.Rename(out, old); err != nil {
			return usage("choose another directory with --out", "moving an earlier campaign aside: %w", err)
		}
		fmt.Fprintf(stderr, "teasel: the earlier campaign in %s is now in %s ('teasel resume %s' carries it on)\n", out, old, old)
		return nil
	}
}

// warn tells of broken files that were passed over.
func warn(w io.Writer, problems []*corpus.Problem) {
	const most = 10
	for i, p := range problems {
		if i == most {
			fmt.Fprintf(w, "teasel: warning: and %d more\n", len(problems)-most)
			return
		}
		fmt.Fprintf(w, "teasel: warning: %v\n", p)
	}
}

// noCorpus is the error of a directory of --corpus that cannot be read.
func noCorpus(err error) error {
	return usage("--corpus takes a directory of inputs, or a campaign's directory", "reading corpus: %w", err)
}

// loadCorpus reads the directories that the user has given. Broken files are told and left out.
func loadCorpus[T any](dirs []string, codec teasel.Codec[T], stderr io.Writer) (out []seed[T], err error) {
	for _, dir := range dirs {
		seeds, problems, err := corpus.Load(dir, func(data []byte) error {
			_, err := codec.Decode(data)
			return err
		})
		if err != nil {
			return nil, noCorpus(err)
		}
		warn(stderr, problems)
		if len(seeds) == 0 {
			fmt.Fprintf(stderr, "teasel: warning: there are no inputs in %s\n", dir)
		}
		for _, s := range seeds {
			in, err := codec.Decode(s.Data)
			if err != nil {
				return nil, failure(err)
			}
			out = append(out, seed[T]{name: s.Name, in: in})
		}
	}
	return out, nil
}

func rawJSON(v any) (json.RawMessage, error) {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, failure(fmt.Errorf("encoding: %w", err))
	}
	return json.RawMessage(strings.TrimSpace(b.String())), nil
}

// loadDictionaries adds the user's dictionaries to d. Broken lines are told and left out.
func loadDictionaries(d *mutate.Dictionary, paths []string, stderr io.Writer) (*mutate.Dictionary, error) {
	for _, p := range paths {
		before := d.Len()
		err := d.LoadFile(p)
		if err == nil {
			continue
		}
		if d.Len() == before {
			return nil, usage("a dictionary has lines such as name=\"value\", with \\xNN for odd bytes", "%w", err)
		}
		for _, line := range strings.Split(err.Error(), "\n") {
			fmt.Fprintf(stderr, "teasel: warning: %s\n", line)
		}
	}
	return d, nil
}

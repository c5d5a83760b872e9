package gotest

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/gofunc/packages"
	"github.com/teaselfuzz/teasel/gofunc/session"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// testRun is one run of many fuzz tests.
type testRun struct {
	options  *options
	builder  *overlay.Builder
	dir      string // the working directory
	packages []packages.Package
	tests    []*fuzzTest
	skipped  []report.Skip
	broken   []string // skipped packages and tests that should have run
	stopped  string   // why the run ended
	recorder *view.Recorder
	code     *codePanel
	pause    teasel.Pause // holds all campaigns up
	scratch  string       // see fuzztest.Target
}

func (s *testRun) skip(subject, reason string) {
	s.skipped = append(s.skipped, report.Skip{Subject: subject, Reason: strings.TrimSpace(reason)})
}

// leaveOut warns that a package or a fuzz test does not run.
func (s *testRun) leaveOut(w io.Writer, subject, reason, output, hint string) {
	fmt.Fprintf(w, "teasel: warning: %s is left out: %s\n", subject, plain.Text(reason))
	for line := range strings.Lines(output) {
		fmt.Fprintf(w, "  %s\n", plain.Text(strings.TrimRight(line, "\n")))
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
	s.skip(subject, reason)
}

// narrow leaves packages without instrumentation that no test of the packages can reach. An error of the go command is left to the
// build, which says in which package it is.
func narrow(ctx context.Context, b *overlay.Builder, dir string, f overlay.Flags, packages []string) error {
	if err := b.Narrow(ctx, dir, f, packages); err != nil && ctx.Err() != nil {
		return exit.InterruptedOr(ctx, err)
	}
	return nil
}

// prepare builds the packages and asks each fuzz test for its types and seeds.
func (s *testRun) prepare(ctx context.Context, w io.Writer) error {
	if s.builder.Mode != overlay.ModeFast {
		fmt.Fprintf(w, "teasel: warning: tests run more slowly than they could, since %s is not as teasel expects it: %v\n", s.builder.Toolchain.Version, s.builder.Why)
	}
	cache, err := cacheDir()
	if err != nil {
		return err
	}
	if s.options.Out == "" {
		if s.options.Out, err = defaultOut(); err != nil {
			return err
		}
	}
	if err := corpus.Writable(s.options.Out); err != nil {
		return exit.Usage("choose another directory with --out", "%w", err)
	}
	var paths []string
	for _, p := range s.packages {
		paths = append(paths, p.Path)
	}
	if err := narrow(ctx, s.builder, s.dir, s.options.flags(), paths); err != nil {
		return err
	}
	if c := s.builder.Cgo; len(c) > 0 {
		fmt.Fprintf(w, "teasel: warning: C code behind cgo is not seen, in %s: only the Go code around it says what an input reaches\n", strings.Join(c, ", "))
	}
	for i := range s.packages {
		p := &s.packages[i]
		fmt.Fprintf(w, "teasel: building %s\n", p.Path)
		binary, err := build(ctx, s.builder, p.Dir, s.options.flags(), cache)
		if err != nil {
			var g *overlay.GoError
			if ctx.Err() != nil || !errors.As(err, &g) {
				return commandError(ctx, err)
			}
			s.leaveOut(w, p.Path, "it does not build", g.Stderr, "")
			s.broken = append(s.broken, p.Path)
			continue
		}
		for _, t := range p.Tests {
			if err := s.add(ctx, w, p, t.Name, binary); err != nil {
				return err
			}
		}
	}
	if len(s.tests) == 0 {
		return &exit.Error{Status: exit.StatusTarget, Err: errors.New("none of the fuzz tests can be run")}
	}
	return nil
}

// build builds the test binary of the package in dir and returns its path, which is the same for the same flags.
func build(ctx context.Context, b *overlay.Builder, dir string, f overlay.Flags, cache string) (string, error) {
	sum := sha256.Sum256([]byte(strings.Join(append(f.Arguments(), dir, b.Toolchain.Root), "\x00")))
	output := filepath.Join(cache, "bin", hex.EncodeToString(sum[:])[:16], filepath.Base(dir)+".test")
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return "", err
	}
	return output, b.Build(ctx, dir, f, output)
}

// run fuzzes all tests at once and reports.
func (s *testRun) run(cmd *cobra.Command) (err error) {
	defer func() {
		if e := s.close(); e != nil && err == nil {
			err = exit.Failure(e)
		}
	}()
	o, w := s.options, cmd.ErrOrStderr()
	for _, t := range s.tests {
		if cmd.Context().Err() != nil { // writing many seeds takes time
			return &exit.Error{Status: exit.StatusInterrupted}
		}
		if err := s.open(cmd.Context(), w, t); err != nil {
			return err
		}
	}
	page, err := s.show(w)
	if err != nil {
		return err
	}
	defer page.Close()
	campaign.Announce(w, &o.Options)
	live := campaign.NewLive(cmd, &o.Options, nil)
	defer live.Close()
	live.Start(cmd, s.recorder, &s.pause)
	if err := s.fuzz(cmd.Context(), live); err != nil {
		return err
	}
	s.recorder.End(s.stopped)
	_ = live.Close() // what it could not show is in the report
	s.keepSources(w)
	var uncovered error
	if o.Cover != "" && cmd.Context().Err() == nil {
		uncovered = s.cover(cmd.Context(), w)
	}
	err = s.report(cmd)
	switch {
	case err == nil:
		return uncovered
	case uncovered != nil: // the status is that of the findings, but this has to be seen
		fmt.Fprintf(w, "teasel: %v\n", uncovered)
	}
	return err
}

// close closes the directories of all campaigns.
func (s *testRun) close() (err error) {
	for _, t := range s.tests {
		t.member.Leave("failed")
		if t.dir != nil {
			err = errors.Join(err, t.dir.Close())
		}
	}
	return err
}

// fuzz runs the campaigns of all tests until each has ended, and says why.
func (s *testRun) fuzz(ctx context.Context, live *campaign.Live) error {
	o := s.options
	limited, cancel := context.WithCancel(ctx)
	defer cancel()
	all := &session.Combiner{To: reporters{live, s.recorder, &campaign.ProgressCheck{To: live}}}
	enough := &session.Limit{Findings: o.StopAfter, Counts: o.Counts, Reached: cancel}
	turns := session.NewTurns(o.Workers, 0)
	defer context.AfterFunc(limited, turns.End)()
	var over atomic.Bool // its duration, pauses not counted
	if o.Duration > 0 {
		defer s.pause.AfterFunc(o.Duration, func() {
			over.Store(true)
			turns.End()
		})()
	}
	var group sync.WaitGroup
	for _, t := range s.tests {
		share := turns.Share()
		s.configure(&t.campaign, t.target, share)
		t.campaign.Reporters = []teasel.Reporter{t.saver, share, enough, s.code.reporter(t), all.Reporter(), t.progressCheck(live)}
		alone, stop := context.WithCancelCause(limited)
		defer stop(nil)
		if err := t.join(o, s.recorder, live, stop); err != nil {
			cancel()
			group.Wait()
			return err
		}
		group.Go(func() { t.fuzz(alone, share, o.Severity, o.Stages) })
	}
	group.Wait()
	s.stopped = stoppedBy(ctx, limited, s.tests, over.Load())
	return nil
}

// stoppedBy returns why a run has ended: limited is its context, which also ends with enough findings, and over says that its duration is.
func stoppedBy(ctx, limited context.Context, tests []*fuzzTest, over bool) string {
	switch {
	case ctx.Err() != nil:
		return "interrupted"
	case limited.Err() != nil:
		return "findings"
	case slices.ContainsFunc(tests, func(t *fuzzTest) bool { return t.summary.Stopped == "fleet" }):
		return "fleet"
	case !slices.ContainsFunc(tests, func(t *fuzzTest) bool { return t.summary.Stopped != "values" }):
		return "values"
	case slices.ContainsFunc(tests, func(t *fuzzTest) bool { return t.summary.Stopped == "memory" }):
		return "memory"
	case over:
		return "duration"
	}
	return "runs"
}

// show begins to record the run, and serves its page if there is to be one.
func (s *testRun) show(stderr io.Writer) (*campaign.Page, error) {
	s.code = &codePanel{root: s.builder.Toolchain.Root}
	s.recorder = s.record()
	var typed poolPanel
	for _, t := range s.tests {
		if t.typed != nil {
			typed.dirs = append(typed.dirs, t.out)
		}
	}
	s.recorder.AddPanels(func() []view.Panel { return typed.Panels(nil) })
	page, err := campaign.OpenPage(&s.options.Options, stderr)
	if err != nil || page == nil {
		return nil, err
	}
	return page, exit.Failure(page.Start(s.recorder))
}

// record returns the recorder of all campaigns as one.
func (s *testRun) record() *view.Recorder {
	o := s.options
	return view.NewRecorder(view.State{Teasel: campaign.Version, Kind: "go", Target: s.title(), Dir: o.Out, Seed: o.Seed, Duration: o.Duration.Seconds(), Runs: o.Runs}, nil,
		view.Options{Rules: judge.Rules(), Known: o.Known.Why, Commands: s.commands, Pause: &s.pause, Panels: s.code})
}

// commands returns those that show a finding of any of the tests, whose file is written before it is announced.
func (s *testRun) commands(f *teasel.Finding) (all []view.Command) {
	for _, t := range s.tests {
		if path := t.dir.FindingPath(f.ID()); fileExists(path) {
			all = append(all, view.Command{Title: t.String(), Text: "teasel repro " + plain.Quote(s.relative(path))})
		}
	}
	return all
}

func fileExists(path string) bool {
	_, err := os.Stat(path)
	return err == nil
}

// configure sets the limits and the target of a campaign, whose share of the run's turns is given.
func (s *testRun) configure(c *teasel.Campaign[[]byte], target *fuzztest.Target, share *session.Share) {
	o := s.options
	c.Target = session.Target{Target: target, Share: share}
	c.Seed, c.Duration, c.Memory, c.Pause = o.Seed, o.Duration, o.LimitMemory(), &s.pause
	c.StopAfter, c.Counts = o.StopAfter, o.Counts // so that no more are confirmed when it is reached
	c.Workers = max(1, (o.Workers+len(s.tests)-1)/len(s.tests))
	if o.Runs > 0 {
		c.Runs = max(1, o.Runs/uint64(len(s.tests)))
	}
	c.NewDetectors = campaign.WithSandbox(campaign.WithSeverity(c.NewDetectors, o.Severity), campaign.SandboxOf(&o.Isolation, target.Scratch, []string{target.Binary}, target.Dir))
}

func (s *testRun) title() string {
	return strings.Join(s.options.Packages, " ")
}

// reporters passes each event to all of them, in order.
type reporters []teasel.Reporter

// Report implements [teasel.Reporter].
func (rs reporters) Report(e teasel.Event) error {
	for _, r := range rs {
		if err := r.Report(e); err != nil {
			return err
		}
	}
	return nil
}

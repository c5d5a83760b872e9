package main

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/gofunc/packages"
	"github.com/teaselfuzz/teasel/gofunc/process"
	"github.com/teaselfuzz/teasel/gofunc/session"
	"github.com/teaselfuzz/teasel/monitor"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/report"
)

// goSession is one run of many fuzz tests.
type goSession struct {
	options  *goOptions
	builder  *overlay.Builder
	dir      string // the working directory
	packages []packages.Package
	tests    []*goTest
	skipped  []report.Skip
	broken   []string // of the skipped ones, those that should have run
	stopped  string   // why the run ended
}

// goTest is one fuzz test with its campaign.
type goTest struct {
	pkg      *packages.Package
	target   *fuzztest.Target
	typed    *process.Test // nil: its inputs are bytes
	campaign teasel.Campaign[[]byte]
	out      string // the campaign's directory
	seeds    []seed[[]byte]
	dir      *corpus.Dir
	saver    *session.Saver
	summary  teasel.Summary
	err      error
}

func (t *goTest) String() string { return t.pkg.Path + " " + t.target.Name }

func (s *goSession) skip(subject, reason string) {
	s.skipped = append(s.skipped, report.Skip{Subject: subject, Reason: strings.TrimSpace(reason)})
}

// leaveOut says that a package or a fuzz test does not run, and goes on with the others.
func (s *goSession) leaveOut(w io.Writer, subject, reason, output, hint string) {
	fmt.Fprintf(w, "teasel: warning: %s is left out: %s\n", subject, report.Plain(reason))
	for line := range strings.Lines(output) {
		fmt.Fprintf(w, "  %s\n", report.Plain(strings.TrimRight(line, "\n")))
	}
	if hint != "" {
		fmt.Fprintf(w, "hint: %s\n", hint)
	}
	s.skip(subject, reason)
}

// narrow leaves without instrumentation what no test of the packages can reach. Where the go command fails at that, so will
// the build, which says of which package.
func narrow(ctx context.Context, b *overlay.Builder, dir string, f overlay.Flags, packages []string) error {
	if err := b.Narrow(ctx, dir, f, packages); err != nil && ctx.Err() != nil {
		return cutShort(ctx, err)
	}
	return nil
}

// prepare builds the packages and asks each fuzz test what it takes.
func (s *goSession) prepare(ctx context.Context, w io.Writer) error {
	if s.builder.Mode != overlay.ModeFast {
		fmt.Fprintf(w, "teasel: warning: tests run more slowly than they could, since %s is not as teasel expects it: %v\n", s.builder.Toolchain.Version, s.builder.Why)
	}
	cache, err := goCache()
	if err != nil {
		return err
	}
	if s.options.Out == "" {
		s.options.Out = filepath.Join(cache, "corpus")
	}
	if err := corpus.Writable(s.options.Out); err != nil {
		return usage("choose another directory with --out", "%w", err)
	}
	var paths []string
	for _, p := range s.packages {
		paths = append(paths, p.Path)
	}
	if err := narrow(ctx, s.builder, s.dir, s.options.flags(), paths); err != nil {
		return err
	}
	for i := range s.packages {
		p := &s.packages[i]
		fmt.Fprintf(w, "teasel: building %s\n", p.Path)
		binary, err := buildGo(ctx, s.builder, p.Dir, s.options.flags(), cache)
		if err != nil {
			var g *overlay.GoError
			if ctx.Err() != nil || !errors.As(err, &g) {
				return goFailure(ctx, err)
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
		return &exit{status: exitTarget, err: errors.New("none of the fuzz tests can be run")}
	}
	return nil
}

// buildGo builds the test binary of the package in dir and returns its path, which is the same for the same flags.
func buildGo(ctx context.Context, b *overlay.Builder, dir string, f overlay.Flags, cache string) (string, error) {
	sum := sha256.Sum256([]byte(strings.Join(append(f.Arguments(), dir, b.Toolchain.Root), "\x00")))
	output := filepath.Join(cache, "bin", hex.EncodeToString(sum[:])[:16], filepath.Base(dir)+".test")
	if err := os.MkdirAll(filepath.Dir(output), 0o755); err != nil {
		return "", err
	}
	return output, b.Build(ctx, dir, f, output)
}

// add describes one fuzz test and plans its campaign.
func (s *goSession) add(ctx context.Context, w io.Writer, p *packages.Package, name, binary string) error {
	o := s.options
	t := &goTest{pkg: p, target: &fuzztest.Target{Binary: binary, Dir: p.Dir, Name: name, Package: p.Path, Race: o.Race, Timeout: o.Timeout, Memory: uint64(o.MemoryLimit)}}
	own, err := t.target.Describe(ctx)
	if err == nil && t.target.Typed != "" {
		t.typed, own, err = typedTest(ctx, t.target)
	}
	if e, ok := errors.AsType[*fuzztest.StartError](err); ok {
		s.leaveOut(w, t.String(), e.Reason, e.Output, e.Hint)
		if !e.Skipped {
			s.broken = append(s.broken, t.String())
		}
		return nil
	}
	if err != nil {
		return cutShort(ctx, err)
	}
	dictionary, err := loadDictionaries(&mutate.Dictionary{}, o.Dict, w)
	if err != nil {
		return err
	}
	dictionary.Add(mutate.Other, p.Constants...)
	t.campaign = fuzztest.Campaign(t.target, dictionary)
	t.out = filepath.Join(o.Out, filepath.FromSlash(p.Path), name)
	t.saver = &session.Saver{Dir: p.Dir, Test: name}
	for _, in := range own {
		data, err := t.campaign.Codec.Encode(in)
		if err != nil {
			return failure(fmt.Errorf("encoding a seed of %s: %w", t, err))
		}
		t.saver.Seeds = append(t.saver.Seeds, data)
	}
	if err := t.gather(ctx, own, s.builder.Toolchain.Cache, o.Corpus, w); err != nil {
		return cutShort(ctx, err)
	}
	s.tests = append(s.tests, t)
	return nil
}

// open makes the campaign's directory.
func (s *goSession) open(t *goTest) (err error) {
	o := s.options
	m := corpus.Meta{Version: version, Kind: "go", Name: t.String(), Seed: o.Seed, Crashes: judge.CrashRules(), Hangs: judge.HangRules()}
	if m.Options, err = rawJSON(o); err != nil {
		return err
	}
	if m.Target, err = rawJSON(s.target(t)); err != nil {
		return err
	}
	if err := replaceCampaign(t.out); err != nil {
		return err
	}
	if t.dir, err = corpus.Create(t.out, m); err != nil {
		return usage("choose another directory with --out", "%w", err)
	}
	for _, sd := range t.seeds {
		t.campaign.Seeds = append(t.campaign.Seeds, sd.in)
		data, err := t.campaign.Codec.Encode(sd.in)
		if err == nil {
			err = t.dir.WriteSeed(sd.folder, sd.name, data)
		}
		if err != nil {
			return failure(fmt.Errorf("writing seed %s: %w", sd.name, err))
		}
	}
	return nil
}

// movedAside ends the name of the directory of the campaign before the last.
const movedAside = ".previous"

// replaceCampaign moves the campaign of an earlier run, whose inputs are seeds of this one, to where the one before it was.
func replaceCampaign(out string) error {
	if err := corpus.Room(out); err != nil {
		hint := "choose another directory with --out"
		if errors.Is(err, corpus.ErrLocked) {
			hint += ", or wait for it to end"
		}
		return usage(hint, "%w", err)
	}
	if !corpus.IsCampaign(out) {
		return nil
	}
	before := out + movedAside
	if corpus.IsCampaign(before) {
		if err := os.RemoveAll(before); err != nil {
			return usage("choose another directory with --out", "removing the campaign before the last: %w", err)
		}
	}
	if err := os.Rename(out, before); err != nil {
		return usage("choose another directory with --out", "moving the last campaign aside: %w", err)
	}
	return nil
}

// run fuzzes all tests at once and reports.
func (s *goSession) run(cmd *cobra.Command) (err error) {
	o, w := s.options, cmd.ErrOrStderr()
	defer func() {
		for _, t := range s.tests {
			if t.dir != nil {
				if e := t.dir.Close(); e != nil && err == nil {
					err = failure(e)
				}
			}
		}
	}()
	for _, t := range s.tests {
		if cmd.Context().Err() != nil { // many seeds take their time
			return &exit{status: exitInterrupted}
		}
		if err := s.open(t); err != nil {
			return err
		}
	}
	p := plan[[]byte]{options: &o.options, severity: o.Severity}
	p.announce(w)
	live := monitor.New(w, monitor.Options{Title: "go: " + s.title(), Plain: o.NoUI, Known: o.known.Known})
	ctx, cancel := context.WithCancel(cmd.Context())
	defer cancel()
	all := &session.Combiner{To: reporters{live, &doubt{to: live}}}
	s.stopped = "runs" // nothing else has stopped it
	enough := &session.Limit{Findings: o.StopAfter, Ignore: o.known.Known, Reached: cancel}
	began := time.Now()
	turns := session.NewTurns(o.Workers, 0)
	defer context.AfterFunc(ctx, turns.End)()
	if o.Duration > 0 {
		timer := time.AfterFunc(o.Duration, turns.End)
		defer timer.Stop()
	}
	var group sync.WaitGroup
	for _, t := range s.tests {
		share := turns.Share()
		c := &t.campaign
		c.Target = session.Target{Target: t.target, Share: share}
		c.Seed, c.Duration, c.Memory = o.Seed, o.Duration, uint64(o.Memory)
		c.Workers = max(1, (o.Workers+len(s.tests)-1)/len(s.tests))
		if o.Runs > 0 {
			c.Runs = max(1, o.Runs/uint64(len(s.tests)))
		}
		c.NewDetectors = p.detectors(c.NewDetectors)
		c.Reporters = []teasel.Reporter{t.saver, share, enough, all.Reporter()}
		group.Go(func() { t.fuzz(ctx, share, o.Severity) })
	}
	group.Wait()
	switch {
	case cmd.Context().Err() != nil:
		s.stopped = "interrupted"
	case ctx.Err() != nil:
		s.stopped = "findings"
	case o.Duration > 0 && time.Since(began) >= o.Duration:
		s.stopped = "duration"
	}
	_ = live.Close() // what it could not show is in the report
	var uncovered error
	if o.Cover != "" && cmd.Context().Err() == nil {
		uncovered = s.cover(cmd.Context(), w)
	}
	err = s.report(cmd)
	switch {
	case err == nil:
		return uncovered
	case uncovered != nil: // what was found says more by its status, but this must not pass unseen
		fmt.Fprintf(w, "teasel: %v\n", uncovered)
	}
	return err
}

// fuzz runs the campaign of one fuzz test. If its directory cannot be written to, it ends, and what it has found is reported.
func (t *goTest) fuzz(ctx context.Context, share *session.Share, severity map[string]string) {
	t.campaign.Reporters = append([]teasel.Reporter{&session.Settled{To: t.dir}}, t.campaign.Reporters...)
	if t.typed != nil {
		t.summary, t.err = t.fuzzTyped(ctx, share, severity)
	} else {
		t.summary, t.err = t.campaign.Run(ctx)
	}
	if e := t.dir.Finish(t.summary); e != nil && t.err == nil {
		t.err = e
	}
}

func (s *goSession) title() string {
	return strings.Join(s.options.Packages, " ")
}

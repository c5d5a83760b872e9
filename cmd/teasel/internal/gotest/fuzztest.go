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
	"sync/atomic"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/packages"
	"github.com/teaselfuzz/teasel/gofunc/process"
	"github.com/teaselfuzz/teasel/gofunc/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/view"
)

// fuzzTest is one fuzz test with its campaign.
type fuzzTest struct {
	pkg      *packages.Package
	target   *fuzztest.Target
	tested   atomic.Uint64 // executions that were not skipped
	typed    *process.Test // nil: its inputs are bytes
	campaign teasel.Campaign[[]byte]
	out      string // the campaign's directory
	seeds    []campaign.Seed[[]byte]
	dir      *corpus.Dir
	saver    *session.Saver
	build    string // names the test binary
	summary  teasel.Summary
	member   *campaign.Member // of a fleet; nil: of none
	err      error
}

// String returns the import path of the package and the name of the test.
func (t *fuzzTest) String() string { return t.pkg.Path + " " + t.target.Name }

// add prepares the campaign of a fuzz test.
func (s *testRun) add(ctx context.Context, w io.Writer, p *packages.Package, name, binary string) error {
	o := s.options
	t := &fuzzTest{pkg: p, target: &fuzztest.Target{Binary: binary, Dir: p.Dir, Name: name, Package: p.Path, Race: o.Race, Timeout: o.Timeout, Memory: uint64(o.MemoryLimit),
		Scratch: s.scratch, Sandbox: o.Sandbox, Allow: o.Allowed}}
	t.target.Tested = &t.tested
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
		return exit.InterruptedOr(ctx, err)
	}
	for _, n := range t.target.Nil {
		fmt.Fprintf(w, "teasel: warning: %s: seed#%d has a nil []byte, which runs as an empty one, as with go test -fuzz: corpus files cannot say nil; plain go test runs it as it is\n", t, n)
	}
	dictionary := &mutate.Dictionary{}
	if err := campaign.LoadDictionaries(dictionary, o.Dict, w); err != nil {
		return err
	}
	dictionary.Add(mutate.Other, p.Constants...)
	mutator := &mutate.Bytes{Dictionary: dictionary}
	if err := o.SetBytes(mutator); err != nil {
		return err
	}
	t.campaign = fuzztest.Campaign(t.target, mutator)
	if slices.Contains(o.Stages, "deterministic") {
		t.campaign.Stages = append([]teasel.Stage[[]byte]{teasel.Steps[[]byte]{}}, t.campaign.Stages...)
	}
	if err := campaign.ChooseMutation(&t.campaign, &o.Mutation); err != nil {
		return err
	}
	t.out = filepath.Join(o.Out, filepath.FromSlash(p.Path), name)
	t.saver = &session.Saver{Dir: p.Dir, Test: name}
	if o.Hub.URL != "" {
		if t.build, err = digestOf(binary); err != nil {
			return exit.Failure(err)
		}
	}
	for _, in := range own {
		data, err := t.campaign.Codec.Encode(in)
		if err != nil {
			return exit.Failure(fmt.Errorf("encoding a seed of %s: %w", t, err))
		}
		t.saver.Seeds = append(t.saver.Seeds, data)
	}
	if err := t.loadSeeds(ctx, own, s.builder.Toolchain.Cache, &o.Options, w); err != nil {
		return exit.InterruptedOr(ctx, err)
	}
	s.tests = append(s.tests, t)
	return nil
}

// open creates the campaign's directory.
func (s *testRun) open(ctx context.Context, w io.Writer, t *fuzzTest) (err error) {
	o := s.options
	m := corpus.Meta{Version: campaign.Version, Kind: "go", Name: t.String(), Seed: o.Seed, Crashes: judge.CrashRules(), Hangs: judge.HangRules()}
	if m.Options, err = campaign.RawJSON(o); err != nil {
		return err
	}
	if m.Target, err = campaign.RawJSON(s.target(t)); err != nil {
		return err
	}
	suffix := ""
	if len(s.tests) > 1 {
		suffix = t.target.Name
	}
	built := m
	built.Build = t.build
	if t.member, err = campaign.JoinFleet(ctx, &o.Options, &built, t.out, suffix, w); err != nil {
		return err
	}
	if err := replaceCampaign(t.out); err != nil {
		return err
	}
	if t.dir, err = corpus.Create(t.out, m); err != nil {
		return exit.Usage("choose another directory with --out", "%w", err)
	}
	return exit.Failure(campaign.Begin(&t.campaign, t.dir, t.seeds))
}

// replaceCampaign renames the directory of the last run, whose inputs are seeds of this one, and removes the one before.
func replaceCampaign(out string) error {
	if err := flags.CheckOut(out); err != nil || !corpus.IsCampaign(out) {
		return err
	}
	before := out + campaign.PreviousSuffix
	if corpus.IsCampaign(before) {
		if err := corpus.Remove(before); err != nil {
			return exit.Usage("choose another directory with --out", "removing the campaign before the last: %w", err)
		}
	}
	if err := os.Rename(out, before); err != nil {
		return exit.Usage("choose another directory with --out", "moving the last campaign aside: %w", err)
	}
	return nil
}

// fuzz runs the campaign of a fuzz test. It ends if its directory cannot be written to; its findings are reported.
func (t *fuzzTest) fuzz(ctx context.Context, share *session.Share, severity map[string]string, stages []string) {
	t.campaign.Reporters = append([]teasel.Reporter{&session.Settled{To: t.dir}}, t.campaign.Reporters...)
	if t.typed != nil {
		t.summary, t.err = t.fuzzTyped(ctx, share, severity, stages)
	} else {
		t.summary, t.err = t.campaign.Run(ctx)
	}
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) { // that of join
		t.summary.Stopped = cause.Error()
	}
	t.member.Leave(t.summary.Stopped)
	t.member = nil
	if e := t.dir.Finish(t.summary); e != nil && t.err == nil {
		t.err = e
	}
}

// join has the campaign of a fuzz test take part in its fleet, if it has one. stop ends the campaign, for a cause.
func (t *fuzzTest) join(o *options, shown *view.Recorder, notes teasel.Reporter, stop context.CancelCauseFunc) error {
	if t.member == nil {
		return nil
	}
	t.campaign.Errands = true
	b, err := t.member.Join(&o.Options, t.dir, fleet.Options{Build: t.build, Notes: notes, Pause: t.campaign.Pause.Set, Stop: func(cause string) { stop(errors.New(cause)) }})
	if err != nil {
		return err
	}
	shown.AddPanels(func() []view.Panel {
		panels := b.Panels()
		for i := range panels {
			panels[i].Title += ", " + t.String()
		}
		return panels
	})
	t.campaign.Reporters, t.campaign.Source = append(t.campaign.Reporters, b), b
	return nil
}

// digestOf names the content of a file.
func digestOf(path string) (string, error) {
	f, err := os.Open(path)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", err
	}
	return hex.EncodeToString(h.Sum(nil)[:8]), nil
}

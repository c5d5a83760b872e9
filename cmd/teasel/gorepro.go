package main

import (
	"cmp"
	"context"
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
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/gofunc/process"
)

// goBuilds says that the package of a finding is built.
func goBuilds(raw json.RawMessage) string {
	var g goTarget
	if json.Unmarshal(raw, &g) != nil { // goBench says so
		return "building"
	}
	return "building " + cmp.Or(g.Package, "the package in "+nearby(g.Dir)) // Go's corpus files do not say its import path
}

// goBench builds the package of a finding and makes ready what it takes to run single inputs of its fuzz test.
func goBench(ctx context.Context, raw json.RawMessage) (replayer, error) {
	var g goTarget
	if err := described(raw, &g); err != nil {
		return nil, err
	}
	if _, err := os.Stat(g.Dir); err != nil {
		return nil, usage("a finding is reproduced on the source that it was found in", "the package's directory: %w", err)
	}
	b, err := goBuilder(ctx, g.Dir)
	if err != nil {
		return nil, err
	}
	if b.Mode == overlay.ModeNative {
		return nil, &exit{status: exitTarget, err: fmt.Errorf("%s is not as teasel expects it: %w", b.Toolchain.Version, b.Why)}
	}
	cache, err := goCache()
	if err != nil {
		return nil, err
	}
	f := overlay.Flags{Race: g.Race, Tags: g.Tags}
	if err := narrow(ctx, b, g.Dir, f, []string{"."}); err != nil {
		return nil, err
	}
	binary, err := buildGo(ctx, b, g.Dir, f, cache)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &exit{status: exitInterrupted}
		}
		if e, ok := errors.AsType[*overlay.GoError](err); ok { // the compiler's words, without a command line of a thousand letters
			err = fmt.Errorf("the package does not build:\n%s", strings.TrimSpace(e.Stderr))
		}
		return nil, &exit{status: exitTarget, err: err}
	}
	t := &fuzztest.Target{Binary: binary, Dir: g.Dir, Name: g.Test, Package: g.Package, Race: g.Race, Timeout: g.Timeout, Memory: uint64(g.Memory)}
	if _, err := t.Describe(ctx); err != nil {
		return nil, cutShort(ctx, err)
	}
	c := fuzztest.Campaign(t, nil)
	run := &bench[[]byte]{target: t, codec: c.Codec, mutator: c.NewMutator(), detectors: c.NewDetectors(), single: true}
	test, _, err := typedTest(ctx, t)
	if err != nil {
		return nil, cutShort(ctx, err)
	}
	return &goReplayer{run, test}, nil
}

// goReplayer runs single inputs of a fuzz test. Those of a typed one are run as plain go test does, and made simpler as values.
type goReplayer struct {
	*bench[[]byte]
	typed *process.Test // nil: the inputs are bytes
}

// repro says why an input that is no value of the test's type cannot show anything.
func (r *goReplayer) repro(ctx context.Context, w io.Writer, f *corpus.FindingFile, tries int) error {
	if err := r.fits(ctx, f); err != nil {
		return err
	}
	return r.bench.repro(ctx, w, f, tries)
}

// fits returns an error if the test is typed and has a type now that the input is no value of.
func (r *goReplayer) fits(ctx context.Context, f *corpus.FindingFile) error {
	if r.typed == nil {
		return nil
	}
	why, err := r.typed.Check(ctx, f.Finding.Input)
	if err != nil {
		return cutShort(ctx, err)
	}
	if why[0] != nil {
		return usage("if the type has changed, adapt or remove the file", "the input is no value of the test's type any more: %w", why[0])
	}
	return nil
}

func (r *goReplayer) minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (changed bool, err error) {
	if r.typed == nil {
		return r.bench.minimize(ctx, w, f, runs)
	}
	if err := r.fits(ctx, f); err != nil {
		return false, err
	}
	progress := &minProgress{w: w, runs: runs}
	small, err := process.Minimize(ctx, r.typed, f.Finding.Input, f.Finding.ID(), runs, func(made int, complexity float64) {
		progress.show(made, complexity)
		changed = true
	})
	progress.end()
	switch {
	case err != nil && ctx.Err() == nil:
		return false, targetFailure(err)
	case ctx.Err() != nil && small == nil:
		return false, &exit{status: exitInterrupted}
	case small == nil:
		return false, notShown()
	}
	f.Finding.Input = small
	return changed, nil
}

// goByHand returns the command that shows a finding without teasel.
func goByHand(raw json.RawMessage, f *teasel.Finding, _ string) string {
	var g goTarget
	if described(raw, &g) != nil {
		return ""
	}
	file := teasel.Key(f.Input)
	if _, err := os.Stat(filepath.Join(g.Dir, "testdata", "fuzz", g.Test, file)); err != nil {
		return "" // it is not saved there any more
	}
	return g.byHand(g.Dir, file, f)
}

// resumeGo says how a campaign of fuzz tests goes on: every run begins with what the last one has kept.
func resumeGo(_ *cobra.Command, dir *corpus.Dir, _ func(*options)) error {
	var o goOptions
	err := stored(dir, &o)
	if e := dir.Close(); err == nil && e != nil {
		err = failure(e)
	}
	if err != nil {
		return err
	}
	return usage("teasel go "+strings.Join(o.Packages, " "), "a run of fuzz tests is not resumed: the next one begins with what it has kept")
}

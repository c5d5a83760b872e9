package gotest

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
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/overlay"
	"github.com/teaselfuzz/teasel/gofunc/process"
)

// Kind is the kind of fuzz tests.
func Kind() campaign.Kind {
	return campaign.Kind{Name: "go", NewReplayer: newReplayer, Resume: resume, ByHand: byHand, Panels: panels}
}

// preparation says that the package of a finding is built.
func preparation(raw json.RawMessage) string {
	var g Target
	if json.Unmarshal(raw, &g) != nil { // openTest returns that error
		return "building"
	}
	return "building " + cmp.Or(g.Package, "the package in "+relativePath(g.Dir)) // Go's corpus files do not say its import path
}

// newReplayer returns what runs the inputs of findings of a fuzz test.
func newReplayer(ctx context.Context, raw json.RawMessage, stderr io.Writer) (campaign.Replayer, error) {
	r, err := openTest(ctx, raw, stderr)
	if err != nil {
		return nil, err
	}
	return r, nil
}

// openTest builds the package of a finding.
func openTest(ctx context.Context, raw json.RawMessage, stderr io.Writer) (*replayer, error) {
	fmt.Fprintf(stderr, "teasel: %s\n", preparation(raw))
	var g Target
	if err := campaign.ReadTarget(raw, &g); err != nil {
		return nil, err
	}
	if _, err := os.Stat(g.Dir); err != nil {
		return nil, exit.Usage("a finding is reproduced on the source that it was found in", "the package's directory: %w", err)
	}
	scratch, err := campaign.Isolate(ctx, &g.Isolation, 0, io.Discard, nil)
	if err != nil {
		return nil, err
	}
	b, err := newBuilder(ctx, g.Dir)
	if err != nil {
		return nil, err
	}
	if b.Mode == overlay.ModeNative {
		return nil, &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("%s is not as teasel expects it: %w", b.Toolchain.Version, b.Why)}
	}
	cache, err := cacheDir()
	if err != nil {
		return nil, err
	}
	f := overlay.Flags{Race: g.Race, Tags: g.Tags}
	if err := narrow(ctx, b, g.Dir, f, []string{"."}); err != nil {
		return nil, err
	}
	binary, err := build(ctx, b, g.Dir, f, cache)
	if err != nil {
		if ctx.Err() != nil {
			return nil, &exit.Error{Status: exit.StatusInterrupted}
		}
		if e, ok := errors.AsType[*overlay.GoError](err); ok { // without the command line, which is very long
			err = fmt.Errorf("the package does not build:\n%s", strings.TrimSpace(e.Stderr))
		}
		return nil, &exit.Error{Status: exit.StatusTarget, Err: err}
	}
	t := &fuzztest.Target{Binary: binary, Dir: g.Dir, Name: g.Test, Package: g.Package, Race: g.Race, Timeout: g.Timeout, Memory: uint64(g.Memory), Scratch: scratch, Sandbox: g.Sandbox, Allow: g.Allowed}
	if _, err := t.Describe(ctx); err != nil {
		return nil, exit.InterruptedOr(ctx, err)
	}
	c := fuzztest.Campaign(t, nil)
	run := &replay.Runner[[]byte]{Target: t, Codec: c.Codec, Mutator: c.NewMutator(), Detectors: campaign.WithSandbox(c.NewDetectors, campaign.SandboxOf(&g.Isolation, scratch, []string{binary}, g.Dir))(), Single: true, Stderr: stderr}
	test, _, err := typedTest(ctx, t)
	if err != nil {
		return nil, exit.InterruptedOr(ctx, err)
	}
	return &replayer{run, test}, nil
}

// replayer runs single inputs of a fuzz test. Those of a typed test run as plain go test runs them, and are minimised as values.
type replayer struct {
	*replay.Runner[[]byte]
	typed *process.Test // nil: the inputs are bytes
}

// Repro is that of the runner. An input that is no value of the test's type is an error.
func (r *replayer) Repro(ctx context.Context, w io.Writer, f *corpus.FindingFile, tries int) error {
	if err := r.checkType(ctx, f); err != nil {
		return err
	}
	return r.Runner.Repro(ctx, w, f, tries)
}

// checkType returns an error if the test is typed and the input is no value of its type any more.
func (r *replayer) checkType(ctx context.Context, f *corpus.FindingFile) error {
	if r.typed == nil {
		return nil
	}
	why, err := r.typed.Check(ctx, f.Finding.Input)
	if err != nil {
		return exit.InterruptedOr(ctx, err)
	}
	if why[0] != nil {
		return exit.Usage("if the type has changed, adapt or remove the file", "the input is no value of the test's type any more: %w", why[0])
	}
	return nil
}

// Minimize is that of the runner, on values for a typed test.
func (r *replayer) Minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (changed bool, err error) {
	if r.typed == nil {
		return r.Runner.Minimize(ctx, w, f, runs)
	}
	if err := r.checkType(ctx, f); err != nil {
		return false, err
	}
	line := replay.Progress(w, runs)
	defer line.Clear()
	line.Show(0, "")
	small, err := process.Minimize(ctx, r.typed, f.Finding.Input, f.Finding.ID(), runs, func(made int, complexity float64) {
		line.Show(made, replay.Simplest(complexity))
	})
	switch {
	case err != nil && ctx.Err() == nil:
		return false, exit.TargetFailure(err)
	case ctx.Err() != nil && small.Input == nil:
		return false, &exit.Error{Status: exit.StatusInterrupted}
	case small.Input == nil:
		return false, replay.NotShown()
	}
	return replay.Adopt(&f.Finding, &small), nil
}

// byHand returns the command that shows a finding without teasel.
func byHand(raw json.RawMessage, f *teasel.Finding, _ string) string {
	var g Target
	if campaign.ReadTarget(raw, &g) != nil {
		return ""
	}
	file := teasel.Key(f.Input)
	if _, err := os.Stat(filepath.Join(g.Dir, "testdata", "fuzz", g.Test, file)); err != nil {
		return "" // it was removed
	}
	return g.goTestCommand(g.Dir, file, f)
}

// resume returns the error for resuming a campaign of fuzz tests: the next run begins with what the last one has kept.
func resume(_ *cobra.Command, dir *corpus.Dir, _ func(*flags.Options)) error {
	var o options
	err := campaign.ReadOptions(dir, &o)
	if e := dir.Close(); err == nil && e != nil {
		err = exit.Failure(e)
	}
	if err != nil {
		return err
	}
	return exit.Usage("teasel go "+strings.Join(o.Packages, " "), "a run of fuzz tests is not resumed: the next one begins with what it has kept")
}

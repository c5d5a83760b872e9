package gotest

import (
	"bytes"
	"context"
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
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/replay"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/internal/glob"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// testOf returns the package's directory and the fuzz test that a directory testdata/fuzz/FuzzX belongs to; false: it is not one.
func testOf(dir string) (pkg, test string, ok bool) {
	fuzz := filepath.Dir(dir)
	if filepath.Base(fuzz) != "fuzz" || filepath.Base(filepath.Dir(fuzz)) != "testdata" {
		return "", "", false
	}
	return filepath.Dir(filepath.Dir(fuzz)), filepath.Base(dir), true
}

// CorpusFile makes a finding of one of Go's corpus files, testdata/fuzz/FuzzX/NAME; nil: the file is none. g has the flags.
func CorpusFile(path string, g Target) (*corpus.FindingFile, error) {
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte(fuzztest.Header)) {
		return nil, nil
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, exit.Failure(err)
	}
	pkg, test, ok := testOf(filepath.Dir(full))
	if !ok {
		return nil, exit.Usage("expected a file of the package's testdata/fuzz/FuzzX", "%s is one of Go's corpus files, but where it is does not say of which fuzz test", path)
	}
	g.Dir, g.Test = pkg, test
	raw, err := campaign.RawJSON(g)
	return &corpus.FindingFile{Kind: "go", Target: raw, Finding: teasel.Finding{Input: data}}, err
}

// runUntilFailure runs the input of a corpus file up to so many times, and replaces the finding of f by the one that it shows. It
// returns which try that was; 0: none has failed. An input that is no value of the test's type is an error.
func (r *replayer) runUntilFailure(ctx context.Context, f *corpus.FindingFile, tries int) (try int, err error) {
	if err := r.checkType(ctx, f); err != nil {
		return 0, err
	}
	in, ex, err := r.Open(ctx, f, "the corpus file")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	for i := range tries {
		fs, _, err := teasel.Replay(ctx, ex, []teasel.Detector{teasel.DetectorFunc(judge.Detect)}, in)
		if err != nil {
			return 0, exit.InterruptedOr(ctx, err)
		}
		if len(fs) > 0 {
			fs[0].Stable, fs[0].Tries, fs[0].Input = 1, 1, f.Finding.Input
			f.Finding = fs[0]
			return i + 1, nil
		}
	}
	return 0, nil
}

// runCorpusFile builds the fuzz test of a corpus file, and runs it until it fails.
func runCorpusFile(cmd *cobra.Command, f *corpus.FindingFile, tries int) (r *replayer, try int, err error) {
	if r, err = openTest(cmd.Context(), f.Target, cmd.ErrOrStderr()); err != nil {
		return nil, 0, err
	}
	try, err = r.runUntilFailure(cmd.Context(), f, tries)
	return r, try, err
}

// ReproCorpusFile runs one of Go's corpus files as plain go test would.
func ReproCorpusFile(cmd *cobra.Command, f *corpus.FindingFile, tries int) error {
	_, try, err := runCorpusFile(cmd, f, tries)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if try == 0 {
		fmt.Fprintf(w, "not reproduced in %s\n", replay.Tries(tries))
		return nil
	}
	fmt.Fprintln(w, replay.Heading(&f.Finding))
	return replay.Shown(w, &f.Finding, try, tries)
}

// MinCorpusFile makes one of Go's corpus files simpler, as long as plain go test fails on it in the same way.
func MinCorpusFile(cmd *cobra.Command, f *corpus.FindingFile, path, out string, runs int) error {
	if info, err := os.Stat(filepath.Dir(out)); err != nil || !info.IsDir() {
		return exit.Usage("name a file that can be written", "--out %s: its directory is not there", out)
	}
	r, try, err := runCorpusFile(cmd, f, 1)
	if err != nil {
		return err
	}
	if try == 0 {
		return replay.NotShown()
	}
	before := len(f.Finding.Input)
	changed, err := r.Minimize(cmd.Context(), cmd.ErrOrStderr(), f, runs)
	if err != nil {
		return err
	}
	if changed || out != path {
		if err := os.WriteFile(out, f.Finding.Input, 0o644); err != nil {
			return exit.Usage("name a file that can be written with --out", "%w", err)
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d bytes before, %d now: %s\n", before, len(f.Finding.Input), out)
	if cmd.Context().Err() != nil {
		return &exit.Error{Status: exit.StatusInterrupted, Hint: "to go on: teasel min " + plain.Quote(out)}
	}
	return nil
}

// ShowCorpusFile shows one of Go's corpus files, and how to run it.
func ShowCorpusFile(w io.Writer, f *corpus.FindingFile, path string) error {
	var g Target
	if err := campaign.ReadTarget(f.Target, &g); err != nil {
		return err
	}
	if err := fuzztest.CheckFile(f.Finding.Input); err != nil {
		return exit.Usage("expected a file as go test -fuzz writes it", "%s is no input: %w", path, err)
	}
	fmt.Fprintf(w, "%s of %s\n\n%s\n\n", g.Test, relativePath(g.Dir), strings.TrimRight(plain.Text(string(f.Finding.Input)), "\n"))
	known := lastFinding(&g, f.Finding.Input)
	if known == nil {
		fmt.Fprintf(w, "how it fails is not known: teasel repro runs it\n\nrun it: teasel repro %s\nwithout teasel: %s\n", plain.Quote(path),
			plain.Text(g.goTestCommand(relativePath(g.Dir), filepath.Base(path), nil)))
		return nil
	}
	x := &known.Finding
	if err := campaign.ReadTarget(known.Target, &g); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n%s\n", replay.Heading(x), plain.Line(x.Message))
	if x.Detail != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(plain.Text(x.Detail), "\n"))
	}
	fmt.Fprintf(w, "\nreproduce it: %s\n", strings.Join(append(append([]string{"teasel", "repro"}, g.reproFlags(x.Rule)...), plain.Quote(path)), " "))
	if c := g.goTestCommand(relativePath(g.Dir), filepath.Base(path), x); c != "" {
		fmt.Fprintf(w, "without teasel: %s\n", plain.Text(c))
	}
	return nil
}

// lastFinding returns what the last run has found with an input of a fuzz test, if its campaigns are below the user's cache
// directory; nil: that is not known.
func lastFinding(g *Target, input []byte) *corpus.FindingFile {
	cache, err := cacheDir()
	if err != nil {
		return nil
	}
	dirs, err := campaign.Find(filepath.Join(cache, "corpus"))
	if err != nil {
		return nil
	}
	for _, dir := range dirs {
		if filepath.Base(dir) != g.Test {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(glob.Escape(dir), corpus.Findings, "*.json")) // the pattern is well formed
		for _, name := range files {
			f, err := corpus.ReadFinding(name)
			var of Target
			if err == nil && campaign.ReadTarget(f.Target, &of) == nil && of.Dir == g.Dir && bytes.Equal(f.Finding.Input, input) {
				return &f
			}
		}
	}
	return nil
}

// IsCorpusDir reports whether a path is that of a directory testdata/fuzz/FuzzX.
func IsCorpusDir(path string) bool {
	_, _, ok := testOf(path)
	return ok
}

// relativePath returns the path from the working directory of what is below that; other paths are returned as they are.
func relativePath(path string) string {
	here, err := os.Getwd()
	if err != nil {
		return path
	}
	return relativeTo(here, path)
}

func relativeTo(dir, path string) string {
	if rel, err := filepath.Rel(dir, path); path != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

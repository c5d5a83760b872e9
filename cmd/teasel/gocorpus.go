package main

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
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/report"
)

// testOf returns the package's directory and the fuzz test that a directory testdata/fuzz/FuzzX belongs to; false: it is none.
func testOf(dir string) (pkg, test string, ok bool) {
	fuzz := filepath.Dir(dir)
	if filepath.Base(fuzz) != "fuzz" || filepath.Base(filepath.Dir(fuzz)) != "testdata" {
		return "", "", false
	}
	return filepath.Dir(filepath.Dir(fuzz)), filepath.Base(dir), true
}

// corpusFileFinding makes a finding of one of Go's corpus files, testdata/fuzz/FuzzX/NAME; nil: the file is none. g says how it is
// run.
func corpusFileFinding(path string, g goTarget) (*corpus.FindingFile, error) {
	data, err := os.ReadFile(path)
	if err != nil || !bytes.HasPrefix(data, []byte(fuzztest.Header)) {
		return nil, nil
	}
	full, err := filepath.Abs(path)
	if err != nil {
		return nil, failure(err)
	}
	pkg, test, ok := testOf(filepath.Dir(full))
	if !ok {
		return nil, usage("expected a file of the package's testdata/fuzz/FuzzX", "%s is one of Go's corpus files, but where it is does not say of which fuzz test", path)
	}
	g.Dir, g.Test = pkg, test
	raw, err := rawJSON(g)
	return &corpus.FindingFile{Kind: "go", Target: raw, Finding: teasel.Finding{Input: data}}, err
}

// judge runs the input of a corpus file up to so many times, and makes f's finding the one that comes of it. It returns which try that
// was; 0: none has failed. An input that is no value of the test's type is an error.
func (r *goReplayer) judge(ctx context.Context, f *corpus.FindingFile, tries int) (try int, err error) {
	if err := r.fits(ctx, f); err != nil {
		return 0, err
	}
	in, ex, err := r.open(ctx, f, "the corpus file")
	if err != nil {
		return 0, err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	for i := range tries {
		fs, _, err := teasel.Replay(ctx, ex, []teasel.Detector{teasel.DetectorFunc(judge.Detect)}, in)
		if err != nil {
			return 0, cutShort(ctx, err)
		}
		if len(fs) > 0 {
			fs[0].Stable, fs[0].Tries, fs[0].Input = 1, 1, f.Finding.Input
			f.Finding = fs[0]
			return i + 1, nil
		}
	}
	return 0, nil
}

// judged makes ready what runs a corpus file, and runs it.
func judged(cmd *cobra.Command, f *corpus.FindingFile, tries int) (r *goReplayer, try int, err error) {
	b, err := openBench(cmd.Context(), cmd.ErrOrStderr(), f)
	if err != nil {
		return nil, 0, err
	}
	r = b.(*goReplayer)
	try, err = r.judge(cmd.Context(), f, tries)
	return r, try, err
}

// reproCorpusFile runs one of Go's corpus files as plain go test would.
func reproCorpusFile(cmd *cobra.Command, f *corpus.FindingFile, tries int) error {
	_, try, err := judged(cmd, f, tries)
	if err != nil {
		return err
	}
	w := cmd.OutOrStdout()
	if try == 0 {
		fmt.Fprintf(w, "not shown in %d tries\n", tries)
		return nil
	}
	fmt.Fprintln(w, heading(&f.Finding))
	return shown(w, &f.Finding, try, tries)
}

// minCorpusFile makes one of Go's corpus files simpler, as long as plain go test fails on it in the same way.
func minCorpusFile(cmd *cobra.Command, f *corpus.FindingFile, path, out string, runs int) error {
	if info, err := os.Stat(filepath.Dir(out)); err != nil || !info.IsDir() {
		return usage("name a file that can be written", "--out %s: its directory is not there", out)
	}
	r, try, err := judged(cmd, f, 1)
	if err != nil {
		return err
	}
	if try == 0 {
		return notShown()
	}
	before := len(f.Finding.Input)
	changed, err := r.minimize(cmd.Context(), cmd.ErrOrStderr(), f, runs)
	if err != nil {
		return err
	}
	if changed || out != path {
		if err := os.WriteFile(out, f.Finding.Input, 0o644); err != nil {
			return usage("name a file that can be written with --out", "%w", err)
		}
	}
	fmt.Fprintf(cmd.OutOrStdout(), "%d bytes before, %d now: %s\n", before, len(f.Finding.Input), out)
	if cmd.Context().Err() != nil {
		return &exit{status: exitInterrupted, hint: "to go on: teasel min " + report.Quote(out)}
	}
	return nil
}

// showCorpusFile shows one of Go's corpus files, and how to run it.
func showCorpusFile(w io.Writer, f *corpus.FindingFile, path string) error {
	var g goTarget
	if err := described(f.Target, &g); err != nil {
		return err
	}
	if err := fuzztest.CheckFile(f.Finding.Input); err != nil {
		return usage("expected a file as go test -fuzz writes it", "%s is no input: %w", path, err)
	}
	fmt.Fprintf(w, "%s of %s\n\n%s\n\n", g.Test, nearby(g.Dir), strings.TrimRight(report.Plain(string(f.Finding.Input)), "\n"))
	known := recorded(&g, f.Finding.Input)
	if known == nil {
		fmt.Fprintf(w, "how it fails is not known: teasel repro runs it\n\nrun it: teasel repro %s\nwithout teasel: %s\n", report.Quote(path),
			report.Plain(g.byHand(nearby(g.Dir), filepath.Base(path), nil)))
		return nil
	}
	x := &known.Finding
	if err := described(known.Target, &g); err != nil {
		return err
	}
	fmt.Fprintf(w, "%s\n%s\n", heading(x), report.Line(x.Message))
	if x.Detail != "" {
		fmt.Fprintf(w, "\n%s\n", strings.TrimRight(report.Plain(x.Detail), "\n"))
	}
	fmt.Fprintf(w, "\nshow it again: %s\n", strings.Join(append(append([]string{"teasel", "repro"}, g.needed(x.Rule)...), report.Quote(path)), " "))
	if c := g.byHand(nearby(g.Dir), filepath.Base(path), x); c != "" {
		fmt.Fprintf(w, "without teasel: %s\n", report.Plain(c))
	}
	return nil
}

// recorded returns what the last run has found with an input of a fuzz test, if it kept that below the user's cache directory;
// nil: that is not known.
func recorded(g *goTarget, input []byte) *corpus.FindingFile {
	cache, err := goCache()
	if err != nil {
		return nil
	}
	dirs, err := campaigns(filepath.Join(cache, "corpus"))
	if err != nil {
		return nil
	}
	for _, dir := range dirs {
		if filepath.Base(dir) != g.Test {
			continue
		}
		files, _ := filepath.Glob(filepath.Join(dir, corpus.Findings, "*.json")) // the pattern is well formed
		for _, name := range files {
			f, err := corpus.ReadFinding(name)
			var of goTarget
			if err == nil && described(f.Target, &of) == nil && of.Dir == g.Dir && bytes.Equal(f.Finding.Input, input) {
				return &f
			}
		}
	}
	return nil
}

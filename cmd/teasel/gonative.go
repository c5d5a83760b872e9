package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/packages"
	"github.com/teaselfuzz/teasel/report"
)

// nativeTurn is how long go test -fuzz runs each fuzz test if the run has no limit.
const nativeTurn = time.Minute

var (
	nativeFailure = regexp.MustCompile(`Failing input written to (\S+)`)
	nativeRuns    = regexp.MustCompile(`elapsed: \S+, execs: (\d+)`)
)

// runNative runs the fuzz tests one after the other with go test -fuzz, for toolchains that teasel does not know how to
// build for. It stops each at its first failure, as the go command does.
func (s *goSession) runNative(cmd *cobra.Command) error {
	o, w := s.options, cmd.ErrOrStderr()
	fmt.Fprintf(w, "teasel: warning: mode native, go test -fuzz runs instead, since %s is not as teasel expects it: %v\n", s.builder.Toolchain.Version, s.builder.Why)
	tests := 0
	for i := range s.packages {
		tests += len(s.packages[i].Tests)
	}
	each := nativeTurn
	if o.Duration > 0 {
		each = max(o.Duration/time.Duration(tests), time.Second)
	}
	r := &report.Run{Version: version, Kind: "go", Seed: o.Seed, Rules: judge.Rules(), Skipped: s.skipped, Baseline: o.known}
	files, hand := map[string]string{}, map[string]string{}
	began := time.Now()
	for i := range s.packages {
		p := &s.packages[i]
		for _, t := range p.Tests {
			if cmd.Context().Err() != nil {
				break
			}
			f, runs, err := s.native(cmd.Context(), w, p, t.Name, each)
			if err != nil {
				s.leaveOut(w, p.Path+" "+t.Name, err.Error(), "", "")
				r.Skipped = s.skipped
			}
			r.Subjects = append(r.Subjects, p.Path+" "+t.Name)
			r.Summary.Executions += runs
			if f != nil {
				id := f.ID()
				files[id] = s.relative(filepath.Join(p.Dir, "testdata", "fuzz", t.Name, teasel.Key(f.Input)))
				hand[id] = byHandGo(s.relative(p.Dir), t.Name, teasel.Key(f.Input), o.flags())
				r.Summary.Findings = append(r.Summary.Findings, *f)
			}
		}
	}
	r.Target, r.Summary.Elapsed, r.Summary.Stats.Findings = s.title(), time.Since(began), len(r.Summary.Findings)
	r.File = func(f teasel.Finding) string { return files[f.ID()] }
	r.ByHand = func(f teasel.Finding) string { return hand[f.ID()] }
	r.Repro = r.ByHand // teasel repro needs the same build
	r.Summary.Stopped = "duration"
	switch {
	case cmd.Context().Err() != nil:
		r.Summary.Stopped = "interrupted"
	case r.Summary.Executions == 0 && len(r.Summary.Findings) == 0:
		r.Summary.Stopped = "failed"
	}
	if err := writeReport(cmd.OutOrStdout(), o.Format, r); err != nil {
		return err
	}
	if r.Summary.Executions == 0 && len(r.Summary.Findings) == 0 && cmd.Context().Err() == nil {
		return &exit{status: exitTarget, err: fmt.Errorf("none of the fuzz tests could be run")}
	}
	return outcome(cmd.Context(), r.Summary, &o.options)
}

// native runs one fuzz test and returns what it found, if anything, and how many executions the go command speaks of.
func (s *goSession) native(ctx context.Context, w io.Writer, p *packages.Package, test string, limit time.Duration) (f *teasel.Finding, runs uint64, err error) {
	args := append([]string{"test", "-run=^$", "-fuzz=^" + test + "$", "-fuzztime=" + limit.String(), "-parallel=" + strconv.Itoa(s.options.Workers)}, s.options.flags().Arguments()...)
	cmd := exec.CommandContext(ctx, "go", append(args, ".")...)
	cmd.Dir = p.Dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // so that its workers end with it
	var said bytes.Buffer
	cmd.Stdout = io.MultiWriter(&said, w)
	cmd.Stderr = cmd.Stdout
	runErr := cmd.Run()
	if all := nativeRuns.FindAllSubmatch(said.Bytes(), -1); len(all) > 0 {
		runs, _ = strconv.ParseUint(string(all[len(all)-1][1]), 10, 64)
	}
	m := nativeFailure.FindSubmatch(said.Bytes())
	if m == nil {
		if ctx.Err() != nil {
			runErr = nil
		}
		return nil, runs, runErr
	}
	data, err := os.ReadFile(filepath.Join(p.Dir, string(m[1])))
	if err != nil {
		return nil, runs, err
	}
	fs := judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: judge.CauseTest, Text: said.String(), Test: p.Path + " " + test}})
	fs[0].Input, fs[0].Stable, fs[0].Tries, fs[0].Occurrences = data, 1, 1, 1
	return &fs[0], runs, nil
}

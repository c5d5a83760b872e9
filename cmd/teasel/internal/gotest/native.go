package gotest

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
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/packages"
	"github.com/teaselfuzz/teasel/gofunc/session"
	"github.com/teaselfuzz/teasel/report"
)

// nativeDuration is how long go test -fuzz runs each fuzz test if the run has no limit.
const nativeDuration = time.Minute

var (
	nativeFailure = regexp.MustCompile(`Failing input written to (\S+)`)
	nativeRuns    = regexp.MustCompile(`elapsed: \S+, execs: (\d+)`)
)

// runNative runs the fuzz tests one after the other with go test -fuzz, for toolchains that teasel cannot build for. Each stops at its
// first failure, as the go command has it.
func (s *testRun) runNative(cmd *cobra.Command) error {
	o, w := s.options, cmd.ErrOrStderr()
	fmt.Fprintf(w, "teasel: warning: mode native, go test -fuzz runs instead, since %s is not as teasel expects it: %v\n", s.builder.Toolchain.Version, s.builder.Why)
	each := s.nativeLimit()
	r := &report.Run{Version: campaign.Version, Kind: "go", Seed: o.Seed, Rules: judge.Rules(), Skipped: s.skipped, Baseline: o.Known}
	files, hand := map[string]string{}, map[string]string{}
	began, stopped := time.Now(), ""
	enough := &session.Limit{Findings: o.StopAfter, Counts: o.Counts, Reached: func() { stopped = "findings" }}
	for i := range s.packages {
		p := &s.packages[i]
		for _, t := range p.Tests {
			if cmd.Context().Err() != nil || stopped != "" {
				break
			}
			fs, runs, err := s.native(cmd.Context(), w, p, t.Name, each)
			if err != nil {
				s.leaveOut(w, p.Path+" "+t.Name, err.Error(), "", "")
				r.Skipped = s.skipped
			}
			r.Subjects = append(r.Subjects, p.Path+" "+t.Name)
			r.Summary.Executions += runs
			for _, f := range fs {
				if err := enough.Report(teasel.Event{Kind: teasel.EventFound, Finding: f}); err != nil {
					return exit.Failure(err)
				}
				id := f.ID()
				files[id] = s.relative(filepath.Join(p.Dir, "testdata", "fuzz", t.Name, teasel.Key(f.Input)))
				g := &Target{Test: t.Name, Race: o.Race, Tags: o.Tags, Timeout: o.Timeout, Memory: o.MemoryLimit}
				hand[id] = g.goTestCommand(s.relative(p.Dir), teasel.Key(f.Input), &f)
				r.Summary.Findings = append(r.Summary.Findings, f)
			}
		}
	}
	r.Target, r.Summary.Elapsed, r.Summary.Stats.Findings = s.title(), time.Since(began), len(r.Summary.Findings)
	r.File = func(f teasel.Finding) string { return files[f.ID()] }
	r.ByHand = func(f teasel.Finding) string { return hand[f.ID()] }
	r.Repro = r.ByHand // teasel repro cannot build the test
	r.NoCorpus = true  // go test has it
	outcome := r.Outcome()
	nothing := outcome.Untested
	r.Summary.Stopped = nativeStopped(cmd.Context(), o, stopped, nothing)
	if err := campaign.WriteReports(cmd.OutOrStdout(), &o.Options, r); err != nil {
		return err
	}
	if nothing && cmd.Context().Err() == nil {
		return &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("none of the fuzz tests could be run")}
	}
	return campaign.Outcome(cmd.Context(), r, &o.Options)
}

// nativeLimit is how long go test -fuzz runs a fuzz test.
type nativeLimit struct {
	runs uint64        // 0: no limit
	time time.Duration // 0: no limit
}

// argument returns the value of -fuzztime, which takes one limit: with a limit on runs, the caller has to enforce the one on time.
func (l nativeLimit) argument() string {
	if l.runs > 0 {
		return fmt.Sprintf("%dx", l.runs)
	}
	return l.time.String()
}

// nativeLimit divides the limits of the run among the fuzz tests.
func (s *testRun) nativeLimit() (each nativeLimit) {
	o, tests := s.options, 0
	for i := range s.packages {
		tests += len(s.packages[i].Tests)
	}
	if o.Runs > 0 {
		each.runs = max(o.Runs/uint64(tests), 1)
	}
	switch {
	case o.Duration > 0:
		each.time = max(o.Duration/time.Duration(tests), time.Second)
	case o.Runs == 0:
		each.time = nativeDuration
	}
	return each
}

// nativeStopped returns why a run has ended: for the reason enough, if that is not empty; nothing says that no test was run.
func nativeStopped(ctx context.Context, o *options, enough string, nothing bool) string {
	switch {
	case enough != "":
		return enough
	case ctx.Err() != nil:
		return "interrupted"
	case nothing:
		return "failed"
	case o.Runs > 0:
		return "runs"
	}
	return "duration"
}

// native runs a fuzz test and returns its finding, if there is one, and the number of executions that the go command prints.
func (s *testRun) native(ctx context.Context, w io.Writer, p *packages.Package, test string, limit nativeLimit) (fs []teasel.Finding, runs uint64, err error) {
	if limit.runs > 0 && limit.time > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit.time)
		defer cancel()
	}
	args := append([]string{"test", "-run=^$", "-fuzz=^" + test + "$", "-fuzztime=" + limit.argument(), "-parallel=" + strconv.Itoa(s.options.Workers)}, s.options.flags().Arguments()...)
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
	fs = judge.Detect(&teasel.Observation{Evidence: &judge.Failure{Cause: judge.CauseTest, Text: said.String(), Test: p.Path + " " + test}})
	fs[0].Input, fs[0].Stable, fs[0].Tries, fs[0].Occurrences = data, 1, 1, 1
	return campaign.AdjustSeverity(fs, s.options.Severity), runs, nil
}

package gotest

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/session"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// reportedFinding is a finding, with what the report says about it.
type reportedFinding struct {
	teasel.Finding
	test  *fuzzTest
	file  string // that has the input
	repro string // command that shows it again
	hand  string // command that does so without teasel; "": there is none
}

// collect adds the findings of a campaign. Of the same finding in several fuzz tests, which may call the same function, the confirmed
// one is kept.
func (s *testRun) collect(t *fuzzTest, found map[string]*reportedFinding) {
	for _, f := range t.summary.Findings {
		id := f.ID()
		if before := found[id]; before != nil {
			if before.Confirmed() || !f.Confirmed() {
				before.Occurrences += f.Occurrences
				continue
			}
			f.Occurrences += before.Occurrences
		}
		if n := t.saver.Seed(f.Original); n >= 0 {
			f.Message += fmt.Sprintf("; a seed of f.Add fails, seed#%d", n)
		}
		saved := t.saver.File(id)
		if t.saver.Failed(id) != nil {
			saved = "" // an earlier, longer input may be there, which is not the reproducer
		}
		g, file := s.target(t), s.relative(saved)
		own := g.reproFlags(f.Rule)
		x := &reportedFinding{Finding: f, test: t, file: file}
		found[id] = x
		x.repro = strings.Join(append(append([]string{"teasel", "repro"}, own...), plain.Quote(file)), " ")
		if n := t.saver.Seed(f.Input); n >= 0 {
			x.hand = g.goTestCommand(s.relative(t.pkg.Dir), fmt.Sprintf("seed#%d", n), &f)
		}
		if file == "" {
			x.repro = "teasel repro " + plain.Quote(s.relative(t.dir.FindingPath(id)))
		} else {
			x.hand = g.goTestCommand(s.relative(t.pkg.Dir), filepath.Base(saved), &f)
		}
		if file == "" || len(own) > 0 { // the file in testdata does not say the flags
			x.file = s.relative(t.dir.FindingPath(id))
		}
		if _, err := os.Stat(t.dir.FindingPath(id)); err != nil { // the campaign's directory is full, or gone
			if x.file = file; file == "" {
				x.repro = ""
			}
		}
		if x.file != "" {
			x.Unsaved = "" // to the campaign's directory
		}
	}
}

// warnUnsaved warns of findings that could not be saved to testdata, and says where they are.
func (s *testRun) warnUnsaved(w io.Writer, found map[string]*reportedFinding) {
	for _, t := range s.tests {
		for i := range t.summary.Findings {
			f := &t.summary.Findings[i]
			if err := t.saver.Failed(f.ID()); err != nil {
				where := "testdata, and is in " + found[f.ID()].file
				if found[f.ID()].file == "" {
					where = "testdata, nor to " + s.relative(t.out)
				}
				fmt.Fprintf(w, "teasel: warning: %s: the finding %s %s could not be saved to %s: %s\n",
					t, plain.Line(f.Rule), plain.Line(f.Subject), where, plain.Text(err.Error()))
			}
		}
	}
}

// report writes one report for all campaigns.
func (s *testRun) report(cmd *cobra.Command) error {
	o := s.options
	r := &report.Run{Version: campaign.Version, Kind: "go", Target: strings.Join(o.Packages, " "), Seed: o.Seed, Rules: judge.Rules(), Skipped: s.skipped, Dir: o.Out, Baseline: o.Known}
	for _, rule := range r.Rules {
		r.Unreproduced = append(r.Unreproduced, rule.ID)
	}
	var stats []teasel.Stats
	found := map[string]*reportedFinding{}
	var failed error
	for _, t := range s.tests {
		stats = append(stats, t.summary.Stats)
		r.Subjects = append(r.Subjects, t.String())
		if t.err != nil && cmd.Context().Err() == nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", t, t.err))
		}
		s.collect(t, found)
	}
	s.warnUnsaved(cmd.ErrOrStderr(), found)
	r.Summary.Stats = session.Sum(stats)
	for _, id := range slices.Sorted(maps.Keys(found)) {
		r.Summary.Findings = append(r.Summary.Findings, found[id].Finding)
	}
	r.Summary.Stats.Findings = len(found)
	r.Summary.Stopped, r.Coverage = s.stopped, countersReached(s.tests)
	failed = errors.Join(failed, s.addUnconfirmed(r, found))
	r.File = func(f teasel.Finding) string { return found[f.ID()].file }
	r.Test = func(f teasel.Finding) string { return found[f.ID()].test.String() }
	r.History = func() (view.State, error) { return s.recorder.Snapshot(), nil }
	r.Line = func(f teasel.Finding) (string, int) { return sourceLine(found[f.ID()].test.pkg.Dir, &f) }
	r.Repro = func(f teasel.Finding) string { return found[f.ID()].repro }
	r.ByHand = func(f teasel.Finding) string { return found[f.ID()].hand }
	if failed != nil && r.Summary.Executions == 0 {
		return exit.TargetFailure(failed)
	}
	nothing := campaign.NothingTested(cmd.Context(), "go", &r.Summary)
	s.addUntested(r)
	if failed != nil {
		r.Summary.Stopped = "failed"
	}
	campaign.WarnMemory(cmd.ErrOrStderr(), &o.Options, r)
	if err := campaign.WriteReports(cmd.OutOrStdout(), &o.Options, r); err != nil {
		return err
	}
	if dir := campaignsOf(found); dir != "" { // it is none that the user has named
		fmt.Fprintf(cmd.ErrOrStderr(), "teasel: to see this again: teasel show %s\n", plain.Quote(dir))
	}
	if failed != nil {
		return exit.TargetFailure(failed)
	}
	if nothing != nil {
		return nothing
	}
	if cmd.Context().Err() != nil {
		return &exit.Error{Status: exit.StatusInterrupted, Hint: "to carry on, run the same command again: it begins with what was kept"}
	}
	if err := campaign.Outcome(cmd.Context(), r, &o.Options); err != nil || len(s.broken) == 0 {
		return err
	}
	return s.incomplete()
}

// campaignsOf returns the directory that has the campaigns of all findings in it, or is the only one; "": there are no findings.
func campaignsOf(found map[string]*reportedFinding) (dir string) {
	for _, f := range found {
		if dir == "" {
			dir = f.test.out
		}
		for !strings.HasPrefix(f.test.out+"/", dir+"/") {
			dir = filepath.Dir(dir)
		}
	}
	return dir
}

// incomplete returns the error for a run that does not fail by what it has found, and that has left out tests that should have run.
func (s *testRun) incomplete() error {
	return &exit.Error{Status: exit.StatusTarget, Err: fmt.Errorf("not everything could be run: %s", strings.Join(s.broken, ", ")),
		Hint: "what the go command, or the test, said of each is above"}
}

// addUnconfirmed adds the findings that no campaign has confirmed. Those that were not reproduced get a file here; the campaigns have
// written those that there was no time to reproduce.
func (s *testRun) addUnconfirmed(r *report.Run, found map[string]*reportedFinding) (err error) {
	for _, t := range s.tests {
		for _, f := range t.summary.Unconfirmed {
			id := f.ID()
			if found[id] != nil {
				continue
			}
			path := t.dir.UnconfirmedPath(id)
			if f.Tries > 0 && len(f.Input) > 0 {
				m := t.dir.Meta()
				if e := os.MkdirAll(filepath.Dir(path), 0o777); e != nil {
					err = errors.Join(err, exit.Failure(fmt.Errorf("keeping an unconfirmed finding: %w", e)))
				} else {
					err = errors.Join(err, corpus.WriteFinding(path, &corpus.FindingFile{Kind: m.Kind, Target: m.Target, Seed: m.Seed, Finding: f}))
				}
			}
			found[id] = &reportedFinding{Finding: f, test: t, file: filepath.ToSlash(filepath.Join(t.out, corpus.Unconfirmed, id+".json"))}
			r.Summary.Unconfirmed = append(r.Summary.Unconfirmed, f)
		}
	}
	return err
}

// relative returns a path as the user would type it.
func (s *testRun) relative(path string) string { return relativeTo(s.dir, path) }

var (
	atLine    = regexp.MustCompile(`, at (\S+\.go):(\d+)(?:;|$)`)
	innerCall = regexp.MustCompile(`(?m)^\t(/.*\.go):(\d+)$`)
	testLine  = regexp.MustCompile(`^(\S+\.go):(\d+)$`)
)

// sourceLine returns the line of source that a finding's message names, or that of the test that called t.Error; 0: it is not known.
func sourceLine(dir string, f *teasel.Finding) (file string, line int) {
	if m := atLine.FindStringSubmatch(f.Message); m != nil {
		for _, call := range innerCall.FindAllStringSubmatch(f.Detail, -1) { // which have the whole path
			if filepath.Base(call[1]) == m[1] && call[2] == m[2] {
				line, _ = strconv.Atoi(m[2])
				return call[1], line
			}
		}
		return "", 0
	}
	if m := testLine.FindStringSubmatch(f.Subject); m != nil {
		line, _ = strconv.Atoi(m[2])
		return filepath.Join(dir, m[1]), line
	}
	return "", 0
}

// countersReached counts the counters that the testcases of fuzz tests reach. It adds up the tests: each has all counters of its test binary.
func countersReached(tests []*fuzzTest) (c report.Coverage) {
	for _, t := range tests {
		if t.dir == nil || t.target.Counters == 0 {
			continue
		}
		s, _, err := t.dir.Snapshot(nil)
		if err != nil {
			continue
		}
		c.Counters.Reached += len(countersOf(t, s.Entries))
		c.Counters.Total += t.target.Counters
	}
	return c
}

// countersOf returns the counters that testcases of a fuzz test reach.
func countersOf(t *fuzzTest, entries []teasel.Entry) corpus.EdgeSet {
	counters := corpus.EdgeSet{} // the features of counters are as those of edges
	for i := range entries {
		counters.Add(entries[i].Features)
	}
	maps.DeleteFunc(counters, func(f teasel.Feature, _ struct{}) bool { return f >= teasel.Feature(t.target.Counters) }) // states that a test observes
	return counters
}

package main

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
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/gofunc/session"
	"github.com/teaselfuzz/teasel/report"
)

// foundGo is a finding, with what the report says of it.
type foundGo struct {
	teasel.Finding
	test  *goTest
	file  string // that has the input
	repro string // command that shows it again
	hand  string // command that does so without teasel; "": there is none
}

// collect adds the findings of a campaign. Fuzz tests that call the same function may have the same finding: that one is kept
// which is confirmed.
func (s *goSession) collect(t *goTest, found map[string]*foundGo) {
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
		own := g.needed(f.Rule)
		x := &foundGo{Finding: f, test: t, file: file}
		found[id] = x
		x.repro = strings.Join(append(append([]string{"teasel", "repro"}, own...), report.Quote(file)), " ")
		if n := t.saver.Seed(f.Input); n >= 0 {
			x.hand = g.byHand(s.relative(t.pkg.Dir), fmt.Sprintf("seed#%d", n), &f)
		}
		if file == "" {
			x.repro = "teasel repro " + report.Quote(s.relative(t.dir.FindingPath(id)))
		} else {
			x.hand = g.byHand(s.relative(t.pkg.Dir), filepath.Base(saved), &f)
		}
		if file == "" || len(own) > 0 { // a file by itself has to tell everything
			x.file = s.relative(t.dir.FindingPath(id))
		}
		if _, err := os.Stat(t.dir.FindingPath(id)); err != nil { // the campaign's directory is full, or gone
			if x.file = file; file == "" {
				x.repro = ""
			}
		}
	}
}

// unsaved says which findings could not be saved to testdata, and where they are.
func (s *goSession) unsaved(w io.Writer, found map[string]*foundGo) {
	for _, t := range s.tests {
		for i := range t.summary.Findings {
			f := &t.summary.Findings[i]
			if err := t.saver.Failed(f.ID()); err != nil {
				where := "testdata, and is in " + found[f.ID()].file
				if found[f.ID()].file == "" {
					where = "testdata, nor to " + s.relative(t.out)
				}
				fmt.Fprintf(w, "teasel: warning: %s: the finding %s %s could not be saved to %s: %s\n",
					t, f.Rule, report.Line(f.Subject), where, report.Plain(err.Error()))
			}
		}
	}
}

// report writes what all campaigns came to as one.
func (s *goSession) report(cmd *cobra.Command) error {
	o := s.options
	r := &report.Run{Version: version, Kind: "go", Target: strings.Join(o.Packages, " "), Seed: o.Seed, Rules: judge.Rules(), Skipped: s.skipped, Dir: o.Out, Baseline: o.known, Unreproduced: true}
	var stats []teasel.Stats
	found := map[string]*foundGo{}
	var failed error
	for _, t := range s.tests {
		stats = append(stats, t.summary.Stats)
		r.Subjects = append(r.Subjects, t.String())
		if t.err != nil && cmd.Context().Err() == nil {
			failed = errors.Join(failed, fmt.Errorf("%s: %w", t, t.err))
		}
		s.collect(t, found)
	}
	s.unsaved(cmd.ErrOrStderr(), found)
	r.Summary.Stats = session.Sum(stats)
	for _, id := range slices.Sorted(maps.Keys(found)) {
		r.Summary.Findings = append(r.Summary.Findings, found[id].Finding)
	}
	r.Summary.Stats.Findings = len(found)
	r.Summary.Stopped, r.Coverage = s.stopped, goCoverage(s.tests)
	failed = errors.Join(failed, s.addUnconfirmed(r, found))
	r.File = func(f teasel.Finding) string { return found[f.ID()].file }
	r.Test = func(f teasel.Finding) string { return found[f.ID()].test.String() }
	r.Line = func(f teasel.Finding) (string, int) { return sourceLine(found[f.ID()].test.pkg.Dir, &f) }
	r.Repro = func(f teasel.Finding) string { return found[f.ID()].repro }
	r.ByHand = func(f teasel.Finding) string { return found[f.ID()].hand }
	if failed != nil && r.Summary.Executions == 0 {
		return targetFailure(failed)
	}
	nothing := untested(cmd.Context(), "go", &r.Summary)
	if failed != nil {
		r.Summary.Stopped = "failed"
	}
	if err := writeReport(cmd.OutOrStdout(), o.Format, r); err != nil {
		return err
	}
	if failed != nil {
		return targetFailure(failed)
	}
	if nothing != nil {
		return nothing
	}
	if cmd.Context().Err() != nil {
		return &exit{status: exitInterrupted, hint: "to carry on, run the same command again: it begins with what was kept"}
	}
	if err := outcome(cmd.Context(), r.Summary, &o.options); err != nil || len(s.broken) == 0 {
		return err
	}
	return s.incomplete()
}

// incomplete says that nothing was found by a run that left out what should have run.
func (s *goSession) incomplete() error {
	return &exit{status: exitTarget, err: fmt.Errorf("nothing was found, but not everything could be run: %s", strings.Join(s.broken, ", ")),
		hint: "what the go command, or the test, said of each is above"}
}

// addUnconfirmed adds the findings that were seen, and that no campaign has confirmed. What was tried in vain gets a file here: a
// campaign writes those of which there was no time to try.
func (s *goSession) addUnconfirmed(r *report.Run, found map[string]*foundGo) (err error) {
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
					err = errors.Join(err, failure(fmt.Errorf("keeping an unconfirmed finding: %w", e)))
				} else {
					err = errors.Join(err, corpus.WriteFinding(path, &corpus.FindingFile{Kind: m.Kind, Target: m.Target, Seed: m.Seed, Finding: f}))
				}
			}
			found[id] = &foundGo{Finding: f, test: t, file: filepath.ToSlash(filepath.Join(t.out, corpus.Unconfirmed, id+".json"))}
			r.Summary.Unconfirmed = append(r.Summary.Unconfirmed, f)
		}
	}
	return err
}

// relative returns a path as the user would type it.
func (s *goSession) relative(path string) string {
	if rel, err := filepath.Rel(s.dir, path); path != "" && err == nil && filepath.IsLocal(rel) {
		return rel
	}
	return path
}

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

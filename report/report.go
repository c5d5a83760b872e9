// Package report writes the results of a campaign that has ended: as text for a person, as JSON for a program, as SARIF 2.1.0 for GitHub
// code scanning and others, as JUnit XML for CI servers, as one HTML page, and as Markdown for job summaries and issues.
//
// The same [Run] gives the same bytes, whatever the order of its findings and other elements.
package report

import (
	"cmp"
	"fmt"
	"io"
	"path/filepath"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/view"
)

// Skip says why something of a target was not fuzzed.
type Skip = corpus.Skip

// Run is the content of a report. Its zero value is valid.
type Run struct {
	Version  string           // of the program; "": dev
	Kind     string           // of target, for example mcp
	Target   string           // in one line, for example node server.js
	Seed     uint64           // of the generator
	Summary  teasel.Summary   // of the campaign
	Rules    []teasel.Rule    // that could have been broken
	Subjects []string         // of the target that were fuzzed, for example "tools/call divide"
	Skipped  []Skip           // subjects that were not fuzzed
	Blocked  []string         // subjects that were not fuzzed because they may destroy something
	Coverage Coverage         // what of the target was reached
	Dir      string           // the campaign's directory; "": none, findings have no file then
	Baseline *Baseline        // the known findings; nil: none
	Triaged  []corpus.Triaged // the files that the campaign was given to triage; nil: it has fuzzed

	// Library is what the target is built on, with its version; "": nothing is known. OfLibrary reports whether a finding is about what that
	// does alone, and so the same for every target that is built on it: reports show these apart, and they fail a run from LibraryFails
	// on, which is high unless it is set. OfLibrary may be nil.
	Library      string
	OfLibrary    func(teasel.Finding) bool
	LibraryFails teasel.Severity

	// Untested says why what the run was for was not tested although there were executions, as a sentence; "": it was. Reports begin
	// with it, and a run that has found nothing has no clean result.
	Untested string

	// NoCorpus says that the run keeps no testcases, so that their number says nothing of what was tested.
	NoCorpus bool

	// Unreproduced has rules whose findings are listed as unconfirmed also if they were tried and not reproduced, beside those that there
	// was no time to try. They do not fail a run.
	Unreproduced []string

	// File returns the path of a finding's file, "" if it has none; nil: it is in the campaign's directory.
	File func(teasel.Finding) string
	// Test returns the test that a finding is of, for example "example.com/m FuzzParse", "" if it is of none; nil: there are none. It
	// is one of Subjects.
	Test func(teasel.Finding) string
	// Line returns the line of source where a finding shows, 0 if it is not known; nil: it is the innermost call in the finding's
	// detail that is in a file below Root. SARIF points there.
	Line func(teasel.Finding) (file string, line int)
	// Repro returns the command that shows a finding again; nil: teasel repro and the finding's file.
	Repro func(teasel.Finding) string
	// ByHand returns the command that shows a finding without teasel, "" if there is none; nil: there is none.
	ByHand func(teasel.Finding) string
	// Scripts says that teasel can write a program which shows a finding of this kind.
	Scripts bool
	// History returns the campaign over time and what its kind adds, for HTML; nil: nothing is known.
	History func() (view.State, error)
	// Root is the root of the repository, to which SARIF's locations are relative; "": the working directory.
	Root string
	// Source is a file below Root that SARIF points at, such as a committed teasel.toml: code scanning shows only what
	// is in the repository; "": the finding's file.
	Source string
}

// formats are what [Write] can write, each with the ending of a file that has it.
var formats = [...]struct {
	name, ending string
	write        func(io.Writer, *Run) error
}{{"text", ".txt", Text}, {"json", ".json", JSON}, {"sarif", ".sarif", SARIF}, {"junit", ".xml", JUnit}, {"html", ".html", HTML}, {"markdown", ".md", Markdown}}

// Formats lists what [Write] can write.
func Formats() (names []string) {
	for _, f := range formats {
		names = append(names, f.name)
	}
	return names
}

// FormatOf returns the one of [Formats] that the ending of a file's name says, for example junit for report.xml; "": none.
func FormatOf(file string) string {
	for _, f := range formats {
		if strings.EqualFold(filepath.Ext(file), f.ending) {
			return f.name
		}
	}
	return ""
}

// Write writes a report in one of [Formats].
func Write(w io.Writer, format string, r *Run) error {
	for _, f := range formats {
		if f.name == format {
			return f.write(w, r)
		}
	}
	return fmt.Errorf("format %q: expected %s", format, strings.Join(Formats(), ", "))
}

// findings returns the findings, worst first.
func (r *Run) findings() []teasel.Finding {
	fs := slices.Clone(r.Summary.Findings)
	slices.SortFunc(fs, func(a, b teasel.Finding) int { return a.Compare(&b) })
	return fs
}

// Pending returns the new findings that are unconfirmed: those that there was no time to reproduce and, of the rules in
// Unreproduced, those that were not reproduced; the most severe first.
func (r *Run) Pending() []teasel.Finding {
	return slices.DeleteFunc(r.pending(), func(f teasel.Finding) bool { return r.Baseline.Known(f.ID()) })
}

func (r *Run) pending() (fs []teasel.Finding) {
	for _, f := range r.Summary.Unconfirmed {
		if f.Tries == 0 || slices.Contains(r.Unreproduced, f.Rule) {
			fs = append(fs, f)
		}
	}
	return fs
}

func (r *Run) skipped() []Skip {
	return slices.SortedFunc(slices.Values(r.Skipped), func(a, b Skip) int {
		return cmp.Or(cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.Reason, b.Reason))
	})
}

func (r *Run) blocked() []string { return slices.Compact(slices.Sorted(slices.Values(r.Blocked))) }

// rules returns the rules by id, with one made up for each finding of a rule that is not among them.
func (r *Run) rules() []teasel.Rule {
	rules := slices.Clone(r.Rules)
	for _, f := range slices.Concat(r.Summary.Findings, r.pending()) {
		if !slices.ContainsFunc(rules, func(u teasel.Rule) bool { return u.ID == f.Rule }) {
			rules = append(rules, teasel.Rule{ID: f.Rule, Severity: f.Severity})
		}
	}
	slices.SortStableFunc(rules, func(a, b teasel.Rule) int { return cmp.Compare(a.ID, b.ID) })
	rules = slices.CompactFunc(rules, func(a, b teasel.Rule) bool { return a.ID == b.ID })
	for i := range rules {
		rules[i].Title = cmp.Or(rules[i].Title, rules[i].ID)
		rules[i].Help = cmp.Or(strings.TrimSpace(rules[i].Help), rules[i].Title)
	}
	return rules
}

// test returns the test that a finding is of; "": there is none.
func (r *Run) test(f *teasel.Finding) string {
	if r.Test == nil {
		return ""
	}
	return r.Test(*f)
}

// reproducer returns the path of a finding's file; "": it has none.
func (r *Run) reproducer(f *teasel.Finding) string {
	if f.Unsaved != "" {
		return ""
	}
	if r.File != nil {
		return r.File(*f)
	}
	if r.Dir == "" {
		return ""
	}
	folder := corpus.Findings
	if r.isUnconfirmed(f) {
		folder = corpus.Unconfirmed
	}
	return filepath.ToSlash(filepath.Join(r.Dir, folder, f.ID()+".json"))
}

// isUnconfirmed reports whether a finding of this run is unconfirmed.
func (r *Run) isUnconfirmed(f *teasel.Finding) bool {
	return slices.ContainsFunc(r.Summary.Unconfirmed, func(u teasel.Finding) bool { return u.ID() == f.ID() })
}

// repro returns the command that shows a finding again; "": there is none.
func (r *Run) repro(f *teasel.Finding) string {
	if f.Unsaved != "" {
		return ""
	}
	if r.Repro != nil {
		if c := r.Repro(*f); c != "" || !r.isUnconfirmed(f) {
			return c
		}
	}
	file := r.reproducer(f)
	if file == "" {
		return ""
	}
	return "teasel repro " + plain.Quote(file)
}

// unsaved says of a finding that could not be saved why, and has its input as it stands in a finding's file; "": it was saved.
func unsaved(f *teasel.Finding) string {
	if f.Unsaved == "" {
		return ""
	}
	return fmt.Sprintf("not saved: %s; its input: %s", plain.Line(f.Unsaved), plain.JSON(corpus.InputText(f.Input)))
}

// again says how to see a finding again: with which command or, of one that could not be saved, with which input.
func (r *Run) again(f *teasel.Finding) string { return cmp.Or(unsaved(f), r.repro(f)) }

// byHand returns the command that shows a finding without teasel; "": there is none.
func (r *Run) byHand(f *teasel.Finding) string {
	if r.ByHand == nil {
		return ""
	}
	return r.ByHand(*f)
}

// rate is the executions per second.
func (r *Run) rate() float64 { return r.perSecond(r.Summary.Executions) }

func (r *Run) perSecond(n uint64) float64 {
	if s := r.Summary.Elapsed.Seconds(); s > 0 {
		return float64(n) / s
	}
	return 0
}

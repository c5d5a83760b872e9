package campaign

import (
	"context"
	"encoding/json"
	"io"
	"os"

	"github.com/spf13/cobra"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/flags"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/report"
	"github.com/teaselfuzz/teasel/view"
)

// Kind is what verbs that take any campaign or finding need of a kind of target. The zero value is a kind that this teasel does not know.
type Kind struct {
	Name string
	// NewReplayer returns what runs the inputs of findings of a target. What takes long, such as building, it announces.
	NewReplayer func(ctx context.Context, target json.RawMessage, stderr io.Writer) (Replayer, error)
	// Resume runs the campaign in a directory again. change sets its options to those of this run.
	Resume func(cmd *cobra.Command, dir *corpus.Dir, change func(*flags.Options)) error
	// ByHand returns the command that shows a finding without teasel, given the file with its input; nil: there is none.
	ByHand func(target json.RawMessage, f *teasel.Finding, input string) string
	// Script returns a program that shows a finding without teasel; nil: there is none.
	Script func(target json.RawMessage, f *corpus.FindingFile) (string, error)
	// Panels returns what makes the panels of a campaign of this kind, whose directory is dir, nil if it has none; nil: the kind has none.
	Panels func(m *corpus.Meta, dir string) view.Paneler
	// Coverage counts what testcases reach; nil: it cannot be known from a campaign's directory alone.
	Coverage func(m *corpus.Meta, entries []teasel.Entry) report.Coverage
	// Complete adds to a report what only the kind knows; nil: nothing.
	Complete func(m *corpus.Meta, r *report.Run)
}

// Replayer runs the input of a finding, whatever the type of input.
type Replayer interface {
	Repro(ctx context.Context, w io.Writer, f *corpus.FindingFile, tries int) error
	Minimize(ctx context.Context, w io.Writer, f *corpus.FindingFile, runs int) (changed bool, err error)
}

// Command returns the command that shows the finding whose file is at path without teasel; "": there is none.
func (k *Kind) Command(target json.RawMessage, f *teasel.Finding, path string) string {
	input := corpus.InputFile(path, f.ID())
	if k.ByHand == nil || input == "" {
		return ""
	}
	return k.ByHand(target, f, input)
}

// Paneler returns what makes the panels of a campaign; nil: there are none.
func (k *Kind) Paneler(m *corpus.Meta, dir string) view.Paneler {
	if k.Panels == nil {
		return nil
	}
	return k.Panels(m, dir)
}

// PanelsOf returns the panels of a campaign with these testcases.
func (k *Kind) PanelsOf(m *corpus.Meta, dir string, entries []teasel.Entry) []view.Panel {
	p := k.Paneler(m, dir)
	if p == nil {
		return nil
	}
	return p.Panels(entries)
}

// CoverageOf returns what these testcases of a campaign reach.
func (k *Kind) CoverageOf(m *corpus.Meta, entries []teasel.Entry) (c report.Coverage) {
	if k.Coverage == nil {
		return c
	}
	return k.Coverage(m, entries)
}

// Report gathers what a report is about from the directory of a campaign of this kind.
func (k *Kind) Report(dir *corpus.Dir, sum teasel.Summary) *report.Run {
	m := dir.Meta()
	r := &report.Run{Version: Version, Kind: m.Kind, Target: m.Name, Seed: m.Seed, Summary: sum, Untested: dir.Untested(), Rules: flags.RulesOf(m.Kind), Scripts: k.Script != nil,
		Blocked: m.Blocked, Subjects: m.Subjects, Dir: dir.Path(), Skipped: m.Skipped, Unreproduced: m.Crashes,
		ByHand: func(f teasel.Finding) string { return k.Command(m.Target, &f, dir.FindingPath(f.ID())) }}
	if s, _, err := dir.Snapshot(nil); err == nil { // broken files were reported when the directory was opened
		r.Coverage = k.CoverageOf(&m, s.Entries)
	}
	if k.Complete != nil {
		k.Complete(&m, r)
	}
	r.Triaged, _ = dir.Triaged() // a file that cannot be read says nothing of the findings
	r.History = func() (view.State, error) {
		s, err := view.FromDir(dir)
		if err != nil {
			return s, err
		}
		now, _, err := dir.Snapshot(nil)
		s.Panels = k.PanelsOf(&m, dir.Path(), now.Entries)
		return s, err
	}
	if _, err := os.Stat(flags.DefaultConfig); err == nil {
		r.Source = flags.DefaultConfig // code scanning can only show what is in the repository
	}
	return r
}

package report

import (
	"fmt"
	"io"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plain"
	"github.com/teaselfuzz/teasel/internal/web"
	"github.com/teaselfuzz/teasel/view"
)

// HTML writes one page that has everything in it: to be opened from a disk, mailed, or kept as an artifact.
func HTML(w io.Writer, r *Run) error {
	s, err := r.State()
	if err == nil {
		err = web.WriteReport(w, s)
	}
	if err != nil {
		return fmt.Errorf("writing the report: %w", err)
	}
	return nil
}

// State returns the campaign as a page shows it.
func (r *Run) State() (view.State, error) {
	var s view.State
	if r.History != nil {
		var err error
		if s, err = r.History(); err != nil {
			return s, err
		}
	}
	s.Teasel, s.Kind, s.Target, s.Dir, s.Seed = r.version(), r.Kind, r.Target, r.Dir, r.Seed
	s.SetStats(&r.Summary.Stats)
	if s.Status == "" || r.Summary.Stopped != "" {
		s.Ended(r.Summary.Stopped)
	}
	s.Skipped, s.Blocked = nil, r.blocked()
	for _, k := range r.skipped() {
		s.Skipped = append(s.Skipped, view.Skip(k))
	}
	s.Findings = nil
	add := func(f *teasel.Finding, unconfirmed bool) {
		commands := r.Commands(f)
		if unconfirmed && f.Unsaved == "" {
			commands = nil
			if c := r.repro(f); c != "" {
				commands = []view.Command{{Title: commandRepro, Text: c}}
			}
		}
		v := view.NewFinding(f, commands...)
		v.Test, v.Unconfirmed, v.Known = plain.Line(r.test(f)), unconfirmed, plain.Line(r.Baseline.Why(v.ID))
		s.Findings = append(s.Findings, v)
	}
	all := r.findings()
	for i := range all {
		add(&all[i], false)
	}
	pending := r.pending()
	for i := range pending {
		add(&pending[i], true)
	}
	s.Rules = nil
	for _, rule := range r.rules() {
		if slices.ContainsFunc(s.Findings, func(f view.Finding) bool { return f.Rule == rule.ID }) {
			s.AddRule(rule)
		}
	}
	s.Prepare()
	return s, nil
}

// Titles of commands.
const (
	commandNone   = "no command"
	commandRepro  = "reproduce it"
	commandByHand = "without teasel"
	commandScript = "write a program that reproduces it"
)

// Commands returns the commands that show a finding again. Of one that could not be saved there is its input instead.
func (r *Run) Commands(f *teasel.Finding) (all []view.Command) {
	if u := unsaved(f); u != "" {
		return []view.Command{{Title: commandNone, Text: u}}
	}
	for _, c := range []view.Command{{Title: commandRepro, Text: r.repro(f)}, {Title: commandByHand, Text: r.byHand(f)}, {Title: commandScript, Text: r.script(f)}} {
		if c.Text != "" {
			all = append(all, c)
		}
	}
	return all
}

// script returns the command that writes a program which shows a finding; "": there is none.
func (r *Run) script(f *teasel.Finding) string {
	if file := r.reproducer(f); r.Scripts && file != "" {
		return "teasel show --script " + plain.Quote(file)
	}
	return ""
}

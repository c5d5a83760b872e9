package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/internal/plain"
)

// Baseline has the findings that are known: those of an earlier run, and those that the user accepts. No finding is known to a nil
// Baseline.
type Baseline struct {
	Path     string         // of the earlier run: a JSON report or a campaign's directory; "": there is none
	Findings []corpus.Known // of the earlier run
	Accepted []Accepted
}

// Accepted is a finding that does not fail a run, and why.
type Accepted struct {
	ID     string
	Reason string
	Place  string // where it is accepted, for example teasel.toml:12
}

// Known reports whether the finding with an id is known.
func (b *Baseline) Known(id string) bool {
	return b != nil && (b.accepted(id) != nil || b.earlier(id))
}

func (b *Baseline) accepted(id string) *Accepted {
	if b == nil {
		return nil
	}
	if i := slices.IndexFunc(b.Accepted, func(a Accepted) bool { return a.ID == id }); i >= 0 {
		return &b.Accepted[i]
	}
	return nil
}

func (b *Baseline) earlier(id string) bool {
	return b != nil && slices.ContainsFunc(b.Findings, func(k corpus.Known) bool { return k.ID == id })
}

// Why returns why a finding is known; "": it is not.
func (b *Baseline) Why(id string) string {
	switch a := b.accepted(id); {
	case a != nil:
		return "accepted: " + plain.Line(a.Reason)
	case b.earlier(id):
		return "in the baseline"
	}
	return ""
}

// known is a known finding that this run has found.
type known struct {
	teasel.Finding
	file     string    // "": it has none
	reason   string    // why it is known
	accepted *Accepted // nil: it is in the baseline only
}

// newFindings returns the findings that are not known, the most severe first.
func (r *Run) newFindings() []teasel.Finding {
	return slices.DeleteFunc(r.findings(), func(f teasel.Finding) bool { return r.Baseline.Known(f.ID()) })
}

// known returns the known findings, those that there was no time to reproduce after the others.
func (r *Run) known() (ks []known) {
	add := func(fs []teasel.Finding) {
		for i := range fs {
			if id := fs[i].ID(); r.Baseline.Known(id) {
				ks = append(ks, known{fs[i], r.reproducer(&fs[i]), r.Baseline.Why(id), r.Baseline.accepted(id)})
			}
		}
	}
	add(r.findings())
	add(r.pending())
	return ks
}

// gone is a known finding that this run has not found.
type gone struct {
	corpus.Known        // of an accepted finding without a baseline, only the id is set
	Reason       string // for which it was accepted; "": it is in the baseline only
	place        string // where it is accepted
}

// gone returns the known findings that this run has not found, the most severe first.
func (r *Run) gone() (gs []gone) {
	if r.Baseline == nil {
		return nil
	}
	seen := map[string]bool{}
	for _, fs := range [][]teasel.Finding{r.Summary.Findings, r.Summary.Unconfirmed} {
		for i := range fs {
			seen[fs[i].ID()] = true
		}
	}
	add := func(k corpus.Known, a *Accepted) {
		if seen[k.ID] || k.Pending { // the earlier run had not confirmed it
			return
		}
		if k.Test != "" && !slices.Contains(r.Subjects, k.Test) { // the test did not run this time
			return
		}
		seen[k.ID] = true
		g := gone{Known: k}
		if a != nil {
			g.Reason, g.place = a.Reason, a.Place
		}
		gs = append(gs, g)
	}
	for _, k := range r.Baseline.Findings {
		add(k, r.Baseline.accepted(k.ID))
	}
	for i := range r.Baseline.Accepted {
		a := &r.Baseline.Accepted[i]
		add(corpus.Known{ID: a.ID}, a)
	}
	slices.SortFunc(gs, func(a, b gone) int {
		return cmp.Or(-cmp.Compare(a.Severity, b.Severity), cmp.Compare(a.Rule, b.Rule), cmp.Compare(a.Subject, b.Subject), cmp.Compare(a.ID, b.ID))
	})
	return gs
}

// String returns the finding in one line.
func (g *gone) String() string {
	if g.Rule == "" {
		return fmt.Sprintf("%s, accepted in %s: %s", g.ID, g.place, plain.Line(g.Reason))
	}
	return fmt.Sprintf("%v %s  %s: %s (%s)", g.Severity, plain.Line(g.Rule), plain.Line(g.Subject), plain.Line(g.Message), g.ID)
}

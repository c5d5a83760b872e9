package report

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// Baseline says which findings are no news: those of an earlier run, and those that somebody accepts. A nil one knows none.
type Baseline struct {
	Path     string         // where the earlier run is written down, a JSON report or a campaign's directory; "": there is none
	Findings []corpus.Known // of the earlier run
	Accepted []Accepted
}

// Accepted is a finding that shall not fail a run, and why.
type Accepted struct {
	ID     string
	Reason string
	Place  string // where it is accepted, for example teasel.toml:12
}

// Known reports whether a finding is no news.
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

// known is a finding of this run that is no news.
type known struct {
	teasel.Finding
	file     string    // "": it has none
	accepted *Accepted // nil: it is in the baseline only
}

// why says why it is known.
func (k *known) why() string {
	if k.accepted != nil {
		return "accepted: " + Line(k.accepted.Reason)
	}
	return "in the baseline"
}

// news returns the findings that are not known, the most severe first.
func (r *Run) news() []teasel.Finding {
	return slices.DeleteFunc(r.findings(), func(f teasel.Finding) bool { return r.Baseline.Known(f.ID()) })
}

// known returns the findings that are, those that there was no time to reproduce after the others.
func (r *Run) known() (ks []known) {
	add := func(fs []teasel.Finding, file func(*teasel.Finding) string) {
		for i := range fs {
			if id := fs[i].ID(); r.Baseline.Known(id) {
				ks = append(ks, known{fs[i], file(&fs[i]), r.Baseline.accepted(id)})
			}
		}
	}
	add(r.findings(), r.reproducer)
	add(r.pending(), r.unconfirmed)
	return ks
}

// gone is a known finding that a run has not seen.
type gone struct {
	corpus.Known        // with an id only if nothing else is known of it
	Reason       string // that it was accepted for; "": it is in the baseline only
	place        string // where it is accepted
}

// gone returns the known findings that this run has not seen, the most severe first.
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
		if seen[k.ID] || k.Pending { // nobody knows whether that one was there at all
			return
		}
		if k.Test != "" && !slices.Contains(r.Subjects, k.Test) { // which this run has not run
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

// String is the finding in one line.
func (g *gone) String() string {
	if g.Rule == "" {
		return fmt.Sprintf("%s, accepted in %s: %s", g.ID, g.place, Line(g.Reason))
	}
	return fmt.Sprintf("%v %s  %s: %s (%s)", g.Severity, Line(g.Rule), Line(g.Subject), Line(g.Message), g.ID)
}

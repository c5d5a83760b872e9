package report

import (
	"cmp"
	"slices"

	"github.com/teaselfuzz/teasel"
)

// Outcome is what a run has come to. The last line of a report, each of its formats and the exit status are made from it alone, so
// that none of them says that nothing was found beside something that was seen. Known findings are not in it.
type Outcome struct {
	Found        []teasel.Finding // the worst first, as in the others; those of the library left out
	Library      []teasel.Finding // what the library does that the target is built on, see [Run.Library]
	Untried      []teasel.Finding // that were seen, and that there was no time to reproduce
	Unreproduced []teasel.Finding // that were seen, tried, and not reproduced
	libraryFails teasel.Severity
	ofLibrary    func(teasel.Finding) bool
	Untested     bool // no input was run and accepted, and nothing was seen, or what the run was for was not tested: that is no clean result
}

// Outcome returns what the run has come to.
func (r *Run) Outcome() Outcome {
	o := Outcome{libraryFails: cmp.Or(r.LibraryFails, teasel.High), ofLibrary: func(f teasel.Finding) bool { return r.OfLibrary != nil && r.OfLibrary(f) }}
	for _, f := range r.newFindings() {
		if o.ofLibrary(f) {
			o.Library = append(o.Library, f)
		} else {
			o.Found = append(o.Found, f)
		}
	}
	for _, f := range r.Summary.Unconfirmed {
		switch {
		case r.Baseline.Known(f.ID()):
		case f.Tries == 0:
			o.Untried = append(o.Untried, f)
		default:
			o.Unreproduced = append(o.Unreproduced, f)
		}
	}
	o.Untested = r.Untested != "" || Untested(&r.Summary) && (!r.NoCorpus || r.Summary.Executions == 0)
	return o
}

// Untested reports whether a campaign has run and accepted no input, and seen nothing.
func Untested(s *teasel.Summary) bool {
	return s.Corpus == 0 && len(s.Findings)+len(s.Unconfirmed) == 0
}

// String returns what the run has come to in a word or two: "found", "unconfirmed", "not reproduced", "untested" or "nothing".
func (o *Outcome) String() string {
	switch {
	case len(o.Found)+len(o.Library) > 0:
		return "found"
	case len(o.Untried) > 0:
		return "unconfirmed"
	case len(o.Unreproduced) > 0:
		return "not reproduced"
	case o.Untested:
		return "untested"
	}
	return "nothing"
}

// Fails reports whether a run fails that has come to this: there is a finding at least so severe, or one that there was no time to
// reproduce, which may be real. What the library does counts from a severity of its own on.
func (o *Outcome) Fails(least teasel.Severity) bool {
	severe := func(f teasel.Finding) bool {
		if o.ofLibrary != nil && o.ofLibrary(f) {
			return f.Severity >= max(least, o.libraryFails)
		}
		return f.Severity >= least
	}
	return slices.ContainsFunc(o.Found, severe) || slices.ContainsFunc(o.Library, severe) || slices.ContainsFunc(o.Untried, severe)
}

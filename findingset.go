package teasel

import (
	"fmt"
	"maps"
	"slices"
)

// severityFindings is how many distinct findings of one severity a campaign keeps, as many as AFL++ keeps crashes
// (KEEP_UNIQUE_CRASH). Nobody reads more, and a target that fails in ever new ways would fill memory and disk.
const severityFindings = 5000

func tooManyFindings(s Severity) string {
	return fmt.Sprintf("%d distinct findings of severity %v are kept; further ones of that severity are not recorded", severityFindings, s)
}

// findingSet holds the distinct findings of a campaign.
type findingSet struct {
	byID         map[string]*Finding
	byPlace      map[string][]*Finding
	covered      map[string]string  // id of a finding that was not recorded, to that of the one that covers it
	notConfirmed map[string]Finding // that were reported as unconfirmed, by id
	changed      map[string]bool    // ids of findings that have occurred since the last call of occurrences
	count        [len(severityNames)]int
	full         [len(severityNames)]bool // the limit was reached, and a note was reported
}

func newFindingSet() findingSet {
	return findingSet{byID: map[string]*Finding{}, byPlace: map[string][]*Finding{}, covered: map[string]string{},
		notConfirmed: map[string]Finding{}, changed: map[string]bool{}}
}

func (s *findingSet) get(id string) *Finding { return s.byID[id] }

// findingVerdict is what a finding is to those that are known.
type findingVerdict uint8

const (
	findingInvalid findingVerdict = iota
	findingNew
	findingBetter  // known, and better confirmed or simpler than before
	findingKnown   // known, or covered by another; it was counted
	findingTooMany // new, and the first one for which there is no room
	findingRefused // new, and there is still no room
)

// judge compares a finding with the known ones and counts its occurrences. It does not record the finding; put does.
func (s *findingSet) judge(f *Finding) findingVerdict {
	id := f.ID()
	if known := s.byID[id]; known != nil {
		s.addOccurrences(id, f.Occurrences)
		if !f.Improves(known) {
			return findingKnown
		}
		f.Occurrences = known.Occurrences
		return findingBetter
	}
	if by := s.coverOf(f); by != nil {
		delete(s.notConfirmed, id)
		if s.addOccurrences(by.ID(), f.Occurrences); len(s.covered) < severityFindings {
			s.covered[id] = by.ID()
		}
		return findingKnown
	}
	if s.count[f.Severity] < severityFindings {
		return findingNew
	}
	if s.full[f.Severity] {
		return findingRefused
	}
	s.full[f.Severity] = true
	return findingTooMany
}

// coverOf returns the first by order of those findings that cover f, nil if none does.
func (s *findingSet) coverOf(f *Finding) (by *Finding) {
	for _, g := range s.byPlace[f.Place] {
		if g.covers(f) && (by == nil || g.Compare(by) < 0) {
			by = g
		}
	}
	return by
}

// put records a finding in place of what was known of it.
func (s *findingSet) put(f Finding) {
	id := f.ID()
	if old := s.byID[id]; old != nil {
		s.count[old.Severity]--
		if old.Place != "" {
			s.byPlace[old.Place] = slices.DeleteFunc(s.byPlace[old.Place], func(g *Finding) bool { return g == old })
		}
	}
	s.byID[id] = &f
	delete(s.notConfirmed, id)
	s.count[f.Severity]++
	if f.Place != "" {
		s.byPlace[f.Place] = append(s.byPlace[f.Place], &f)
	}
}

// addOccurrences counts occurrences of a known finding.
func (s *findingSet) addOccurrences(id string, times uint64) {
	if by, ok := s.covered[id]; ok {
		id = by
	}
	if f := s.byID[id]; f != nil && times > 0 {
		f.Occurrences += times
		s.changed[id] = true
	}
}

// addUnconfirmed records that a finding was not confirmed, and reports whether that is to be reported: once if it was not
// reproduced, and once more if there was no time to try. One that a known finding covers is that finding, under another name that it has by chance.
func (s *findingSet) addUnconfirmed(f *Finding) bool {
	id := f.ID()
	old, known := s.notConfirmed[id]
	if s.byID[id] != nil || s.coverOf(f) != nil || !known && s.unconfirmedOf(f.Severity) >= severityFindings {
		return false
	}
	if f.Tries == 0 || !known {
		s.notConfirmed[id] = *f
	}
	return !known || f.Tries == 0 && old.Tries > 0
}

// unconfirmedOf returns how many findings of a severity were not confirmed, if there are many in all: the many of one severity must not
// hide those of another.
func (s *findingSet) unconfirmedOf(severity Severity) (n int) {
	if len(s.notConfirmed) < severityFindings {
		return 0
	}
	for _, f := range s.notConfirmed {
		if f.Severity == severity {
			n++
		}
	}
	return n
}

// unconfirmed returns the findings that were not confirmed, the most severe first.
func (s *findingSet) unconfirmed() (out []Finding) {
	for _, f := range s.notConfirmed {
		out = append(out, f)
	}
	slices.SortFunc(out, func(a, b Finding) int { return a.Compare(&b) })
	return out
}

// untried counts the findings that there was no time to reproduce.
func (s *findingSet) untried() (n int) {
	for _, f := range s.notConfirmed {
		if f.Tries == 0 {
			n++
		}
	}
	return n
}

// occurrences returns how often findings have occurred in all, those that have done so since the last call.
func (s *findingSet) occurrences() (out []Sighting) {
	for _, id := range slices.Sorted(maps.Keys(s.changed)) {
		out = append(out, Sighting{id, s.byID[id].Occurrences})
	}
	clear(s.changed)
	return out
}

// sorted returns all findings, the worst first.
func (s *findingSet) sorted() (out []Finding) {
	for _, f := range s.byID {
		out = append(out, *f)
	}
	slices.SortFunc(out, func(a, b Finding) int { return a.Compare(&b) })
	return out
}

package view

import "slices"

// Since returns what has changed in a state since an earlier revision of the same run: new points and lines, findings that are new or
// have changed, the rest as it is. Without an earlier revision, 0, it is all of it.
func (s State) Since(run string, revision uint64) State {
	if revision == 0 || revision > s.Revision || run != s.Run {
		s.Whole, s.Thinned = true, true
		return s
	}
	s.Whole = false
	if s.Thinned = s.thinned > revision; !s.Thinned {
		s.Series = s.Series[after(s.Series, func(p Point) bool { return p.revision > revision }):]
	}
	s.Log = s.Log[after(s.Log, func(l Line) bool { return l.revision > revision }):]
	all := s.Findings
	s.Findings = nil
	for i := range all {
		switch f := &all[i]; {
		case f.revision > revision:
			s.Findings = append(s.Findings, *f)
		case f.counted > revision:
			if s.Counts == nil {
				s.Counts = map[string]uint64{}
			}
			s.Counts[f.ID] = f.Occurrences
		}
	}
	if len(s.Findings) == 0 {
		s.Rules = nil
	}
	if s.panels <= revision {
		s.Panels = nil
	}
	return s
}

// after returns where in a list, whose later elements are newer, the new ones begin.
func after[T any](list []T, isNew func(T) bool) int {
	i, _ := slices.BinarySearchFunc(list, true, func(e T, _ bool) int {
		if isNew(e) {
			return 0
		}
		return -1
	})
	return i
}

package session

import (
	"slices"

	"github.com/teaselfuzz/teasel"
)

// Settled is a reporter that passes testcases on when they have been kept for a while: with the next progress, which comes
// once a second. A young campaign replaces most of what it keeps before that, and writing each to a disk and removing it
// again took longer than finding it. Everything else is passed on at once, in order. A hub calls it under its lock.
type Settled struct {
	To teasel.Reporter

	young []teasel.Event // testcases that were added since the last progress
}

var _ teasel.Reporter = (*Settled)(nil)

// Report implements [teasel.Reporter].
func (s *Settled) Report(e teasel.Event) error {
	switch e.Kind {
	case teasel.EventAdded:
		s.young = append(s.young, e)
		return nil
	case teasel.EventEvicted:
		if i := slices.IndexFunc(s.young, func(y teasel.Event) bool { return y.Entry.Key == e.Entry.Key }); i >= 0 {
			s.young = slices.Delete(s.young, i, i+1)
			return nil
		}
	case teasel.EventProgress:
		for i := range s.young {
			if err := s.To.Report(s.young[i]); err != nil {
				return err
			}
		}
		s.young = s.young[:0]
	}
	return s.To.Report(e)
}

package session

import (
	"sync"

	"github.com/teaselfuzz/teasel"
)

// Limit is a reporter that many campaigns share, which says when they have found enough together.
type Limit struct {
	Findings int                          // distinct ones; 0: no limit
	Counts   func(f *teasel.Finding) bool // which are counted
	Reached  func()                       // called once

	mu    sync.Mutex
	found map[string]bool
}

var _ teasel.Reporter = (*Limit)(nil)

// Report implements [teasel.Reporter].
func (l *Limit) Report(e teasel.Event) error {
	if e.Kind != teasel.EventFound || l.Findings == 0 || !l.Counts(&e.Finding) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == nil {
		l.found = map[string]bool{}
	}
	if len(l.found) < l.Findings {
		if l.found[e.Finding.ID()] = true; len(l.found) == l.Findings {
			l.Reached()
		}
	}
	return nil
}

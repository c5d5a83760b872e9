package session

import (
	"sync"

	"github.com/teaselfuzz/teasel"
)

// Limit is a reporter that many campaigns share, which says when they have found enough together.
type Limit struct {
	Findings int                  // distinct ones, those for information not counted; 0: no limit
	Ignore   func(id string) bool // which are not counted either; nil: all others are
	Reached  func()               // called once

	mu    sync.Mutex
	found map[string]bool
}

var _ teasel.Reporter = (*Limit)(nil)

// Report implements [teasel.Reporter].
func (l *Limit) Report(e teasel.Event) error {
	if e.Kind != teasel.EventFound || l.Findings == 0 || e.Finding.Severity == teasel.Info {
		return nil
	}
	id := e.Finding.ID()
	if l.Ignore != nil && l.Ignore(id) {
		return nil
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.found == nil {
		l.found = map[string]bool{}
	}
	if len(l.found) < l.Findings {
		if l.found[id] = true; len(l.found) == l.Findings {
			l.Reached()
		}
	}
	return nil
}

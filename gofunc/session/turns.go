package session

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel"
)

// Turns shares processors among campaigns: no more than so many of their executors run at once, for a slice of time each.
// Half of the time is dealt evenly, so that a campaign that finds nothing, starts slowly or hangs gets its part. The other half
// goes to those that have found most lately. All methods may be called at once.
type Turns struct {
	slice time.Duration
	now   func() time.Time

	mu      sync.Mutex
	free    int
	ledger  ledger
	over    bool
	waiting []*turn
	holding []*turn
	shares  []*Share
}

// longTurn is how many slices a turn may last, as one of an input that hangs, before others need not wait for its end.
const longTurn = 10

// NewTurns returns turns for so many executors at once. A slice of 0 is a tenth of a second.
func NewTurns(executors int, slice time.Duration) *Turns {
	if slice == 0 {
		slice = time.Second / 10
	}
	return &Turns{free: executors, slice: slice, now: time.Now}
}

// End lets everybody run, so that campaigns whose time is over can end.
func (t *Turns) End() {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.over = true
	for _, w := range t.waiting {
		close(w.granted)
	}
	t.waiting = nil
}

// Share is the share of one campaign. It is a reporter that counts what the campaign keeps.
type Share struct {
	turns   *Turns
	account account // under the mutex of turns
}

var _ teasel.Reporter = (*Share)(nil)

// Share returns the share of one more campaign. It begins with as much time as the one that has had the least, so that a late
// one does not keep all others waiting until it has caught up.
func (t *Turns) Share() *Share {
	t.mu.Lock()
	defer t.mu.Unlock()
	l := &Share{turns: t}
	for i, other := range t.shares {
		if a := &other.account; i == 0 {
			l.account.even, l.account.earned = a.even, a.earned
		} else {
			l.account.even, l.account.earned = min(l.account.even, a.even), min(l.account.earned, a.earned)
		}
	}
	t.shares = append(t.shares, l)
	return l
}

// Report implements [teasel.Reporter].
func (l *Share) Report(e teasel.Event) error {
	if e.Kind == teasel.EventAdded || e.Kind == teasel.EventFound {
		l.turns.mu.Lock()
		l.account.recent++
		l.turns.mu.Unlock()
	}
	return nil
}

// turn is one executor's.
type turn struct {
	share   *Share
	holds   bool
	half    half
	began   time.Time
	waived  time.Duration // of it
	lapsed  bool          // its place is another's
	granted chan struct{} // closed when a waiting turn is granted
}

// enter waits until the executor may run, or may still.
func (w *turn) enter(ctx context.Context) error {
	t := w.share.turns
	t.mu.Lock()
	if t.over || w.holds && !w.lapsed && (len(t.waiting) == 0 || t.now().Sub(w.began) < t.slice) {
		t.mu.Unlock()
		return nil
	}
	if w.holds {
		t.release(w)
	}
	w.granted = make(chan struct{})
	t.waiting = append(t.waiting, w)
	t.grant()
	granted := w.granted
	t.mu.Unlock()
	tick := time.NewTicker(longTurn * t.slice)
	defer tick.Stop()
	for {
		select {
		case <-granted:
			return nil
		case <-ctx.Done():
			w.leave()
			return ctx.Err()
		case <-tick.C:
			t.lapse()
		}
	}
}

// lapse gives the places of turns that last long to others. Theirs goes on beside them.
func (t *Turns) lapse() {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, w := range t.holding {
		if !w.lapsed && t.now().Sub(w.began) >= longTurn*t.slice {
			w.lapsed = true
			t.free++
		}
	}
	t.grant()
}

// leave gives up a turn, or the wait for one.
func (w *turn) leave() {
	t := w.share.turns
	t.mu.Lock()
	defer t.mu.Unlock()
	for i := range t.waiting {
		if t.waiting[i] == w {
			t.waiting = append(t.waiting[:i], t.waiting[i+1:]...)
			return
		}
	}
	if w.holds {
		t.release(w)
		t.grant()
	}
}

// waive says that so much of the turn is not charged.
func (w *turn) waive(d time.Duration) {
	w.share.turns.mu.Lock()
	w.waived += d
	w.share.turns.mu.Unlock()
}

// release ends a turn and charges it.
func (t *Turns) release(w *turn) {
	w.holds = false
	t.holding = slices.DeleteFunc(t.holding, func(h *turn) bool { return h == w })
	if !w.lapsed {
		t.free++
	}
	t.ledger.charge(&w.share.account, w.half, max(0, t.now().Sub(w.began)-w.waived))
}

// grant gives free places to those whose turn it is; among equals to who has waited longest.
func (t *Turns) grant() {
	for t.free > 0 && len(t.waiting) > 0 {
		accounts := make([]*account, len(t.waiting))
		for i, w := range t.waiting {
			accounts[i] = &w.share.account
		}
		next, of := t.ledger.next(accounts)
		w := t.waiting[next]
		t.waiting = append(t.waiting[:next], t.waiting[next+1:]...)
		t.free--
		w.holds, w.half, w.began, w.waived, w.lapsed = true, of, t.now(), 0, false
		t.holding = append(t.holding, w)
		close(w.granted)
	}
}

package teasel

import (
	"context"
	"slices"
)

// nobody is the number of no worker: what it brings comes from an earlier run.
const nobody = 0

// What one reply carries is bounded, so that a worker that joins a large campaign takes it in piece by piece.
const (
	replyEntries = 1024
	replyBytes   = 4 << 20
)

var _ Exchange = (*link)(nil)

// link is the hub's side of one worker. The hub's lock guards it.
type link struct {
	h        *Hub
	number   int         // in order of joining, from 1
	worker   int         // its own number; -1: not yet reported
	next     ID          // the first testcase that it may not have
	unstable int         // how many unstable features it knows of
	dealt    []dealtSeed // seeds that it has not reported to have run
	errand   *Errand     // that it has not finished
	left     bool
}

// Sync implements [Exchange].
func (l *link) Sync(_ context.Context, n News) (r Reply, err error) {
	h := l.h
	h.mu.Lock()
	defer h.mu.Unlock()
	l.worker = n.Worker.Number
	h.account(&n)
	h.mask(n.Unstable, l.number)
	if err := l.judge(&n); err != nil {
		return r, err
	}
	for _, text := range n.Notes {
		if err := h.report(Event{Kind: EventNote, Text: text}); err != nil {
			return r, err
		}
	}
	if h.Runs > 0 && h.stats.Executions >= h.Runs {
		h.stop("runs")
	}
	if !n.Pending && !n.Died {
		l.dealt = nil
	}
	if l.finish(n.Finished); n.Leaving || n.Died {
		return r, l.leave(n.Died)
	}
	if l.left {
		return r, l.over()
	}
	r.Entries = l.catchUp()
	r.Unstable, l.unstable = h.unstable.since(l.unstable, l.number)
	if r.Stopped = h.stopped; h.stopped != "" {
		return r, ErrStop
	}
	if n.Errands && l.errand == nil {
		if l.errand = h.errands.take(l); l.errand != nil {
			r.Errands = []Errand{*l.errand}
		}
	}
	if n.Hungry && h.kept.next == l.next {
		l.dealt = h.seeds.deal(l.dealt, &r)
	}
	return r, nil
}

// judge takes in what has to be compared with what is known.
func (l *link) judge(n *News) error {
	for i := range n.Findings {
		if err := l.h.finding(&n.Findings[i]); err != nil {
			return err
		}
	}
	for i := range n.Unconfirmed {
		if err := l.h.unconfirmed(&n.Unconfirmed[i]); err != nil {
			return err
		}
	}
	for _, e := range n.Entries {
		if err := l.h.offer(l.number, e); err != nil {
			return err
		}
	}
	l.h.advance(n.Advances) // of testcases in the same news as well
	return nil
}

// catchUp returns the next testcases of others.
func (l *link) catchUp() (back []Entry) {
	size := 0
	for r := range l.h.kept.since(l.next) {
		if len(back) == replyEntries || size > replyBytes {
			return back
		}
		if l.next = r.id + 1; r.from != l.number {
			back = append(back, r.Entry)
			size += len(r.Data)
		}
	}
	l.next = l.h.kept.next
	return back
}

func (l *link) over() error {
	if l.h.stopped != "" {
		return ErrStop
	}
	return nil
}

// leave makes others do what the worker has left undone.
func (l *link) leave(died bool) error {
	h := l.h
	if l.left {
		return l.over()
	}
	l.left = true
	h.links = slices.DeleteFunc(h.links, func(o *link) bool { return o == l })
	h.seeds.giveBack(l.dealt, died)
	l.dealt = nil
	if e := l.errand; e != nil {
		l.errand = nil
		if err := h.abandon(*e, died); err != nil {
			return err
		}
	}
	return h.dropErrands()
}

// finish notes that errands have come to an end.
func (l *link) finish(ids []uint64) {
	if l.errand != nil && slices.Contains(ids, l.errand.ID) {
		l.errand = nil
	}
}

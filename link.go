package teasel

import (
	"cmp"
	"context"
	"fmt"
	"slices"
)

// noWorker marks entries that were restored from an earlier run.
const noWorker = 0

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
	next     ID          // the first testcase that it may not have received
	unstable int         // how many unstable features it knows of
	dealt    []dealtSeed // seeds that it has not reported to have run
	errand   *Errand     // that it has not finished
	pending  int         // findings that it tries to reproduce
	left     bool
}

// Sync implements [Exchange].
func (l *link) Sync(_ context.Context, n News) (Reply, error) {
	l.h.mu.Lock()
	defer l.h.mu.Unlock()
	refused := n.refuse()
	r, err := l.sync(&n)
	return r, cmp.Or(l.h.takeFailure(), refused, err)
}

// refuse removes the findings that cannot be recorded, and returns what is wrong with the first of them. A worker of this
// process has none, since it checks what detectors return, but news may come from another process.
func (n *News) refuse() (err error) {
	valid := func(fs []Finding) []Finding {
		invalid := func(f Finding) bool { return f.check() != nil }
		i := slices.IndexFunc(fs, invalid)
		if i < 0 {
			return fs
		}
		if err == nil {
			err = fmt.Errorf("taking news of worker %d: %w", n.Worker.Number, fs[i].check())
		}
		return slices.DeleteFunc(slices.Clone(fs), invalid)
	}
	n.Findings, n.Unconfirmed = valid(n.Findings), valid(n.Unconfirmed)
	return err
}

func (l *link) sync(n *News) (r Reply, err error) {
	h := l.h
	if l.worker = n.Worker.Number; l.worker < 0 || l.worker >= maxWorkers {
		return r, fmt.Errorf("taking news: the number of the worker is %d, expected 0 to %d", l.worker, maxWorkers-1)
	}
	h.account(n)
	l.pending = n.Reproducing
	h.mask(n.Unstable, l.number)
	l.judge(n)
	for _, text := range n.Notes {
		h.report(Event{Kind: EventNote, Text: text})
	}
	if h.Runs > 0 && h.stats.Executions >= h.Runs {
		h.stop("runs")
	}
	if !n.Pending && !n.Died {
		l.dealt = nil
	} else if n.Ran && !n.Died {
		for i := range l.dealt {
			l.dealt[i].ran = true
		}
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
	if r.Wait = h.Pause.On(); r.Wait {
		return r, nil
	}
	if n.Errands && l.errand == nil {
		if l.errand = h.errands.take(l); l.errand != nil {
			r.Errands = []Errand{*l.errand}
		}
	}
	if n.WantsSeeds && h.kept.next == l.next {
		l.dealt = h.seeds.deal(l.dealt, &r)
	}
	return r, nil
}

// judge compares findings and entries with the known ones and keeps those that are new.
func (l *link) judge(n *News) {
	for i := range n.Findings {
		l.h.finding(&n.Findings[i])
	}
	for i := range n.Unconfirmed {
		l.h.unconfirmed(&n.Unconfirmed[i])
	}
	for _, e := range n.Entries {
		l.h.offer(l.number, e)
	}
	l.h.advance(n.Advances) // of testcases in the same news as well
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

// leave gives the worker's unfinished seeds and errand to others.
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
		h.abandon(*e, died)
	}
	h.dropErrands()
	return nil
}

// finish removes the worker's errand if it is among ids.
func (l *link) finish(ids []uint64) {
	if l.errand != nil && slices.Contains(ids, l.errand.ID) {
		l.errand = nil
	}
}

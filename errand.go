package teasel

import (
	"fmt"
	"slices"
)

// An Errand asks a worker to confirm and minimise a finding on behalf of somebody who cannot decode its input: the parent of a worker
// process that has died of it, or an earlier run or another machine that had no time for it. The worker that takes it may die of it as well.
// The finding is confirmed if the worker's detectors report one with the same [Finding.ID]. If its input or history cannot be decoded, it is
// reported as unconfirmed.
type Errand struct {
	ID      uint64  // of the errand, given by [Hub.Errand]
	Finding Finding // with the encoded input to confirm, and the history that it is tried with
	Worker  int     // number of the worker that died; -1: none did
	Deaths  int     // workers that have died with this errand
}

// errandDeaths is how many workers may die with an errand before its finding is reported as unconfirmed.
const errandDeaths = 3

// errandQueue holds the errands that no worker has.
type errandQueue struct {
	waiting []queuedErrand // oldest first
	last    uint64
}

type queuedErrand struct {
	Errand
	joined int // workers that had joined when it came
}

// Errand queues an errand for a worker that takes errands ([News].Errands), other than the one that died. It ends when
// that worker lists its ID in [News].Finished. If its finding is confirmed already, or waits for a worker, this only counts
// one more occurrence. A finding without a severity is an error.
func (h *Hub) Errand(e Errand) error {
	if err := e.Finding.check(); err != nil {
		return fmt.Errorf("taking an errand: %w", err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.begin()
	h.errand(e)
	return nil
}

func (h *Hub) errand(e Errand) {
	id := e.Finding.ID()
	e.Finding.Occurrences = max(e.Finding.Occurrences, 1)
	if known := h.findings.get(id); known != nil && known.Confirmed() {
		h.findings.addOccurrences(id, e.Finding.Occurrences)
		return
	}
	for i := range h.errands.waiting {
		if w := &h.errands.waiting[i]; w.Finding.ID() == id {
			w.Finding.Occurrences += e.Finding.Occurrences
			return
		}
	}
	h.errands.last++
	e.ID, e.Deaths = h.errands.last, 0
	h.errands.waiting = append(h.errands.waiting, queuedErrand{e, h.joined})
}

// take returns the next errand for a worker, nil if there is none. The worker that died of it gets it only after it was
// started again.
func (q *errandQueue) take(l *link) *Errand {
	i := slices.IndexFunc(q.waiting, func(e queuedErrand) bool { return e.Worker != l.worker || l.number > e.joined })
	if i < 0 {
		return nil
	}
	e := q.waiting[i].Errand
	q.waiting = slices.Delete(q.waiting, i, i+1)
	return &e
}

// abandon takes the errand of a worker that has left.
func (h *Hub) abandon(e Errand, died bool) {
	if died {
		e.Deaths++
	}
	if e.Deaths >= errandDeaths {
		h.unconfirmed(&e.Finding)
		return
	}
	h.errands.waiting = append(h.errands.waiting, queuedErrand{e, h.joined})
}

// dropErrands reports the findings of waiting errands as unconfirmed once the campaign is over.
func (h *Hub) dropErrands() {
	if h.stopped == "" {
		return
	}
	for _, e := range h.errands.waiting {
		h.unconfirmed(&e.Finding)
	}
	h.errands.waiting = nil
}

package teasel

import (
	"cmp"
	"slices"
)

const (
	// seedShare is how many seeds a worker gets at a time: several workers share them out, and work on testcases goes on
	// between some of them, so that expensive seeds do not hold it up.
	seedShare = 16
	// seedDeaths is how often a worker may die with a seed before nobody gets it any more.
	seedDeaths = 3
)

// seedQueue holds the seeds that no worker has reported to have run.
type seedQueue struct {
	waiting []dealtSeed // those that no worker has, in order
	added   int         // seeds so far
}

type dealtSeed struct {
	Entry
	number int  // in order of arrival
	deaths int  // of workers that had it
	ran    bool // its worker, the last that had it, has run it, and not yet calibrated all that it has run
}

func (q *seedQueue) add(e Entry) {
	q.waiting = append(q.waiting, dealtSeed{Entry: e, number: q.added})
	q.added++
}

// deal appends the next few seeds to a reply and to those that the worker already has. A seed with which a worker has
// died is dealt alone, to a worker that has no other: if it is to blame, no other seed suffers for it.
func (q *seedQueue) deal(has []dealtSeed, r *Reply) []dealtSeed {
	n := 0
	for n < min(len(q.waiting), seedShare) && q.waiting[n].deaths == 0 {
		n++
	}
	if n == 0 && unrun(has) == 0 {
		n = min(len(q.waiting), 1)
	}
	for i := range q.waiting[:n] {
		q.waiting[i].ran = false
		r.Entries = append(r.Entries, q.waiting[i].Entry)
	}
	has = append(has, q.waiting[:n]...)
	clear(q.waiting[:n]) // some are large
	if q.waiting = q.waiting[n:]; len(q.waiting) == 0 {
		q.waiting = nil
	}
	return has
}

// giveBack takes the seeds of a worker that has left.
func (q *seedQueue) giveBack(ss []dealtSeed, died bool) {
	if len(ss) == 0 {
		return
	}
	for _, s := range ss {
		if died && !s.ran {
			s.deaths++
		}
		if s.deaths < seedDeaths {
			q.waiting = append(q.waiting, s)
		}
	}
	slices.SortFunc(q.waiting, func(a, b dealtSeed) int { return cmp.Compare(a.number, b.number) })
}

// unrun counts the seeds that have not been run.
func unrun(ss []dealtSeed) (n int) {
	for i := range ss {
		if !ss[i].ran {
			n++
		}
	}
	return n
}

// seedsRun returns how many seeds workers have run.
func (h *Hub) seedsRun() int {
	n := h.seeds.added - unrun(h.seeds.waiting)
	for _, l := range h.links {
		n -= unrun(l.dealt)
	}
	return n
}

// waiting returns how many seeds there are from the first on that a worker may not have run yet.
func (h *Hub) waiting() int {
	first := h.seeds.added
	if len(h.seeds.waiting) > 0 {
		first = h.seeds.waiting[0].number
	}
	for _, l := range h.links {
		if len(l.dealt) > 0 {
			first = min(first, l.dealt[0].number)
		}
	}
	return h.seeds.added - first
}

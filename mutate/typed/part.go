package typed

import (
	"unsafe"

	"github.com/teaselfuzz/teasel"
)

// replaceFromCorpus overwrites a place by a value of the same node, from the corpus or from elsewhere in the input.
func (e *Editor) replaceFromCorpus(pl *place) bool {
	id := pl.n.about()
	if from, ok := e.corpus.draw(e.r, id); ok && e.r.IntN(4) > 0 {
		e.replaceBy(pl, from)
		return true
	}
	from, ok := draw(e.r, e.around.places, id)
	if !ok || from == pl.p || e.inside(from, pl) {
		return false
	}
	e.replaceBy(pl, from)
	return true
}

// inside reports whether p is one of the places that contain pl. Copying a value into itself would double it.
func (e *Editor) inside(p unsafe.Pointer, pl *place) bool {
	for i := range e.at {
		if w := &e.around.places[i]; w.p == p && w.end > e.at {
			return true
		}
	}
	return false
}

// fill makes a new part: often a copy of one in the corpus, otherwise a random one.
func (e *Editor) fill(n node, p unsafe.Pointer, budget float64) {
	if e.r.IntN(4) == 0 {
		if from, ok := e.corpus.draw(e.r, n.about()); ok && complexity(n, from) <= budget {
			n.copy(p, from)
			return
		}
	}
	n.generate(e, p, min(budget, partBudget(e.r)))
}

// partBudget returns a random limit of the complexity of a new part.
func partBudget(r *teasel.Rand) float64 { return float64(int(4) << r.IntN(5)) }

// replaceBlock replaces a value by a new one.
func (e *Editor) replaceBlock(n node, p unsafe.Pointer) {
	i := n.about()
	to := i.alloc(1)
	i.move(to, p, 1) // ignored fields keep their values
	if s, ok := n.(*structure); ok {
		for k := range s.fields {
			f := s.fields[k].node.about()
			f.at(unsafe.Add(to, s.fields[k].offset)).SetZero()
		}
	}
	e.fill(n, to, e.room+e.around.places[e.at].complexity)
	e.saveBlock(i, p)
	i.move(p, to, 1)
}

// otherInteger returns the value of another number in the input.
func (e *Editor) otherInteger(p unsafe.Pointer) (uint64, bool) {
	for range 4 {
		pl := &e.around.places[e.r.IntN(len(e.around.places))]
		if n, ok := pl.n.(*integer); ok && pl.p != p {
			return n.load(pl.p), true
		}
	}
	return 0, false
}

// otherText returns another text in the input.
func (e *Editor) otherText(p unsafe.Pointer) ([]byte, bool) {
	for range 4 {
		pl := &e.around.places[e.r.IntN(len(e.around.places))]
		if n, ok := pl.n.(*text); ok && pl.p != p {
			return n.get(pl.p), true
		}
	}
	return nil, false
}

// below returns the k-th place of the node within the value at p, which is the one that is being changed.
func (e *Editor) below(n node, p unsafe.Pointer, k int) unsafe.Pointer {
	if e.at >= len(e.around.places) || e.around.places[e.at].p != p {
		return nil
	}
	for i := e.at + 1; i < e.around.places[e.at].end; i++ {
		if pl := &e.around.places[i]; pl.n.about() == n.about() {
			if k == 0 {
				return pl.p
			}
			k--
		}
	}
	return nil
}

// within calls f with the places of a value that is not part of the input: an entry of a map.
func (e *Editor) within(n node, p unsafe.Pointer, do func(w *walk)) {
	around, at, room, moved, log := e.around, e.at, e.room, e.moved, len(e.log)
	w := new(walk)
	n.walk(w, p)
	if len(w.places) > 0 {
		e.around, e.at = w, 0
		do(w)
	}
	e.log = e.log[:log] // the memory is new and need not be restored
	e.around, e.at, e.room, e.moved = around, at, room, moved
}

// changed returns a changed copy of a part.
func (e *Editor) changed(n node, p unsafe.Pointer) unsafe.Pointer {
	to := n.about().alloc(1)
	n.copy(to, p)
	e.within(n, to, func(w *walk) {
		e.at = e.r.IntN(len(w.places))
		w.places[e.at].n.change(e, w.places[e.at].p)
		if !settled(e, w) {
			n.about().at(to).SetZero()
			n.copy(to, p)
		}
	})
	return to
}

func settled(e *Editor, w *walk) bool {
	for _, g := range w.guards {
		if !g.n.settle(e, g.p) {
			return false
		}
	}
	return true
}

// candidates returns the number of candidates for a simpler part.
func (e *Editor) candidates(n node, p unsafe.Pointer) (count int) {
	e.within(n, p, func(w *walk) { count = e.count(w) })
	return count
}

// simplified returns the k-th candidate for a simpler copy of a part.
func (e *Editor) simplified(n node, p unsafe.Pointer, k int) unsafe.Pointer {
	to := n.about().alloc(1)
	n.copy(to, p)
	e.within(n, to, func(w *walk) {
		for i := range w.places {
			pl := &w.places[i]
			e.at = i
			c := pl.n.simpler(e, pl.p)
			if k < c {
				pl.n.simplify(e, pl.p, k)
				if !settled(e, w) {
					n.about().at(to).SetZero()
					n.copy(to, p)
				}
				return
			}
			k -= c
		}
	})
	return to
}

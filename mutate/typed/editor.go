package typed

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

var (
	_ teasel.Mutator[*Value]    = (*Editor)(nil)
	_ teasel.Undoer[*Value]     = (*Editor)(nil)
	_ teasel.Stepper[*Value]    = (*Editor)(nil)
	_ teasel.Simplifier[*Value] = (*Editor)(nil)
	_ teasel.Crosser[*Value]    = (*Editor)(nil)
	_ teasel.Indexer[*Value]    = (*Editor)(nil)
	_ teasel.Codec[*Value]      = (*Editor)(nil)
)

// Editor generates and mutates the values of a plan. It is the mutator and the codec of a campaign over [*Value]. The methods of the
// codec may be called concurrently; all others are for one goroutine at a time.
type Editor struct {
	*Plan // Encode and Decode are the codec

	// MaxComplexity is the maximum complexity of a value. 0: 4096, as in fuzzcheck.
	MaxComplexity float64
	// Words and Texts are numbers and texts that the target may compare with, for example constants in its source.
	Words []uint64
	Texts []string
	// Accepted are values that all filters accept. Generate changes one of them if it does not find an accepted value.
	Accepted []*Value

	r        *teasel.Rand // generator of the current call
	log      []write
	marks    []mark
	moved    int // number of writes in the log that have moved places
	work     walk
	after    walk
	around   *walk   // the places of the value that is being changed
	at       int     // index of the place that is being changed
	room     float64 // by how much the complexity may grow; negative: it exceeds the limit already
	growth   growth  // upper bound of the growth by the current change
	rejected bool    // a value was made that a filter does not accept
	bytes    mutate.Bytes
	scratch  []byte
	words    []uint64
	texts    []string
	corpus   index
}

// mark is the position in the log at which a stacked change begins.
type mark struct{ log, moved int }

// NewEditor returns an editor for values of the plan p.
func NewEditor(p *Plan) *Editor {
	return &Editor{Plan: p, bytes: mutate.Bytes{MaxOps: 3, MaxLen: 1 << 16}}
}

func (e *Editor) limit() float64 {
	if e.MaxComplexity == 0 {
		return 4096
	}
	return max(e.MaxComplexity, e.Min())
}

func (e *Editor) begin(r *teasel.Rand) {
	e.r, e.words, e.texts = r, e.Words, e.Texts
}

// Complexity returns the complexity of a value.
func (e *Editor) Complexity(v *Value) float64 {
	if len(e.log) == 0 { // no change is in effect
		return v.prepare(e.root).places[0].complexity
	}
	return e.Plan.Complexity(v)
}

// Generate makes a random value. Simple values are as likely as complex ones. If filters reject all values that it makes, it changes one of
// Accepted, or, if there are none, returns the first value.
func (e *Editor) Generate(r *teasel.Rand) *Value {
	e.begin(r)
	budget := min(e.Min()+math.Exp2(float64(r.IntN(9))), e.limit())
	var v *Value
	for range changeTries {
		v = &Value{p: e.root.about().alloc(1)}
		e.rejected = false
		e.root.generate(e, v.p, budget)
		e.log = e.log[:0]
		if !e.rejected && v.prepare(e.root).places[0].complexity <= e.limit() {
			return v
		}
		budget = max(budget/2, e.Min()) // words of the dictionary have made the value exceed its budget
	}
	if n := len(e.Accepted); n > 0 {
		v = &Value{p: e.root.about().alloc(1)}
		e.root.copy(v.p, e.Accepted[r.IntN(n)].p)
		return e.Mutate(r, nil, v)
	}
	v, _ = e.First(0)
	return v
}

// First returns the k-th of the values to try first: the simplest value, followed by those that differ from it by one ordered change. It
// returns false if there are no more.
func (e *Editor) First(k uint64) (*Value, bool) {
	e.begin(fixed())
	p := e.root.about().alloc(1)
	e.rejected = false
	e.first(e.root, p)
	e.log = e.log[:0]
	v := &Value{p: p, rejected: e.rejected}
	if k == 0 {
		return v, true
	}
	return e.Step(k-1, nil, v)
}

// places returns the places of a value, which may have been changed.
func (e *Editor) places(v *Value) *walk {
	if e.moved == 0 {
		return v.prepare(e.root)
	}
	e.work.reset()
	e.root.walk(&e.work, v.p)
	return &e.work
}

// Change makes a random change of v in place, which Undo reverts.
func (e *Editor) Change(r *teasel.Rand, in **Value) {
	v := *in
	e.begin(r)
	e.marks = append(e.marks, mark{len(e.log), e.moved})
	for range changeTries {
		w := e.places(v)
		if at := r.IntN(len(w.places)); e.apply(v, w, at, e.mutateAt) {
			return
		}
	}
}

const (
	roomy        = 1024 // more than a change adds, unless its growth is growthLarge
	largeText    = 64   // bytes added to a text, from which on its growth is growthLarge
	numberGrowth = 16   // more than a change of a number adds
	changeTries  = 8    // tries before a value is left unchanged
	donorShare   = 12   // one change in donorShare replaces a part by a part of the corpus or of the same value
)

func (e *Editor) mutateAt(pl *place) {
	if e.r.IntN(donorShare) == 0 && e.replaceFromCorpus(pl) {
		return
	}
	pl.n.change(e, pl.p)
}

// apply makes a change at a place and reports whether it has changed the value. A change that the rules do not allow is undone.
func (e *Editor) apply(v *Value, w *walk, at int, change func(*place)) bool {
	start := mark{len(e.log), e.moved}
	e.around, e.at = w, at
	e.room, e.growth, e.rejected = e.limit()-w.places[0].complexity, growthSmall, false
	change(&w.places[at])
	if len(e.log) == start.log {
		return false
	}
	if e.rejected || !e.settle(v, w, start.moved) {
		e.rewind(start.log)
		e.moved = start.moved
		return false
	}
	return true
}

// growth is an upper bound of the complexity that the current change has added.
type growth uint8

const (
	growthSmall growth = iota // as by a change of a number, or as the log shows
	growthText                // a text has become longer
	growthLarge               // possibly more than the usual room
)

// settle calls the repair functions and reports whether the value is allowed.
func (e *Editor) settle(v *Value, w *walk, moved int) bool {
	tight := e.growth == growthLarge || e.room <= roomy+e.Min()
	if len(w.guards) == 0 && !tight {
		return true
	}
	if e.moved != moved || tight && (e.growth > growthSmall || e.room < numberGrowth) {
		e.after.reset()
		if e.grown(e.root.walk(&e.after, v.p)) {
			return false
		}
		w = &e.after
	}
	for _, g := range w.guards {
		if !g.n.settle(e, g.p) {
			return false
		}
	}
	return len(w.guards) == 0 || !tight || !e.grown(complexity(e.root, v.p)) // a repair may have increased it
}

// grown reports whether a complexity exceeds the limit and has grown by the current change.
func (e *Editor) grown(c float64) bool { return c > e.limit() && c > e.limit()-e.room }

// Undo reverts the last change that was not reverted yet.
func (e *Editor) Undo(*(*Value)) {
	m := e.marks[len(e.marks)-1]
	e.marks = e.marks[:len(e.marks)-1]
	e.rewind(m.log)
	e.moved = m.moved
}

// Mutate returns a copy of src with one to five changes.
func (e *Editor) Mutate(r *teasel.Rand, _, src *Value) *Value {
	return e.copied(src, func() {
		for range min(1+bits.TrailingZeros64(r.Uint64()), 5) {
			e.Change(r, &src)
		}
	})
}

// copied returns a copy of src with some changes, which are reverted in src.
func (e *Editor) copied(src *Value, change func()) *Value {
	marks := len(e.marks)
	m := mark{len(e.log), e.moved}
	change()
	to := e.root.about().alloc(1)
	e.root.copy(to, src.p)
	e.rewind(m.log)
	e.moved, e.marks = m.moved, e.marks[:marks]
	return &Value{p: to}
}

// Step makes the k-th ordered change: one place after another, each change once.
func (e *Editor) Step(k uint64, _, src *Value) (*Value, bool) {
	e.begin(e.r)
	w, left := e.places(src), k
	for i := range w.places {
		pl := &w.places[i]
		c := uint64(pl.n.steps(e, pl.p))
		if left >= c {
			left -= c
			continue
		}
		return e.copied(src, func() {
			e.apply(src, w, i, func(pl *place) { pl.n.step(e, pl.p, int(left)) })
		}), true
	}
	return nil, false
}

// Simplify returns the k-th candidate for a simpler value: large parts first, since the place of a value precedes those of its parts.
func (e *Editor) Simplify(k uint64, _, src *Value) (*Value, bool) {
	e.begin(e.r)
	w := e.places(src)
	if k >= uint64(e.count(w)) {
		return nil, false
	}
	return e.copied(src, func() { e.simplifyAt(src, w, int(k)) }), true
}

func (e *Editor) count(w *walk) (total int) {
	e.around = w
	for i := range w.places {
		e.at = i
		total += w.places[i].n.simpler(e, w.places[i].p)
	}
	return total
}

func (e *Editor) simplifyAt(v *Value, w *walk, k int) {
	for i := range w.places {
		pl := &w.places[i]
		c := pl.n.simpler(e, pl.p)
		if k >= c {
			k -= c
			continue
		}
		e.apply(v, w, i, func(pl *place) { pl.n.simplify(e, pl.p, k) })
		return
	}
}

// Cross returns a copy of a with a part of b in it.
func (e *Editor) Cross(r *teasel.Rand, _, a, b *Value) *Value {
	e.begin(r)
	w, donors := e.places(a), b.prepare(e.root)
	return e.copied(a, func() {
		for range changeTries {
			at := r.IntN(len(w.places))
			id := w.places[at].n.about()
			from, ok := draw(r, donors.places, id)
			if ok && e.apply(a, w, at, func(pl *place) { e.replaceBy(pl, from) }) {
				return
			}
		}
		e.Change(r, &a)
	})
}

// draw returns the first place of a node after a random one.
func draw(r *teasel.Rand, from []place, id *info) (unsafe.Pointer, bool) {
	start := r.IntN(len(from))
	for i := range from {
		if pl := &from[(start+i)%len(from)]; pl.n.about() == id {
			return pl.p, true
		}
	}
	return nil, false
}

// replaceBy overwrites a place by a copy of a value of the same node, or inserts some elements of that value, if it is a slice.
func (e *Editor) replaceBy(pl *place, from unsafe.Pointer) {
	if s, ok := pl.n.(*slice); ok && e.r.IntN(2) == 0 && s.splice(e, pl.p, from) {
		return
	}
	i := pl.n.about()
	if complexity(pl.n, from)-pl.complexity > e.room {
		return
	}
	to := i.alloc(1)
	pl.n.copy(to, from)
	e.saveBlock(i, pl.p)
	i.move(pl.p, to, 1)
}

// splice inserts some elements of another slice, and reports whether it did.
func (n *slice) splice(e *Editor, p, other unsafe.Pointer) bool {
	h, o := *(*header)(p), *(*header)(other)
	if o.len == 0 || h.len >= n.max {
		return false
	}
	from := e.r.IntN(o.len)
	count := min(1+e.r.IntN(o.len-from), n.max-h.len)
	at := e.r.IntN(h.len + 1)
	to := n.rebuild(e, p, at, at, count)
	for i := range count {
		n.elem.copy(n.elemAt(to, at+i), n.elemAt(o, from+i))
	}
	return true
}

package typed

import (
	"errors"
	"math/rand/v2"
	"unsafe"

	"github.com/teaselfuzz/teasel"
)

// guarded is a node with values that a function must accept, or that a function repairs, after every change below them.
type guarded struct {
	inner  node
	accept func(p unsafe.Pointer) bool // nil: all values are accepted
	repair func(p unsafe.Pointer)      // nil: values are not repaired
}

var errRejected = errors.New("the filter does not accept the value")

const filterTries = 100

func (n *guarded) about() *info { return n.inner.about() }

func (n *guarded) walk(w *walk, p unsafe.Pointer) float64 {
	c := n.inner.walk(w, p)
	if !w.count {
		w.guards = append(w.guards, guard{n, p})
	}
	return c
}

// settle repairs the value and reports whether it is accepted.
func (n *guarded) settle(e *Editor, p unsafe.Pointer) bool {
	if n.repair != nil {
		i := n.about()
		to := i.alloc(1)
		n.inner.copy(to, p) // the function may write to any part
		n.repair(to)
		e.saveBlock(i, p)
		i.move(p, to, 1)
	}
	return n.accept == nil || n.accept(p)
}

// generate gives up after some tries. It then uses a part of the corpus, or, if there is none, marks the value as rejected.
func (n *guarded) generate(e *Editor, p unsafe.Pointer, budget float64) {
	rejected := e.rejected
	for range filterTries {
		n.about().at(p).SetZero()
		e.rejected = false
		n.inner.generate(e, p, budget)
		if n.repair != nil {
			n.repair(p)
		}
		if !e.rejected && (n.accept == nil || n.accept(p)) {
			e.rejected = rejected
			return
		}
	}
	if from, ok := e.corpus.draw(e.r, n.about()); ok && (n.accept == nil || n.accept(from)) {
		n.about().at(p).SetZero()
		n.inner.copy(p, from)
		e.rejected = rejected
		return
	}
	e.rejected = true
}

func (n *guarded) bounds(b *bounding) limits                         { return b.of(n.inner) }
func (n *guarded) change(e *Editor, p unsafe.Pointer)                { n.inner.change(e, p) }
func (n *guarded) steps(e *Editor, p unsafe.Pointer) int             { return n.inner.steps(e, p) }
func (n *guarded) step(e *Editor, p unsafe.Pointer, k int)           { n.inner.step(e, p, k) }
func (n *guarded) simpler(e *Editor, p unsafe.Pointer) int           { return n.inner.simpler(e, p) }
func (n *guarded) simplify(e *Editor, p unsafe.Pointer, k int)       { n.inner.simplify(e, p, k) }
func (n *guarded) copy(dst, src unsafe.Pointer)                      { n.inner.copy(dst, src) }
func (n *guarded) encode(b []byte, p unsafe.Pointer) []byte          { return n.inner.encode(b, p) }
func (n *guarded) decode(v any, p unsafe.Pointer) error              { return n.inner.decode(v, p) }
func (n *guarded) pack(b []byte, p unsafe.Pointer) []byte            { return n.inner.pack(b, p) }
func (n *guarded) unpack(b []byte, p unsafe.Pointer) ([]byte, error) { return n.inner.unpack(b, p) }

func (n *guarded) check(p unsafe.Pointer, depth int) error {
	if err := n.inner.check(p, depth); err != nil {
		return err
	}
	if n.accept != nil && !n.accept(p) {
		return errRejected
	}
	return nil
}

// custom is the node of a value that is changed by a mutator of the user.
type custom struct {
	info
	base       node // of the type, which copies and encodes values
	make       func(r *teasel.Rand, p unsafe.Pointer)
	mutate     func(r *teasel.Rand, dst, src unsafe.Pointer)
	complexity func(p unsafe.Pointer) float64
	down       func(k uint64, dst, src unsafe.Pointer) bool // nil: the mutator cannot simplify
}

func (n *custom) walk(w *walk, p unsafe.Pointer) float64 {
	return w.leaf(n, p, exact(n.complexity(p)))
}

func (n *custom) bounds(b *bounding) limits {
	p := n.alloc(1)
	n.make(rand.New(rand.NewPCG(0, 0)), p)
	l := b.of(n.base)
	l.min = min(exact(n.complexity(p)), 1)
	return l
}

func (n *custom) generate(e *Editor, p unsafe.Pointer, _ float64) {
	e.growth = growthLarge // unknown
	n.make(e.r, p)
}

func (n *custom) put(e *Editor, p, from unsafe.Pointer) {
	e.growth = growthLarge // unknown
	e.saveBlock(&n.info, p)
	n.move(p, from, 1)
}

func (n *custom) change(e *Editor, p unsafe.Pointer) {
	to := n.alloc(1)
	n.mutate(e.r, to, p)
	n.put(e, p, to)
}

func (n *custom) steps(*Editor, unsafe.Pointer) int { return 0 }

func (n *custom) step(*Editor, unsafe.Pointer, int) {}

const customCandidates = 64

func (n *custom) simpler(*Editor, unsafe.Pointer) int {
	if n.down == nil {
		return 0
	}
	return customCandidates
}

func (n *custom) simplify(e *Editor, p unsafe.Pointer, k int) {
	if to := n.alloc(1); n.down(uint64(k), to, p) {
		n.put(e, p, to)
	}
}

func (n *custom) copy(dst, src unsafe.Pointer)                      { n.base.copy(dst, src) }
func (n *custom) check(p unsafe.Pointer, depth int) error           { return n.base.check(p, depth) }
func (n *custom) encode(b []byte, p unsafe.Pointer) []byte          { return n.base.encode(b, p) }
func (n *custom) decode(v any, p unsafe.Pointer) error              { return n.base.decode(v, p) }
func (n *custom) pack(b []byte, p unsafe.Pointer) []byte            { return n.base.pack(b, p) }
func (n *custom) unpack(b []byte, p unsafe.Pointer) ([]byte, error) { return n.base.unpack(b, p) }

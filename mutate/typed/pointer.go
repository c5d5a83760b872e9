package typed

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// pointer is the node of a pointer. No two pointers in a value point to the same memory.
type pointer struct {
	info
	elem     node
	required bool
}

func newPointer(t reflect.Type) *pointer { return &pointer{info: newInfo(t)} }

func (n *pointer) walk(w *walk, p unsafe.Pointer) float64 {
	at, to := w.add(n, p), *(*unsafe.Pointer)(p)
	if to == nil {
		return w.end(at, 1)
	}
	return w.end(at, 1+n.elem.walk(w, to))
}

func (n *pointer) bounds(b *bounding) limits {
	e := b.of(n.elem)
	l := limits{1, 1 + e.max, e.space}
	if n.required {
		l.min = 1 + e.min
	} else if e.space < math.MaxInt {
		l.space = math.Log2(1 + math.Exp2(e.space))
	}
	return l
}

func (n *pointer) generate(e *Editor, p unsafe.Pointer, budget float64) {
	if spare := budget - 1 - n.elem.about().min; !n.required && (spare < 0 || e.r.IntN(3) == 0) {
		return
	}
	to := n.elem.about().alloc(1)
	n.elem.generate(e, to, budget-1)
	*(*unsafe.Pointer)(p) = to
}

func (n *pointer) change(e *Editor, p unsafe.Pointer) {
	if *(*unsafe.Pointer)(p) != nil && !n.required && e.r.IntN(2) == 0 {
		e.setPointer(p, nil)
		return
	}
	if n.elem.about().min > e.room {
		return
	}
	to := n.elem.about().alloc(1)
	e.fill(n.elem, to, e.room-1)
	e.setPointer(p, to)
}

func (n *pointer) steps(*Editor, unsafe.Pointer) int {
	if n.required {
		return 0
	}
	return 1
}

func (n *pointer) step(e *Editor, p unsafe.Pointer, _ int) {
	if *(*unsafe.Pointer)(p) != nil {
		e.setPointer(p, nil)
		return
	}
	to := n.elem.about().alloc(1)
	e.first(n.elem, to)
	e.setPointer(p, to)
}

// Simplification makes a pointer nil, or replaces it by a pointer of the same type below it: a list loses its first element, a tree all but
// one branch.

func (n *pointer) simpler(_ *Editor, p unsafe.Pointer) int {
	if *(*unsafe.Pointer)(p) == nil {
		return 0
	}
	return 1 + promotedChildren
}

const promotedChildren = 8 // pointers below that may replace a pointer

func (n *pointer) simplify(e *Editor, p unsafe.Pointer, k int) {
	if k == 0 {
		if !n.required {
			e.setPointer(p, nil)
		}
		return
	}
	if below := e.below(n, p, k-1); below != nil && *(*unsafe.Pointer)(below) != nil {
		e.setPointer(p, *(*unsafe.Pointer)(below))
	}
}

func (n *pointer) copy(dst, src unsafe.Pointer) {
	if from := *(*unsafe.Pointer)(src); from != nil {
		to := n.elem.about().alloc(1)
		n.elem.copy(to, from)
		*(*unsafe.Pointer)(dst) = to
	}
}

func (n *pointer) check(p unsafe.Pointer, depth int) error {
	to := *(*unsafe.Pointer)(p)
	switch {
	case depth > maxDepth:
		return errDeep
	case to != nil:
		return n.elem.check(to, depth+1)
	case n.required:
		return fmt.Errorf("%v is nil", n.typ)
	}
	return nil
}

// nullable reports whether the encoding of the pointed-to value may be null.
func nullable(n node) bool {
	switch n := n.(type) {
	case *pointer, *choice, *slice, *mapping:
		return true
	case *text:
		return n.bytes
	case *guarded:
		return nullable(n.inner)
	case *custom:
		return nullable(n.base)
	}
	return false
}

func (n *pointer) encode(b []byte, p unsafe.Pointer) []byte {
	to := *(*unsafe.Pointer)(p)
	switch {
	case to == nil:
		return append(b, "null"...)
	case nullable(n.elem):
		return append(n.elem.encode(append(b, '['), to), ']')
	}
	return n.elem.encode(b, to)
}

func (n *pointer) decode(v any, p unsafe.Pointer) error {
	if v == nil {
		*(*unsafe.Pointer)(p) = nil
		return nil
	}
	if nullable(n.elem) {
		one, ok := v.([]any)
		if !ok || len(one) != 1 {
			return mismatch("an array of one", v)
		}
		v = one[0]
	}
	to := n.elem.about().alloc(1)
	*(*unsafe.Pointer)(p) = to
	return n.elem.decode(v, to)
}

func (n *pointer) pack(b []byte, p unsafe.Pointer) []byte {
	to := *(*unsafe.Pointer)(p)
	if to == nil {
		return append(b, 0)
	}
	return n.elem.pack(append(b, 1), to)
}

func (n *pointer) unpack(b []byte, p unsafe.Pointer) ([]byte, error) {
	if len(b) == 0 {
		return b, errPacked
	}
	if b[0] == 0 {
		return b[1:], nil
	}
	to := n.elem.about().alloc(1)
	*(*unsafe.Pointer)(p) = to
	return n.elem.unpack(b[1:], to)
}

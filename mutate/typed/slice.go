package typed

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// slice is the node of a slice of any type but bytes, between two lengths.
type slice struct {
	info
	elem     node
	min, max int
}

func newSlice(t reflect.Type) *slice { return &slice{info: newInfo(t), max: math.MaxInt} }

// elems returns a pointer to element i.
func (n *slice) elemAt(h header, i int) unsafe.Pointer {
	return unsafe.Add(h.p, uintptr(i)*n.elem.about().size)
}

func (n *slice) walk(w *walk, p unsafe.Pointer) float64 {
	at, h := w.add(n, p), *(*header)(p)
	c := 1.0
	if h.p != nil {
		c += unit
	}
	for i := range h.len {
		c += n.elem.walk(w, n.elemAt(h, i))
	}
	return w.end(at, c)
}

func (n *slice) bounds(b *bounding) limits {
	e := b.of(n.elem)
	l := limits{1, math.Inf(1), math.Inf(1)}
	if n.min > 0 {
		l.min = 1 + float64(n.min)*e.min
	}
	if n.max < math.MaxInt && n.max > 0 {
		l.max = 1 + unit + float64(n.max)*e.max
	} else if n.max == 0 {
		l.max = 1 + unit
	}
	l.space = sequences(e.space, n.min, n.max, true)
	return l
}

// sequences returns the base-2 logarithm of the number of sequences of min to max elements, of which there are 2^space, and of nil.
func sequences(space float64, least, most int, orNil bool) float64 {
	if most > 1<<10 || float64(most)*space > 1<<9 {
		return math.Inf(1) // too many to matter
	}
	count := 0.0
	for n := least; n <= most; n++ {
		count += math.Exp2(float64(n) * space)
	}
	if orNil && least == 0 {
		count++
	}
	return math.Log2(count)
}

// count returns a random number of elements that fit into a budget.
func (n *slice) count(e *Editor, budget float64) int {
	fit := int(min((budget-1)/max(n.elem.about().min, 1), 16))
	if fit > 0 {
		fit = e.r.IntN(fit + 1)
	}
	return min(max(fit, n.min), n.max)
}

func (n *slice) generate(e *Editor, p unsafe.Pointer, budget float64) {
	count := n.count(e, budget)
	if count == 0 && e.r.IntN(2) == 0 && n.min == 0 {
		return
	}
	h := header{n.elem.about().alloc(count), count, count}
	for i := range count {
		n.elem.generate(e, n.elemAt(h, i), (budget-1)/float64(count))
	}
	*(*header)(p) = h
}

// rebuild replaces the slice by old[:from], fresh new elements, and old[to:].
func (n *slice) rebuild(e *Editor, p unsafe.Pointer, from, to, fresh int) header {
	old, i := *(*header)(p), n.elem.about()
	size := old.len - (to - from) + fresh
	h := header{i.alloc(size), size, size}
	i.move(h.p, old.p, from)
	if rest := old.len - to; rest > 0 {
		i.move(n.elemAt(h, from+fresh), n.elemAt(old, to), rest)
	}
	e.setSlice(p, h)
	return h
}

func (n *slice) change(e *Editor, p unsafe.Pointer) {
	h, r := *(*header)(p), e.r
	if h.len == 0 && n.min == 0 && r.IntN(8) == 0 { // nil or empty
		n.toggle(e, p)
		return
	}
	switch op := r.IntN(10); {
	case h.len == 0 || op < 4:
		n.insert(e, p, h)
	case op < 6:
		if from := r.IntN(h.len); h.len > n.min {
			to := from + 1
			if r.IntN(4) == 0 {
				to += r.IntN(min(h.len-from, h.len-n.min))
			}
			n.rebuild(e, p, from, to, 0)
		}
	case op == 6 && h.len > 1:
		n.swap(e, p, r.IntN(h.len), r.IntN(h.len))
	case op == 7 && h.len > 1: // move an element
		from, to := r.IntN(h.len), r.IntN(h.len)
		if from != to {
			n.shift(e, p, from, to)
		}
	case op == 8 && h.len < n.max: // duplicate an element
		at, src := r.IntN(h.len+1), r.IntN(h.len)
		if c := complexity(n.elem, n.elemAt(h, src)); c > e.room {
			return
		}
		to := n.rebuild(e, p, at, at, 1)
		n.elem.copy(n.elemAt(to, at), n.elemAt(h, src))
	default:
		n.replace(e, p, r.IntN(h.len))
	}
}

func (n *slice) insert(e *Editor, p unsafe.Pointer, h header) {
	count := 1
	if e.r.IntN(4) == 0 {
		count += e.r.IntN(4)
	}
	count = min(count, n.max-h.len)
	if count <= 0 || float64(count)*n.elem.about().min > e.room {
		return
	}
	at := e.r.IntN(h.len + 1)
	if e.r.IntN(2) == 0 {
		at = h.len // mostly appended
	}
	to := n.rebuild(e, p, at, at, count)
	for i := range count {
		e.fill(n.elem, n.elemAt(to, at+i), e.room/float64(count))
	}
}

func (n *slice) replace(e *Editor, p unsafe.Pointer, at int) {
	h := n.rebuild(e, p, at, at+1, 1)
	e.fill(n.elem, n.elemAt(h, at), e.room)
}

func (n *slice) swap(e *Editor, p unsafe.Pointer, a, b int) {
	if a == b {
		return
	}
	old, i := *(*header)(p), n.elem.about()
	h := n.rebuild(e, p, old.len, old.len, 0)
	i.move(n.elemAt(h, a), n.elemAt(old, b), 1)
	i.move(n.elemAt(h, b), n.elemAt(old, a), 1)
}

func (n *slice) shift(e *Editor, p unsafe.Pointer, from, to int) {
	old, i := *(*header)(p), n.elem.about()
	h := n.rebuild(e, p, old.len, old.len, 0)
	if from < to {
		i.move(n.elemAt(h, from), n.elemAt(old, from+1), to-from)
	} else {
		i.move(n.elemAt(h, to+1), n.elemAt(old, to), from-to)
	}
	i.move(n.elemAt(h, to), n.elemAt(old, from), 1)
}

func (n *slice) toggle(e *Editor, p unsafe.Pointer) {
	if *(*unsafe.Pointer)(p) != nil {
		e.setSlice(p, header{})
		return
	}
	e.setSlice(p, header{n.elem.about().alloc(0), 0, 0})
}

// The ordered changes insert a simple element at each position, and then remove, duplicate and swap each of the first elements.
const sliceSteps = 8

func (n *slice) steps(_ *Editor, p unsafe.Pointer) int {
	return 1 + 4*min((*header)(p).len, sliceSteps)
}

func (n *slice) step(e *Editor, p unsafe.Pointer, k int) {
	h := *(*header)(p)
	op, at := (k-1)%4, (k-1)/4
	switch {
	case k == 0 || op == 0:
		if k == 0 {
			at = h.len
		}
		if h.len < n.max {
			to := n.rebuild(e, p, at, at, 1)
			e.first(n.elem, n.elemAt(to, at))
		}
	case op == 1:
		if h.len > n.min {
			n.rebuild(e, p, at, at+1, 0)
		}
	case op == 2:
		if h.len < n.max {
			to := n.rebuild(e, p, at, at, 1)
			n.elem.copy(n.elemAt(to, at), n.elemAt(h, at))
		}
	default:
		n.swap(e, p, at, (at+1)%h.len)
	}
}

func (n *slice) simpler(_ *Editor, p unsafe.Pointer) int {
	h := *(*header)(p)
	if h.p == nil {
		return 0
	}
	return pieces(h.len) + 1
}

func (n *slice) simplify(e *Editor, p unsafe.Pointer, k int) {
	h := *(*header)(p)
	from, to, ok := piece(h.len, k)
	switch {
	case ok && h.len-(to-from) >= n.min:
		n.rebuild(e, p, from, to, 0)
	case !ok && h.len == 0 && n.min == 0:
		e.setSlice(p, header{})
	}
}

func (n *slice) copy(dst, src unsafe.Pointer) {
	old, i := *(*header)(src), n.elem.about()
	if old.p == nil {
		return
	}
	h := header{i.alloc(old.len), old.len, old.len}
	if i.plain {
		i.move(h.p, old.p, h.len)
	} else {
		for k := range h.len {
			n.elem.copy(n.elemAt(h, k), n.elemAt(old, k))
		}
	}
	*(*header)(dst) = h
}

func (n *slice) check(p unsafe.Pointer, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	h := *(*header)(p)
	if h.len < n.min || h.len > n.max {
		return fmt.Errorf("a length of %d is not between %d and %d", h.len, n.min, n.max)
	}
	for i := range h.len {
		if err := n.elem.check(n.elemAt(h, i), depth+1); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func (n *slice) encode(b []byte, p unsafe.Pointer) []byte {
	h := *(*header)(p)
	if h.p == nil {
		return append(b, "null"...)
	}
	b = append(b, '[')
	for i := range h.len {
		if i > 0 {
			b = append(b, ',')
		}
		b = n.elem.encode(b, n.elemAt(h, i))
	}
	return append(b, ']')
}

func (n *slice) decode(v any, p unsafe.Pointer) error {
	if v == nil {
		*(*header)(p) = header{}
		return nil
	}
	items, ok := v.([]any)
	if !ok {
		return mismatch("an array", v)
	}
	h := header{n.elem.about().alloc(len(items)), len(items), len(items)}
	*(*header)(p) = h
	for i, item := range items {
		if err := n.elem.decode(item, n.elemAt(h, i)); err != nil {
			return fmt.Errorf("element %d: %w", i, err)
		}
	}
	return nil
}

func (n *slice) pack(b []byte, p unsafe.Pointer) []byte {
	h := *(*header)(p)
	b = packLen(b, h.len, h.p == nil)
	for i := range h.len {
		b = n.elem.pack(b, n.elemAt(h, i))
	}
	return b
}

func (n *slice) unpack(b []byte, p unsafe.Pointer) ([]byte, error) {
	size, isNil, b, err := unpackLen(b)
	if err != nil || isNil {
		return b, err
	}
	if size > 8*len(b)+64 { // each element takes at least a byte, except empty structs
		return b, errPacked
	}
	h := header{n.elem.about().alloc(size), size, size}
	*(*header)(p) = h
	for i := range size {
		if b, err = n.elem.unpack(b, n.elemAt(h, i)); err != nil {
			return b, err
		}
	}
	return b, nil
}

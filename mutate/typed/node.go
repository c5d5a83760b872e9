package typed

import (
	"math"
	"reflect"
	"unsafe"
)

// node is a compiled type, or a part of one with rules of its own. Its methods work on the memory of a value at p. A compiled node is
// immutable, so that any number of editors may use it concurrently.
type node interface {
	about() *info

	// walk appends the places at p and below to w and returns the complexity of the value, a multiple of 1/64.
	walk(w *walk, p unsafe.Pointer) float64
	// generate fills zeroed memory with a random value, with a complexity of at most about budget if possible.
	generate(e *Editor, p unsafe.Pointer, budget float64)
	// change makes a random change of the value itself, not of parts that have places of their own. It may find no change and
	// do nothing.
	change(e *Editor, p unsafe.Pointer)
	// steps returns the number of ordered changes of the value itself.
	steps(e *Editor, p unsafe.Pointer) int
	step(e *Editor, p unsafe.Pointer, k int)
	// simpler returns the number of candidates of simplify for the value itself.
	simpler(e *Editor, p unsafe.Pointer) int
	simplify(e *Editor, p unsafe.Pointer, k int)
	// copy makes a deep copy in zeroed memory. Parts that the value shares are duplicated.
	copy(dst, src unsafe.Pointer)
	// check returns an error if the node could not have made the value.
	check(p unsafe.Pointer, depth int) error

	encode(b []byte, p unsafe.Pointer) []byte
	decode(v any, p unsafe.Pointer) error
	pack(b []byte, p unsafe.Pointer) []byte
	unpack(b []byte, p unsafe.Pointer) ([]byte, error)

	// bounds computes the limits from those of the parts.
	bounds(b *bounding) limits
}

// limits are the complexity of the simplest and of the most complex value, and the base-2 logarithm of the number of
// values.
type limits struct{ min, max, space float64 }

// info has the fields common to all nodes.
type info struct {
	typ   reflect.Type
	list  reflect.Type // type of slices of it
	size  uintptr
	flat  bool // the type contains no pointers
	plain bool // the type contains no mutable memory that a copy would share: a shallow copy is a deep one
	limits
}

func newInfo(t reflect.Type) info {
	return info{typ: t, list: reflect.SliceOf(t), size: t.Size(), limits: limits{min: math.Inf(1), max: math.Inf(1), space: math.Inf(1)}}
}

func (i *info) about() *info { return i }

// move copies n adjacent values, but not the memory to which they refer.
func (i *info) move(dst, src unsafe.Pointer, n int) {
	switch {
	case n == 0 || i.size == 0:
	case i.flat:
		copy(unsafe.Slice((*byte)(dst), uintptr(n)*i.size), unsafe.Slice((*byte)(src), uintptr(n)*i.size))
	case i.typ.Kind() == reflect.String:
		copy(unsafe.Slice((*string)(dst), n), unsafe.Slice((*string)(src), n))
	default: // needs write barriers, which only reflect can add
		for k := range n {
			at := uintptr(k) * i.size
			i.at(unsafe.Add(dst, at)).Set(i.at(unsafe.Add(src, at)))
		}
	}
}

// at returns the value at p for reflection.
func (i *info) at(p unsafe.Pointer) reflect.Value { return reflect.NewAt(i.typ, p).Elem() }

// alloc returns zeroed memory for n values.
func (i *info) alloc(n int) unsafe.Pointer {
	if n == 1 {
		return reflect.New(i.typ).UnsafePointer()
	}
	return reflect.MakeSlice(i.list, n, n).UnsafePointer()
}

// place is a part of a value that can be changed.
type place struct {
	n          node
	p          unsafe.Pointer
	complexity float64
	end        int // index of the first place after those below this one
}

// guard is a place with a filter or a repair function, which is called after every change below it.
type guard struct {
	n interface {
		node
		settle(e *Editor, p unsafe.Pointer) bool
	}
	p unsafe.Pointer
}

// walk collects the places of a value in an order that depends only on the value. Guards follow the guards below them.
type walk struct {
	places []place
	guards []guard
	count  bool // compute only the complexity
}

func (w *walk) add(n node, p unsafe.Pointer) int {
	if w.count {
		return 0
	}
	w.places = append(w.places, place{n: n, p: p})
	return len(w.places) - 1
}

func (w *walk) end(at int, complexity float64) float64 {
	if !w.count {
		w.places[at].complexity, w.places[at].end = complexity, len(w.places)
	}
	return complexity
}

// leaf adds a place without places below it.
func (w *walk) leaf(n node, p unsafe.Pointer, complexity float64) float64 {
	return w.end(w.add(n, p), complexity)
}

func (w *walk) reset() { w.places, w.guards = w.places[:0], w.guards[:0] }

// bounding computes limits. For a node that is being computed it uses the previous limits.
type bounding struct{ open map[node]bool }

func (b *bounding) of(n node) limits {
	if b.open[n] {
		return limits{n.about().min, math.Inf(1), math.Inf(1)}
	}
	b.open[n] = true
	l := n.bounds(b)
	delete(b.open, n)
	n.about().limits = l
	return l
}

const unit = 1.0 / 64 // complexities are multiples of it, so that sums do not depend on their order

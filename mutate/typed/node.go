package typed

import (
	"math"
	"reflect"
	"unsafe"
)

// node is a compiled type, or a part of one with rules of its own. Its methods work on the memory of a value at p. A node
// is never changed once it was compiled, so any number of editors may use it at once.
type node interface {
	about() *info

	// walk appends the places at p and below to w and returns the complexity of the value, a multiple of 1/64.
	walk(w *walk, p unsafe.Pointer) float64
	// generate fills zeroed memory with a random value, of a complexity of at most about budget where that is possible.
	generate(e *Editor, p unsafe.Pointer, budget float64)
	// change makes one random change to the value itself, not to what lies at places of its own below it. It may fail
	// to find one and do nothing.
	change(e *Editor, p unsafe.Pointer)
	// steps returns how many ordered changes of the value itself there are.
	steps(e *Editor, p unsafe.Pointer) int
	step(e *Editor, p unsafe.Pointer, k int)
	// simpler returns how many candidates simplify knows for the value itself.
	simpler(e *Editor, p unsafe.Pointer) int
	simplify(e *Editor, p unsafe.Pointer, k int)
	// copy makes a deep copy in zeroed memory. What a value shares within itself is not shared by the copy.
	copy(dst, src unsafe.Pointer)
	// check returns why the value is not one that the node could make.
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

// info is what every node has.
type info struct {
	typ   reflect.Type
	list  reflect.Type // of slices of it
	size  uintptr
	flat  bool // no pointers: its bytes are all there is
	plain bool // nothing that a copy would share and somebody could change: a shallow copy is a deep one
	limits
}

func newInfo(t reflect.Type) info {
	return info{typ: t, list: reflect.SliceOf(t), size: t.Size(), limits: limits{min: math.Inf(1), max: math.Inf(1), space: math.Inf(1)}}
}

func (i *info) about() *info { return i }

// move copies n values next to one another, not what they refer to.
func (i *info) move(dst, src unsafe.Pointer, n int) {
	switch {
	case n == 0 || i.size == 0:
	case i.flat:
		copy(unsafe.Slice((*byte)(dst), uintptr(n)*i.size), unsafe.Slice((*byte)(src), uintptr(n)*i.size))
	case i.typ.Kind() == reflect.String:
		copy(unsafe.Slice((*string)(dst), n), unsafe.Slice((*string)(src), n))
	default: // with write barriers, which only reflect knows to place
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

// place is where something of a value can be changed.
type place struct {
	n          node
	p          unsafe.Pointer
	complexity float64
	end        int // the first place after those below
}

// guard is a place whose value must be accepted, or repaired, after every change below it.
type guard struct {
	n interface {
		node
		settle(e *Editor, p unsafe.Pointer) bool
	}
	p unsafe.Pointer
}

// walk collects the places of a value in an order that depends on nothing but the value. A guard comes after those below.
type walk struct {
	places []place
	guards []guard
	count  bool // only the complexity is wanted
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

// leaf adds a place with nothing below it.
func (w *walk) leaf(n node, p unsafe.Pointer, complexity float64) float64 {
	return w.end(w.add(n, p), complexity)
}

func (w *walk) reset() { w.places, w.guards = w.places[:0], w.guards[:0] }

// bounding computes limits, taking those of a node that is being computed for its last ones.
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

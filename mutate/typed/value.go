package typed

import "unsafe"

// Value is a value of a plan's type, without a static type, together with its places and its complexity, which editors cache. It is made by
// a [Plan] or an [Editor]. It is for one goroutine at a time.
type Value struct {
	p      unsafe.Pointer
	places walk
	ready  bool

	rejected bool
}

// Rejected reports whether a [Filter] rejects the value. An [Editor] makes such a value only if it finds no accepted one.
func (v *Value) Rejected() bool { return v.rejected }

// Pointer returns a pointer to the value, which must not be modified.
func (v *Value) Pointer() unsafe.Pointer { return v.p }

// prepare computes the places of a value on first use.
func (v *Value) prepare(n node) *walk {
	if !v.ready {
		v.places.reset()
		n.walk(&v.places, v.p)
		if len(v.places.places) == 0 { // a structure without fields
			v.places.leaf(n, v.p, unit)
		}
		v.ready = true
	}
	return &v.places
}

// complexity is that of a value anywhere in memory.
func complexity(n node, p unsafe.Pointer) float64 {
	w := walk{count: true}
	return n.walk(&w, p)
}

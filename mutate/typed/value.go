package typed

import "unsafe"

// Value is a value of a plan's type, without that type, with what an editor remembers of it: where it can be changed and how
// complex it is. Like an editor it has one owner. It is made by a [Plan] or an [Editor].
type Value struct {
	p      unsafe.Pointer
	places walk
	ready  bool

	rejected bool
}

// Rejected reports whether a [Filter] does not accept the value, which an [Editor] makes only if it does not find any other.
func (v *Value) Rejected() bool { return v.rejected }

// Pointer returns where the value is: a pointer to the plan's type. What is there must not be written to.
func (v *Value) Pointer() unsafe.Pointer { return v.p }

// prepare finds the places of a value, once.
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

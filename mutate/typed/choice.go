package typed

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unsafe"
)

// choice is the node of an interface that holds a value of one of several types, or nil.
type choice struct {
	info
	options  []option
	required bool
}

// option is a type that the interface may hold.
type option struct {
	name   string
	node   node
	direct bool // the interface holds the value itself, see isDirect
}

// isDirect reports whether an interface holds a value of type t itself, and not a pointer to it, as Go's compiler has it for pointers,
// maps, and structs and arrays of a single one. Which they are may change with the compiler, but only then the word for a zero value
// is nil.
func isDirect(t reflect.Type) bool {
	zero := reflect.Zero(t).Interface()
	return (*words)(unsafe.Pointer(&zero)).data == nil
}

func newChoice(t reflect.Type) *choice { return &choice{info: newInfo(t)} }

// inside returns the index of the option that an interface holds, and a pointer to the value. The index is -1 for nil and -2 for a type
// that is not an option.
//
// The value is changed in place. Go's compiler assumes that the memory behind an interface does not change. That is true during a call
// of the target: the editor changes only memory that copy, generate or decode has allocated, and the target gets a copy.
func (n *choice) inside(p unsafe.Pointer) (at int, to unsafe.Pointer) {
	w := (*words)(p)
	if w.typ == nil {
		return -1, nil
	}
	t := n.at(p).Elem().Type()
	for i := range n.options {
		if o := &n.options[i]; o.node.about().typ == t {
			if o.direct {
				return i, unsafe.Pointer(&w.data)
			}
			return i, w.data
		}
	}
	return -2, nil
}

// wrap returns the interface with option at that holds the value at from.
func (n *choice) wrap(at int, from unsafe.Pointer) (w words) {
	v := reflect.New(n.typ).Elem()
	v.Set(n.options[at].node.about().at(from)) // reflect allocates a copy, as from is addressable
	return *(*words)(v.Addr().UnsafePointer())
}

func (n *choice) walk(w *walk, p unsafe.Pointer) float64 {
	at := w.add(n, p)
	i, to := n.inside(p)
	if i < 0 {
		return w.end(at, 1)
	}
	return w.end(at, 1+unit*float64(i)+n.options[i].node.walk(w, to))
}

func (n *choice) bounds(b *bounding) limits {
	l := limits{1, 1, 0}
	if n.required {
		l.min = math.Inf(1)
	}
	count := 0.0
	for i := range n.options {
		o := b.of(n.options[i].node)
		c := 1 + unit*float64(i)
		l.min, l.max = min(l.min, c+o.min), max(l.max, c+o.max)
		count += math.Exp2(o.space)
	}
	if !n.required {
		count++
	}
	l.space = math.Log2(count)
	return l
}

// pick returns a random option whose simplest value fits into a budget, or the simplest option if none does.
func (n *choice) pick(e *Editor, budget float64) int {
	best := 0
	for i := range n.options {
		if n.options[i].node.about().min < n.options[best].node.about().min {
			best = i
		}
	}
	for range 4 {
		if i := e.r.IntN(len(n.options)); n.options[i].node.about().min <= budget {
			return i
		}
	}
	return best
}

func (n *choice) generate(e *Editor, p unsafe.Pointer, budget float64) {
	i := n.pick(e, budget-1)
	o := n.options[i].node
	if !n.required && (o.about().min > budget-1 || e.r.IntN(8) == 0) {
		return
	}
	to := o.about().alloc(1)
	o.generate(e, to, budget-1)
	*(*words)(p) = n.wrap(i, to)
}

func (n *choice) change(e *Editor, p unsafe.Pointer) {
	if !n.required && e.r.IntN(4) == 0 && (*words)(p).typ != nil {
		e.setInterface(p, words{})
		return
	}
	i := n.pick(e, e.room-1)
	o := n.options[i].node
	if o.about().min > e.room {
		return
	}
	to := o.about().alloc(1)
	e.fill(o, to, e.room-1)
	e.setInterface(p, n.wrap(i, to))
}

func (n *choice) steps(*Editor, unsafe.Pointer) int { return len(n.options) }

func (n *choice) step(e *Editor, p unsafe.Pointer, k int) {
	o := n.options[k].node
	to := o.about().alloc(1)
	e.first(o, to)
	e.setInterface(p, n.wrap(k, to))
}

func (n *choice) simpler(_ *Editor, p unsafe.Pointer) int {
	if (*words)(p).typ == nil {
		return 0
	}
	return 1 + len(n.options) + promotedChildren
}

func (n *choice) simplify(e *Editor, p unsafe.Pointer, k int) {
	switch {
	case k == 0:
		if !n.required {
			e.setInterface(p, words{})
		}
	case k <= len(n.options):
		n.step(e, p, k-1)
	default:
		if below := e.below(n, p, k-1-len(n.options)); below != nil && (*words)(below).typ != nil {
			e.setInterface(p, *(*words)(below))
		}
	}
}

func (n *choice) copy(dst, src unsafe.Pointer) {
	i, from := n.inside(src)
	if i < 0 {
		return
	}
	o := n.options[i].node
	to := o.about().alloc(1)
	o.copy(to, from)
	*(*words)(dst) = n.wrap(i, to)
}

func (n *choice) check(p unsafe.Pointer, depth int) error {
	i, to := n.inside(p)
	switch {
	case depth > maxDepth:
		return errDeep
	case i >= 0:
		return n.options[i].node.check(to, depth+1)
	case i == -2:
		return fmt.Errorf("%v is none of the types that were named for %v", n.at(p).Elem().Type(), n.typ)
	case n.required:
		return fmt.Errorf("%v is nil", n.typ)
	}
	return nil
}

func (n *choice) encode(b []byte, p unsafe.Pointer) []byte {
	i, to := n.inside(p)
	if i < 0 {
		return append(b, "null"...)
	}
	b = append(strconv.AppendQuote(append(b, '{'), n.options[i].name), ':')
	return append(n.options[i].node.encode(b, to), '}')
}

func (n *choice) decode(v any, p unsafe.Pointer) error {
	if v == nil {
		*(*words)(p) = words{}
		return nil
	}
	m, ok := v.(map[string]any)
	if !ok || len(m) != 1 {
		return mismatch("an object whose one member is named by the type", v)
	}
	for i := range n.options {
		inner, ok := m[n.options[i].name]
		if !ok {
			continue
		}
		o := n.options[i].node
		to := o.about().alloc(1)
		if err := o.decode(inner, to); err != nil {
			return fmt.Errorf("%s: %w", n.options[i].name, err)
		}
		*(*words)(p) = n.wrap(i, to)
		return nil
	}
	for name := range m { // the only member
		return fmt.Errorf("%q is none of the types that were named for %v", name, n.typ)
	}
	return nil
}

func (n *choice) pack(b []byte, p unsafe.Pointer) []byte {
	i, to := n.inside(p)
	b = packLen(b, max(i, 0), i < 0)
	if i >= 0 {
		b = n.options[i].node.pack(b, to)
	}
	return b
}

func (n *choice) unpack(b []byte, p unsafe.Pointer) ([]byte, error) {
	i, isNil, b, err := unpackLen(b)
	if err != nil || isNil {
		return b, err
	}
	if i >= len(n.options) {
		return b, errPacked
	}
	o := n.options[i].node
	to := o.about().alloc(1)
	if b, err = o.unpack(b, to); err == nil {
		*(*words)(p) = n.wrap(i, to)
	}
	return b, err
}

package typed

import (
	"bytes"
	"fmt"
	"math"
	"reflect"
	"slices"
	"unsafe"
)

// mapping is the node of a map. Entries have no places of their own, since they have no address: a change makes a new map, which shares the
// unchanged parts with the old one.
type mapping struct {
	info
	key, elem node
	min, max  int
}

func newMapping(t reflect.Type) *mapping { return &mapping{info: newInfo(t), max: math.MaxInt} }

// entry is an entry of a map, copied to memory in which it can be changed.
type entry struct {
	key, elem unsafe.Pointer
	name      []byte // the encoded key, by which entries are sorted
}

// compare orders entries by their encoded keys and then by their elements: keys that are pointers may refer to equal values.
func (n *mapping) compare(a, b entry) int {
	if c := bytes.Compare(a.name, b.name); c != 0 {
		return c
	}
	return bytes.Compare(n.elem.encode(nil, a.elem), n.elem.encode(nil, b.elem))
}

func (n *mapping) value(p unsafe.Pointer) reflect.Value { return n.at(p) }

// entries returns the entries, sorted. They are shallow copies.
func (n *mapping) entries(p unsafe.Pointer) (out []entry) {
	for it := n.value(p).MapRange(); it.Next(); {
		e := entry{n.key.about().alloc(1), n.elem.about().alloc(1), nil}
		n.key.about().at(e.key).Set(it.Key())
		n.elem.about().at(e.elem).Set(it.Value())
		e.name = n.key.encode(nil, e.key)
		out = append(out, e)
	}
	slices.SortFunc(out, n.compare)
	return out
}

// build returns a map of entries; of entries with equal keys the last is kept.
func (n *mapping) build(es []entry) unsafe.Pointer {
	m := reflect.MakeMapWithSize(n.typ, len(es))
	for _, e := range es {
		m.SetMapIndex(n.key.about().at(e.key), n.elem.about().at(e.elem))
	}
	return m.UnsafePointer()
}

func (n *mapping) walk(w *walk, p unsafe.Pointer) float64 {
	c := 1.0
	if *(*unsafe.Pointer)(p) != nil {
		c += unit
		k, v := n.key.about().alloc(1), n.elem.about().alloc(1)
		for it := n.value(p).MapRange(); it.Next(); { // in any order, since sums of complexities are exact
			n.key.about().at(k).SetIterKey(it)
			n.elem.about().at(v).SetIterValue(it)
			c += complexity(n.key, k) + complexity(n.elem, v)
		}
	}
	return w.leaf(n, p, c)
}

func (n *mapping) bounds(b *bounding) limits {
	k, v := b.of(n.key), b.of(n.elem)
	l := limits{1, math.Inf(1), math.Inf(1)}
	if n.min > 0 {
		l.min = 1 + unit + float64(n.min)*(k.min+v.min)
	}
	if size := min(float64(n.max), math.Exp2(k.space)); size < math.MaxInt {
		l.max, l.space = 1+unit+size*(k.max+v.max), size*(1+v.space)
	}
	return l
}

func (n *mapping) fresh(e *Editor, budget float64) entry {
	x := entry{key: n.key.about().alloc(1), elem: n.elem.about().alloc(1)}
	n.key.generate(e, x.key, budget/2)
	n.elem.generate(e, x.elem, budget/2)
	return x
}

func (n *mapping) generate(e *Editor, p unsafe.Pointer, budget float64) {
	least := n.key.about().min + n.elem.about().min
	count := int(min((budget-1)/max(least, 1), 8))
	if count > 0 {
		count = e.r.IntN(count + 1)
	}
	count = min(max(count, n.min), n.max)
	if count == 0 && e.r.IntN(2) == 0 {
		return
	}
	var es []entry
	for range count {
		es = append(es, n.fresh(e, (budget-1)/float64(count)))
	}
	*(*unsafe.Pointer)(p) = n.build(es)
	n.top(e, p, budget)
}

// top adds entries until there are min, since generated keys may be equal.
func (n *mapping) top(e *Editor, p unsafe.Pointer, budget float64) {
	for range 64 * n.min {
		if n.value(p).Len() >= n.min {
			return
		}
		x := n.fresh(e, budget)
		n.value(p).SetMapIndex(n.key.about().at(x.key), n.elem.about().at(x.elem))
	}
}

func (n *mapping) change(e *Editor, p unsafe.Pointer) {
	es, r := n.entries(p), e.r
	switch op := r.IntN(8); {
	case len(es) == 0 && n.min == 0 && r.IntN(8) == 0: // nil or empty
		if *(*unsafe.Pointer)(p) != nil {
			e.setPointer(p, nil)
			return
		}
	case len(es) == 0 || op < 3:
		if len(es) < n.max && n.key.about().min+n.elem.about().min <= e.room {
			es = append(es, n.fresh(e, e.room))
		}
	case op == 3:
		if len(es) > n.min {
			at := r.IntN(len(es))
			es = slices.Delete(es, at, at+1)
		}
	case op == 4: // another key
		x := &es[r.IntN(len(es))]
		x.key = e.changed(n.key, x.key)
	default:
		x := &es[r.IntN(len(es))]
		x.elem = e.changed(n.elem, x.elem)
	}
	m := n.build(es)
	if got := reflect.NewAt(n.typ, unsafe.Pointer(&m)).Elem().Len(); got >= n.min {
		e.setPointer(p, m)
	}
}

// The ordered changes of a map remove entries and add a simple one.

func (n *mapping) steps(_ *Editor, p unsafe.Pointer) int {
	return 1 + min(n.value(p).Len(), sliceSteps)
}

func (n *mapping) step(e *Editor, p unsafe.Pointer, k int) {
	es := n.entries(p)
	switch {
	case k > 0 && len(es) > n.min:
		e.setPointer(p, n.build(slices.Delete(es, k-1, k)))
	case k == 0 && len(es) < n.max:
		x := entry{key: n.key.about().alloc(1), elem: n.elem.about().alloc(1)}
		e.first(n.key, x.key)
		e.first(n.elem, x.elem)
		e.setPointer(p, n.build(append(es, x)))
	}
}

// Simplification removes entries, halves first, and then simplifies each key and each element.

func (n *mapping) simpler(e *Editor, p unsafe.Pointer) int {
	if *(*unsafe.Pointer)(p) == nil {
		return 0
	}
	es := n.entries(p)
	count := pieces(len(es)) + 1
	for _, x := range es {
		count += e.candidates(n.key, x.key) + e.candidates(n.elem, x.elem)
	}
	return count
}

func (n *mapping) simplify(e *Editor, p unsafe.Pointer, k int) {
	es := n.entries(p)
	if from, to, ok := piece(len(es), k); ok {
		if len(es)-(to-from) >= n.min {
			e.setPointer(p, n.build(slices.Delete(es, from, to)))
		}
		return
	}
	if k -= pieces(len(es)); k == 0 {
		if len(es) == 0 && n.min == 0 {
			e.setPointer(p, nil)
		}
		return
	}
	k--
	for i := range es {
		x := &es[i]
		if c := e.candidates(n.key, x.key); k < c {
			x.key = e.simplified(n.key, x.key, k)
			break
		} else if k -= c; k < e.candidates(n.elem, x.elem) {
			x.elem = e.simplified(n.elem, x.elem, k)
			break
		}
		k -= e.candidates(n.elem, x.elem)
	}
	if m := n.build(es); reflect.NewAt(n.typ, unsafe.Pointer(&m)).Elem().Len() == len(es) {
		e.setPointer(p, m)
	}
}

func (n *mapping) copy(dst, src unsafe.Pointer) {
	if *(*unsafe.Pointer)(src) == nil {
		return
	}
	old := n.value(src)
	m := reflect.MakeMapWithSize(n.typ, old.Len())
	for it := old.MapRange(); it.Next(); {
		k, v := it.Key(), it.Value()
		m.SetMapIndex(copyOf(n.key, k), copyOf(n.elem, v))
	}
	*(*unsafe.Pointer)(dst) = m.UnsafePointer()
}

func copyOf(n node, v reflect.Value) reflect.Value {
	i := n.about()
	if i.plain {
		return v
	}
	from, to := i.alloc(1), i.alloc(1)
	i.at(from).Set(v)
	n.copy(to, from)
	return i.at(to)
}

func (n *mapping) check(p unsafe.Pointer, depth int) error {
	if depth > maxDepth {
		return errDeep
	}
	es := n.entries(p)
	if len(es) < n.min || len(es) > n.max {
		return fmt.Errorf("a length of %d is not between %d and %d", len(es), n.min, n.max)
	}
	for _, x := range es {
		if err := n.key.check(x.key, depth+1); err != nil {
			return fmt.Errorf("key %s: %w", x.name, err)
		}
		if err := n.elem.check(x.elem, depth+1); err != nil {
			return fmt.Errorf("element %s: %w", x.name, err)
		}
	}
	return nil
}

// A map is encoded as an object if its keys are encoded as different strings, otherwise as an array of pairs: keys that are NaN, or
// pointers to equal values, are encoded alike.
func (n *mapping) encode(b []byte, p unsafe.Pointer) []byte {
	if *(*unsafe.Pointer)(p) == nil {
		return append(b, "null"...)
	}
	es := n.entries(p)
	object := true
	for i, x := range es {
		object = object && x.name[0] == '"' && (i == 0 || !bytes.Equal(x.name, es[i-1].name))
	}
	if object {
		b = append(b, '{')
		for i, x := range es {
			if i > 0 {
				b = append(b, ',')
			}
			b = n.elem.encode(append(append(b, x.name...), ':'), x.elem)
		}
		return append(b, '}')
	}
	b = append(b, '[')
	for i, x := range es {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, '['), x.name...), ',')
		b = append(n.elem.encode(b, x.elem), ']')
	}
	return append(b, ']')
}

func (n *mapping) decode(v any, p unsafe.Pointer) error {
	var pairs [][2]any
	switch v := v.(type) {
	case nil:
		*(*unsafe.Pointer)(p) = nil
		return nil
	case map[string]any:
		for k, x := range v {
			pairs = append(pairs, [2]any{k, x})
		}
	case []any:
		for _, x := range v {
			pair, ok := x.([]any)
			if !ok || len(pair) != 2 {
				return mismatch("a pair of key and element", x)
			}
			pairs = append(pairs, [2]any{pair[0], pair[1]})
		}
	default:
		return mismatch("an object or an array of pairs", v)
	}
	var es []entry
	for _, x := range pairs {
		e := entry{key: n.key.about().alloc(1), elem: n.elem.about().alloc(1)}
		if err := n.key.decode(x[0], e.key); err != nil {
			return fmt.Errorf("key %v: %w", x[0], err)
		}
		if err := n.elem.decode(x[1], e.elem); err != nil {
			return fmt.Errorf("element %v: %w", x[0], err)
		}
		es = append(es, e)
	}
	*(*unsafe.Pointer)(p) = n.build(es)
	return nil
}

func (n *mapping) pack(b []byte, p unsafe.Pointer) []byte {
	m := n.value(p)
	b = packLen(b, m.Len(), m.IsNil())
	if m.Len() == 0 {
		return b
	}
	k, v := n.key.about().alloc(1), n.elem.about().alloc(1)
	for it := m.MapRange(); it.Next(); { // in any order, since packed values are never compared
		n.key.about().at(k).SetIterKey(it)
		n.elem.about().at(v).SetIterValue(it)
		b = n.elem.pack(n.key.pack(b, k), v)
	}
	return b
}

func (n *mapping) unpack(b []byte, p unsafe.Pointer) ([]byte, error) {
	size, isNil, b, err := unpackLen(b)
	if err != nil || isNil {
		return b, err
	}
	var es []entry
	for range size {
		x := entry{key: n.key.about().alloc(1), elem: n.elem.about().alloc(1)}
		if b, err = n.key.unpack(b, x.key); err != nil {
			return b, err
		}
		if b, err = n.elem.unpack(b, x.elem); err != nil {
			return b, err
		}
		es = append(es, x)
	}
	*(*unsafe.Pointer)(p) = n.build(es)
	return b, nil
}

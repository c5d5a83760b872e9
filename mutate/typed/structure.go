package typed

import (
	"fmt"
	"math"
	"reflect"
	"strconv"
	"unsafe"
)

// field is a part of a structure.
type field struct {
	name   string
	offset uintptr
	node   node
}

// structure is the node of a struct, an array, or a complex number: a fixed number of parts at fixed offsets.
type structure struct {
	info
	fields []field
	named  bool // a struct
}

func newStructure(t reflect.Type) *structure {
	return &structure{info: newInfo(t), named: t.Kind() == reflect.Struct}
}

func (n *structure) walk(w *walk, p unsafe.Pointer) (c float64) {
	at := w.add(n, p) // a place, since it may be replaced as a whole
	for i := range n.fields {
		f := &n.fields[i]
		c += f.node.walk(w, unsafe.Add(p, f.offset))
	}
	return w.end(at, max(c, unit))
}

func (n *structure) bounds(b *bounding) (l limits) {
	for i := range n.fields {
		f := b.of(n.fields[i].node)
		l.min, l.max, l.space = l.min+f.min, l.max+f.max, l.space+f.space
	}
	l.min, l.max = max(l.min, unit), max(l.max, unit)
	return l
}

func (n *structure) generate(e *Editor, p unsafe.Pointer, budget float64) {
	spare := max(budget-n.min, 0)
	for i := range n.fields {
		f := &n.fields[i]
		f.node.generate(e, unsafe.Add(p, f.offset), f.node.about().min+spare/float64(len(n.fields)))
	}
}

// change makes a new value, or swaps two parts with the same node.
func (n *structure) change(e *Editor, p unsafe.Pointer) {
	if len(n.fields) < 2 || e.r.IntN(4) > 0 {
		e.replaceBlock(n, p)
		return
	}
	a, b := &n.fields[e.r.IntN(len(n.fields))], &n.fields[e.r.IntN(len(n.fields))]
	if a == b || a.node != b.node {
		return
	}
	i := a.node.about()
	e.saveBlock(&n.info, p)
	old := e.log[len(e.log)-1].slice.p
	i.move(unsafe.Add(p, a.offset), unsafe.Add(old, b.offset), 1)
	i.move(unsafe.Add(p, b.offset), unsafe.Add(old, a.offset), 1)
}

func (n *structure) steps(*Editor, unsafe.Pointer) int { return 0 }

func (n *structure) step(*Editor, unsafe.Pointer, int) {}

// Simplification replaces a structure by the simplest one, or by one that it contains.

func (n *structure) simpler(*Editor, unsafe.Pointer) int {
	if math.IsInf(n.max, 1) { // the type may be recursive
		return 1 + promotedChildren
	}
	return 1
}

func (n *structure) simplify(e *Editor, p unsafe.Pointer, k int) {
	if k > 0 {
		if below := e.below(n, p, k-1); below != nil {
			e.saveBlock(&n.info, p)
			n.move(p, below, 1)
		}
		return
	}
	e.saveBlock(&n.info, p)
	n.at(p).SetZero()
	e.first(n, p)
}

// Ignored fields are not copied: what runs is what can be saved.
func (n *structure) copy(dst, src unsafe.Pointer) {
	if n.plain {
		n.move(dst, src, 1)
		return
	}
	for i := range n.fields {
		f := &n.fields[i]
		f.node.copy(unsafe.Add(dst, f.offset), unsafe.Add(src, f.offset))
	}
}

func (n *structure) check(p unsafe.Pointer, depth int) error {
	for i := range n.fields {
		f := &n.fields[i]
		if err := f.node.check(unsafe.Add(p, f.offset), depth); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	return nil
}

func (n *structure) encode(b []byte, p unsafe.Pointer) []byte {
	open, shut := byte('{'), byte('}')
	if !n.named {
		open, shut = '[', ']'
	}
	b = append(b, open)
	for i := range n.fields {
		f := &n.fields[i]
		if i > 0 {
			b = append(b, ',')
		}
		if n.named {
			b = append(strconv.AppendQuote(b, f.name), ':')
		}
		b = f.node.encode(b, unsafe.Add(p, f.offset))
	}
	return append(b, shut)
}

// decode sets missing fields to their simplest values, so that a corpus can still be read after fields were added.
func (n *structure) decode(v any, p unsafe.Pointer) error {
	if !n.named {
		items, ok := v.([]any)
		if !ok || len(items) != len(n.fields) {
			return mismatch(fmt.Sprintf("an array of %d", len(n.fields)), v)
		}
		for i := range n.fields {
			if err := n.fields[i].node.decode(items[i], unsafe.Add(p, n.fields[i].offset)); err != nil {
				return fmt.Errorf("element %d: %w", i, err)
			}
		}
		return nil
	}
	members, ok := v.(map[string]any)
	if !ok {
		return mismatch("an object", v)
	}
	used := 0
	for i := range n.fields {
		f := &n.fields[i]
		m, ok := members[f.name]
		if !ok {
			new(Editor).first(f.node, unsafe.Add(p, f.offset))
			continue
		}
		used++
		if err := f.node.decode(m, unsafe.Add(p, f.offset)); err != nil {
			return fmt.Errorf("%s: %w", f.name, err)
		}
	}
	if used < len(members) {
		return fmt.Errorf("%v has no field %q", n.typ, n.unknown(members))
	}
	return nil
}

// unknown returns the first member, in sorted order, that is not a field.
func (n *structure) unknown(members map[string]any) (first string) {
	known := map[string]bool{}
	for i := range n.fields {
		known[n.fields[i].name] = true
	}
	for name := range members {
		if !known[name] && (first == "" || name < first) {
			first = name
		}
	}
	return first
}

func (n *structure) pack(b []byte, p unsafe.Pointer) []byte {
	for i := range n.fields {
		b = n.fields[i].node.pack(b, unsafe.Add(p, n.fields[i].offset))
	}
	return b
}

func (n *structure) unpack(b []byte, p unsafe.Pointer) (_ []byte, err error) {
	for i := range n.fields {
		if b, err = n.fields[i].node.unpack(b, unsafe.Add(p, n.fields[i].offset)); err != nil {
			return b, err
		}
	}
	return b, nil
}

// arrayOf returns the parts of an array.
func (n *structure) arrayOf(elem node, count int) {
	for i := range count {
		n.fields = append(n.fields, field{strconv.Itoa(i), uintptr(i) * elem.about().size, elem})
	}
}

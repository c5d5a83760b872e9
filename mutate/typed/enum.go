package typed

import (
	"fmt"
	"math"
	"reflect"
	"unsafe"
)

// enum is the node of a type with a few values, the simplest first. The type contains no pointers except those of strings.
type enum struct {
	info
	values []unsafe.Pointer
	base   node // of the type, which encodes and decodes the values
	index  func(p unsafe.Pointer) int
}

func (n *enum) walk(w *walk, p unsafe.Pointer) float64 {
	return w.leaf(n, p, 1+unit*float64(max(n.index(p), 0)))
}

func (n *enum) bounds(*bounding) limits {
	return limits{1, 1 + unit*float64(len(n.values)-1), math.Log2(float64(len(n.values)))}
}

func (n *enum) put(e *Editor, p unsafe.Pointer, k int) {
	switch {
	case n.typ.Kind() == reflect.String:
		e.setString(p, *(*string)(n.values[k]))
	case n.flat && (n.size == 1 || n.size == 2 || n.size == 4 || n.size == 8):
		e.setBits(p, n.size, load(n.values[k], n.size))
	default:
		e.saveBlock(&n.info, p)
		n.move(p, n.values[k], 1)
	}
}

func (n *enum) generate(e *Editor, p unsafe.Pointer, _ float64) {
	n.move(p, n.values[e.r.IntN(len(n.values))], 1)
}

func (n *enum) change(e *Editor, p unsafe.Pointer) {
	if len(n.values) < 2 {
		return
	}
	k := e.r.IntN(len(n.values) - 1)
	if k >= n.index(p) && n.index(p) >= 0 {
		k++
	}
	n.put(e, p, k)
}

func (n *enum) steps(*Editor, unsafe.Pointer) int { return len(n.values) }

func (n *enum) step(e *Editor, p unsafe.Pointer, k int) { n.put(e, p, k) }

func (n *enum) simpler(_ *Editor, p unsafe.Pointer) int { return max(n.index(p), 0) }

func (n *enum) simplify(e *Editor, p unsafe.Pointer, k int) { n.put(e, p, k) }

func (n *enum) copy(dst, src unsafe.Pointer) { n.move(dst, src, 1) }

func (n *enum) check(p unsafe.Pointer, _ int) error {
	if n.index(p) < 0 {
		return fmt.Errorf("%v is none of the %d values", n.at(p), len(n.values))
	}
	return nil
}

func (n *enum) encode(b []byte, p unsafe.Pointer) []byte { return n.base.encode(b, p) }

func (n *enum) decode(v any, p unsafe.Pointer) error { return n.base.decode(v, p) }

func (n *enum) pack(b []byte, p unsafe.Pointer) []byte { return n.base.pack(b, p) }

func (n *enum) unpack(b []byte, p unsafe.Pointer) ([]byte, error) { return n.base.unpack(b, p) }

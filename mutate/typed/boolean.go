package typed

import (
	"fmt"
	"reflect"
	"unsafe"
)

type boolean struct{ info }

func newBoolean(t reflect.Type) *boolean {
	n := &boolean{newInfo(t)}
	n.flat, n.plain = true, true
	return n
}

func (n *boolean) walk(w *walk, p unsafe.Pointer) float64 {
	c := 1.0
	if *(*bool)(p) {
		c += unit
	}
	return w.leaf(n, p, c)
}

func (n *boolean) bounds(*bounding) limits { return limits{1, 1 + unit, 1} }

func (n *boolean) generate(e *Editor, p unsafe.Pointer, _ float64) { *(*bool)(p) = e.r.IntN(2) == 0 }

func (n *boolean) change(e *Editor, p unsafe.Pointer) { e.setBits(p, 1, load(p, 1)^1) }

func (n *boolean) steps(*Editor, unsafe.Pointer) int { return 1 }

func (n *boolean) step(e *Editor, p unsafe.Pointer, _ int) { n.change(e, p) }

func (n *boolean) simpler(_ *Editor, p unsafe.Pointer) int { return int(load(p, 1)) }

func (n *boolean) simplify(e *Editor, p unsafe.Pointer, _ int) { e.setBits(p, 1, 0) }

func (n *boolean) copy(dst, src unsafe.Pointer) { *(*bool)(dst) = *(*bool)(src) }

func (n *boolean) check(unsafe.Pointer, int) error { return nil }

func (n *boolean) encode(b []byte, p unsafe.Pointer) []byte { return fmt.Append(b, *(*bool)(p)) }

func (n *boolean) decode(v any, p unsafe.Pointer) error {
	x, ok := v.(bool)
	if !ok {
		return mismatch("true or false", v)
	}
	*(*bool)(p) = x
	return nil
}

func (n *boolean) pack(b []byte, p unsafe.Pointer) []byte { return packBits(b, p, 1) }

func (n *boolean) unpack(b []byte, p unsafe.Pointer) ([]byte, error) {
	b, err := unpackBits(b, p, 1)
	if err == nil && load(p, 1) > 1 {
		return b, errPacked
	}
	return b, err
}

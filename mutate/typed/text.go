package typed

import (
	"fmt"
	"math"
	"reflect"
	"strings"
	"unicode/utf8"
	"unsafe"
)

// text is the node of a string, or a slice of bytes, between two lengths.
type text struct {
	info
	bytes    bool // a slice of bytes
	utf8     bool
	min, max int
	grammar  *Grammar // that the text must match; nil: any text
}

func newText(t reflect.Type) *text {
	n := &text{info: newInfo(t), bytes: t.Kind() == reflect.Slice, max: math.MaxInt}
	n.plain = !n.bytes
	return n
}

// get returns the bytes, which must not be modified.
func (n *text) get(p unsafe.Pointer) []byte {
	if n.bytes {
		return *(*[]byte)(p)
	}
	s := *(*string)(p)
	return unsafe.Slice(unsafe.StringData(s), len(s))
}

// set stores a copy of b if it is allowed.
func (n *text) set(e *Editor, p unsafe.Pointer, b []byte) {
	if len(b) > n.max {
		b = b[:n.max]
	}
	if n.utf8 && !utf8.Valid(b) { // possibly because it was truncated; the replacement is not longer than the invalid bytes
		b = []byte(strings.ToValidUTF8(string(b), "?"))
	}
	for len(b) < n.min {
		b = append(b, '0')
	}
	if n.grammar != nil && !n.grammar.match(string(b)) {
		return
	}
	if added := len(b) - len(n.get(p)); added > largeText {
		e.growth = growthLarge
	} else {
		e.growth = max(e.growth, growthText)
	}
	if n.bytes {
		c := append(make([]byte, 0, len(b)), b...)
		e.setSlice(p, *(*header)(unsafe.Pointer(&c)))
		return
	}
	e.setString(p, string(b))
}

// byteCost makes digits simplest, followed by letters and other printable characters.
func byteCost(c byte) float64 {
	switch {
	case c == '0':
		return 1
	case c >= 'a' && c <= 'z' || c >= '1' && c <= '9':
		return 1 + 1*unit
	case c >= 'A' && c <= 'Z':
		return 1 + 2*unit
	case c >= ' ' && c <= '~':
		return 1 + 3*unit
	}
	return 1 + 4*unit
}

func (n *text) walk(w *walk, p unsafe.Pointer) float64 {
	c := 1.0
	for _, b := range n.get(p) {
		c += byteCost(b)
	}
	if n.bytes && *(*unsafe.Pointer)(p) != nil {
		c += unit
	}
	return w.leaf(n, p, c)
}

func (n *text) bounds(*bounding) limits {
	l := limits{1 + float64(n.min), math.Inf(1), math.Inf(1)}
	if n.max < math.MaxInt {
		l.max, l.space = 1+float64(n.max)*(1+4*unit), sequences(8, n.min, n.max, n.bytes)
	}
	if n.grammar != nil {
		l.min = 1 + float64(len(n.grammar.shortest()))
	}
	return l
}

func (n *text) generate(e *Editor, p unsafe.Pointer, budget float64) {
	var b []byte
	switch size := n.room(budget); {
	case n.grammar != nil:
		b = n.grammar.generate(e.r, size)
	case e.r.IntN(4) == 0 && len(e.texts) > 0:
		b = []byte(e.texts[e.r.IntN(len(e.texts))])
	default:
		b = make([]byte, n.min+e.r.IntN(1+e.r.IntN(1+max(size-n.min, 0))))
		for i := range b {
			b[i] = byte(' ' + e.r.IntN(95))
			if e.r.IntN(16) == 0 && !n.utf8 {
				b[i] = byte(e.r.Uint32())
			}
		}
	}
	mark := len(e.log)
	n.set(e, p, b)
	e.log = e.log[:mark] // the memory is new and need not be restored
}

// room returns the maximum length of a text within a budget of complexity.
func (n *text) room(budget float64) int { return min(n.max, max(n.min, int(min(budget-1, 64)))) }

func (n *text) change(e *Editor, p unsafe.Pointer) {
	old := n.get(p)
	if n.grammar != nil {
		n.set(e, p, n.grammar.mutate(e.r, string(old), n.room(e.room)))
		return
	}
	switch r := e.r; {
	case r.IntN(8) == 0:
		if other, ok := e.otherText(p); ok {
			n.set(e, p, other)
			return
		}
	case len(e.texts) > 0 && r.IntN(8) == 0:
		word, at := e.texts[r.IntN(len(e.texts))], r.IntN(len(old)+1)
		n.set(e, p, append(append(append([]byte{}, old[:at]...), word...), old[at:]...))
		return
	case len(old) == 0 && n.bytes && n.min == 0 && r.IntN(4) == 0: // nil or empty
		h := header{}
		if *(*unsafe.Pointer)(p) == nil {
			empty := []byte{}
			h = *(*header)(unsafe.Pointer(&empty))
		}
		e.setSlice(p, h)
		return
	}
	e.scratch = e.bytes.Mutate(e.r, e.scratch, old)
	if len(e.scratch) > len(old) && float64(len(e.scratch)-len(old)) > e.room {
		e.scratch = e.scratch[:len(old)]
	}
	n.set(e, p, e.scratch)
}

const textSteps = 64 // ordered changes of a text, in addition to those with words of the dictionary

func (n *text) steps(e *Editor, _ unsafe.Pointer) int {
	if n.grammar != nil {
		return 0
	}
	return 1 + len(e.texts) + textSteps
}

func (n *text) step(e *Editor, p unsafe.Pointer, k int) {
	switch {
	case k == 0:
		n.set(e, p, nil)
	case k <= len(e.texts):
		n.set(e, p, []byte(e.texts[k-1]))
	default:
		out, ok := e.bytes.Step(uint64(k-1-len(e.texts)), e.scratch, n.get(p))
		if ok {
			e.scratch = out
			n.set(e, p, out)
		}
	}
}

// Simplification removes pieces, halves first, and then makes bytes plain.

func (n *text) simpler(_ *Editor, p unsafe.Pointer) int {
	size := len(n.get(p))
	if n.grammar != nil {
		return n.grammar.simpler(string(n.get(p)))
	}
	return pieces(size) + size
}

func (n *text) simplify(e *Editor, p unsafe.Pointer, k int) {
	old := n.get(p)
	if n.grammar != nil {
		n.set(e, p, n.grammar.simplify(string(old), k))
		return
	}
	if from, to, ok := piece(len(old), k); ok {
		n.set(e, p, append(append([]byte{}, old[:from]...), old[to:]...))
		return
	}
	at := k - pieces(len(old))
	b := append([]byte{}, old...)
	b[at] = '0'
	n.set(e, p, b)
}

// pieces returns the number of pieces of a sequence: itself, its halves, quarters, and so on down to single elements.
func pieces(n int) (count int) {
	for size := n; size > 0; size /= 2 {
		count += (n + size - 1) / size
	}
	return count
}

// piece returns piece k, the largest first.
func piece(n, k int) (from, to int, ok bool) {
	for size := n; size > 0; size /= 2 {
		if c := (n + size - 1) / size; k >= c {
			k -= c
			continue
		}
		return k * size, min(k*size+size, n), true
	}
	return 0, 0, false
}

func (n *text) copy(dst, src unsafe.Pointer) {
	if n.bytes {
		if b := *(*[]byte)(src); b != nil {
			*(*[]byte)(dst) = append(make([]byte, 0, len(b)), b...)
		}
		return
	}
	*(*string)(dst) = *(*string)(src)
}

func (n *text) check(p unsafe.Pointer, _ int) error {
	b := n.get(p)
	switch {
	case len(b) < n.min || len(b) > n.max:
		return fmt.Errorf("a length of %d is not between %d and %d", len(b), n.min, n.max)
	case n.utf8 && !utf8.Valid(b):
		return fmt.Errorf("%q is not valid UTF-8", b)
	case n.grammar != nil && !n.grammar.match(string(b)):
		return fmt.Errorf("%q does not match the grammar", b)
	}
	return nil
}

func (n *text) encode(b []byte, p unsafe.Pointer) []byte {
	if n.bytes && *(*unsafe.Pointer)(p) == nil {
		return append(b, "null"...)
	}
	return appendText(b, n.get(p))
}

func (n *text) decode(v any, p unsafe.Pointer) error {
	if n.bytes && v == nil {
		*(*[]byte)(p) = nil
		return nil
	}
	s, err := parseText(v)
	if err != nil {
		return err
	}
	if n.bytes {
		*(*[]byte)(p) = append(make([]byte, 0, len(s)), s...)
	} else {
		*(*string)(p) = s
	}
	return nil
}

func (n *text) pack(b []byte, p unsafe.Pointer) []byte {
	t := n.get(p)
	return append(packLen(b, len(t), n.bytes && *(*unsafe.Pointer)(p) == nil), t...)
}

func (n *text) unpack(b []byte, p unsafe.Pointer) ([]byte, error) {
	size, isNil, b, err := unpackLen(b)
	if err != nil || size > len(b) {
		return b, errPacked
	}
	if n.bytes {
		if !isNil {
			*(*[]byte)(p) = append(make([]byte, 0, size), b[:size]...)
		}
	} else {
		*(*string)(p) = string(b[:size])
	}
	return b[size:], nil
}

package typed

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strconv"
	"time"
	"unsafe"
)

// integer is the node of an integer between two bounds, or of a time.Duration.
type integer struct {
	info
	signed   bool
	low      uint64 // the smallest value, extended to 64 bits
	span     uint64 // the largest value minus the smallest
	base     uint64 // the simplest value: 0, or the bound closest to it
	duration bool
}

func newInteger(t reflect.Type) *integer {
	n := &integer{info: newInfo(t), duration: t == reflect.TypeFor[time.Duration]()}
	n.flat, n.plain = true, true
	bits := uint(n.size * 8)
	n.span = math.MaxUint64 >> (64 - bits)
	if n.signed = t.Kind() >= reflect.Int && t.Kind() <= reflect.Int64; n.signed {
		n.low = -(uint64(1) << (bits - 1))
	}
	return n
}

// within narrows the range. The bounds are extended to 64 bits.
func (n *integer) within(low, high uint64) error {
	if n.less(high, low) {
		return fmt.Errorf("the range of %v from %s to %s is empty", n.typ, n.text(low), n.text(high))
	}
	if low-n.low > n.span || high-n.low > n.span {
		return fmt.Errorf("%v cannot hold the range from %s to %s", n.typ, n.text(low), n.text(high))
	}
	n.low, n.span, n.base = low, high-low, 0
	switch {
	case 0-low <= n.span: // the range contains 0
	case n.less(0, low):
		n.base = low
	default:
		n.base = high
	}
	return nil
}

func (n *integer) less(a, b uint64) bool {
	if n.signed {
		return int64(a) < int64(b)
	}
	return a < b
}

func (n *integer) text(x uint64) string {
	if n.signed {
		return strconv.FormatInt(int64(x), 10)
	}
	return strconv.FormatUint(x, 10)
}

func (n *integer) load(p unsafe.Pointer) uint64 { return n.extend(load(p, n.size)) }

func (n *integer) extend(x uint64) uint64 {
	if n.signed {
		shift := 64 - n.size*8
		return uint64(int64(x<<shift) >> shift)
	}
	return x
}

// set stores x, clamped to the range.
func (n *integer) set(e *Editor, p unsafe.Pointer, x uint64) { e.setBits(p, n.size, n.fit(x)) }

func (n *integer) fit(x uint64) uint64 {
	if off := n.extend(x) - n.low; off > n.span {
		return n.low + off%(n.span+1)
	}
	return n.extend(x)
}

// distance returns the absolute difference of x and the simplest value.
func (n *integer) distance(x uint64) uint64 {
	if n.less(x, n.base) {
		return n.base - x
	}
	return x - n.base
}

func (n *integer) walk(w *walk, p unsafe.Pointer) float64 {
	return w.leaf(n, p, 1+float64(bits.Len64(n.distance(n.load(p))))/8)
}

func (n *integer) bounds(*bounding) limits {
	far := max(n.distance(n.low), n.distance(n.low+n.span))
	return limits{1, 1 + float64(bits.Len64(far))/8, math.Log2(float64(n.span) + 1)}
}

// random returns a value whose distance from the simplest has a random number of bits: small distances are as likely as large ones.
func (n *integer) random(e *Editor) uint64 {
	if n.span < 256 {
		return n.low + e.r.Uint64N(n.span+1)
	}
	x := e.r.Uint64() >> (64 - 1 - e.r.IntN(int(n.size*8)))
	if n.signed && e.r.IntN(4) == 0 {
		x = -x
	}
	return n.fit(n.base + x)
}

func (n *integer) generate(e *Editor, p unsafe.Pointer, _ float64) { store(p, n.size, n.random(e)) }

func (n *integer) change(e *Editor, p unsafe.Pointer) {
	x, r := n.load(p), e.r
	switch r.IntN(8) {
	case 0, 1:
		d := 1 + r.Uint64N(1<<r.IntN(6))
		if r.IntN(2) == 0 {
			d = -d
		}
		x += d
	case 2:
		x ^= 1 << r.IntN(int(n.size*8))
	case 3:
		x = n.special(r.IntN(n.specials()))
	case 4:
		y, ok := e.otherInteger(p)
		if !ok {
			y = n.random(e)
		}
		x = y + uint64(r.IntN(3)) - 1
	case 5:
		if len(e.words) > 0 {
			x = e.words[r.IntN(len(e.words))]
			break
		}
		x = n.random(e)
	default:
		x = n.random(e)
	}
	n.set(e, p, x)
}

// special returns boundary values of programs.
func (n *integer) special(k int) uint64 {
	switch k {
	case 0:
		return n.base
	case 1:
		return n.low
	case 2:
		return n.low + n.span
	}
	k -= 3
	x := uint64(1) << (k / 3)
	return x + uint64(k%3) - 1
}

func (n *integer) specials() int { return 3 + 3*int(n.size*8) }

var near = [...]int64{1, -1, 2, -2, 4, -4, 8, -8, 16, -16}

func (n *integer) steps(e *Editor, _ unsafe.Pointer) int {
	if n.span < 32 {
		return int(n.span) + 1
	}
	return len(near) + 3 + int(n.size*8) + len(e.words)
}

func (n *integer) step(e *Editor, p unsafe.Pointer, k int) {
	x := n.load(p)
	switch {
	case n.span < 32:
		x = n.low + uint64(k)
	case k < len(near):
		x += uint64(near[k])
	case k < len(near)+3:
		x = n.special(k - len(near))
	case k < len(near)+3+int(n.size*8):
		x = 1 << (k - len(near) - 3)
	default:
		x = e.words[k-len(near)-3-int(n.size*8)]
	}
	n.set(e, p, x)
}

func (n *integer) simpler(_ *Editor, p unsafe.Pointer) int {
	if n.distance(n.load(p)) == 0 {
		return 0
	}
	return 3
}

func (n *integer) simplify(e *Editor, p unsafe.Pointer, k int) {
	x := n.load(p)
	d, neg := n.distance(x), n.less(x, n.base)
	d = [...]uint64{0, d / 256, d / 2}[k]
	if neg {
		d = -d
	}
	n.set(e, p, n.base+d)
}

func (n *integer) copy(dst, src unsafe.Pointer) { store(dst, n.size, load(src, n.size)) }

func (n *integer) check(p unsafe.Pointer, _ int) error {
	if x := n.load(p); x-n.low > n.span {
		return fmt.Errorf("%s is not between %s and %s", n.text(x), n.text(n.low), n.text(n.low+n.span))
	}
	return nil
}

func (n *integer) encode(b []byte, p unsafe.Pointer) []byte {
	if n.duration {
		return strconv.AppendQuote(b, time.Duration(n.load(p)).String())
	}
	return append(b, n.text(n.load(p))...)
}

func (n *integer) decode(v any, p unsafe.Pointer) error {
	if s, ok := v.(string); ok && n.duration {
		d, err := time.ParseDuration(s)
		if err != nil {
			return fmt.Errorf("reading a duration: %w", err)
		}
		store(p, n.size, uint64(d))
		return nil
	}
	x, err := number(v)
	if err != nil {
		return err
	}
	var bits uint64
	if n.signed {
		var i int64
		i, err = strconv.ParseInt(x, 10, int(n.size*8))
		bits = uint64(i)
	} else {
		bits, err = strconv.ParseUint(x, 10, int(n.size*8))
	}
	if err != nil {
		return fmt.Errorf("reading a number: %w", err)
	}
	store(p, n.size, bits)
	return nil
}

func (n *integer) pack(b []byte, p unsafe.Pointer) []byte { return packBits(b, p, n.size) }

func (n *integer) unpack(b []byte, p unsafe.Pointer) ([]byte, error) { return unpackBits(b, p, n.size) }

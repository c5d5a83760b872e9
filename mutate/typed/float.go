package typed

import (
	"fmt"
	"math"
	"math/bits"
	"reflect"
	"strconv"
	"strings"
	"unsafe"
)

// float is the node of a floating-point number between two bounds; without bounds it may be infinite or NaN.
type float struct {
	info
	low, high float64
}

func newFloat(t reflect.Type) *float {
	n := &float{info: newInfo(t), low: math.Inf(-1), high: math.Inf(1)}
	n.flat, n.plain = true, true
	return n
}

func (n *float) bounded() bool { return !math.IsInf(n.low, -1) || !math.IsInf(n.high, 1) }

func (n *float) load(p unsafe.Pointer) float64 {
	if n.size == 4 {
		return float64(*(*float32)(p))
	}
	return *(*float64)(p)
}

func (n *float) bits(x float64) uint64 {
	if n.size == 4 {
		return uint64(math.Float32bits(float32(x)))
	}
	return math.Float64bits(x)
}

func (n *float) fit(x float64) float64 {
	if n.bounded() && !(x >= n.low && x <= n.high) {
		return n.base()
	}
	return x
}

func (n *float) base() float64 { return min(max(0, n.low), n.high) }

func (n *float) set(e *Editor, p unsafe.Pointer, x float64) { e.setBits(p, n.size, n.bits(n.fit(x))) }

// complexity returns that of an integer for whole numbers, and more for others.
func (n *float) complexity(x float64) float64 {
	if x == n.base() && !math.Signbit(x) {
		return 1
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 10
	}
	if i := math.Abs(x); i == math.Trunc(i) && i < 1<<53 {
		c := 1 + float64(bits.Len64(uint64(i)))/8 + unit
		if math.Signbit(x) {
			c += unit
		}
		return c
	}
	if math.Trunc(x*256) == x*256 {
		return 8.5
	}
	return 9
}

func (n *float) walk(w *walk, p unsafe.Pointer) float64 { return w.leaf(n, p, n.complexity(n.load(p))) }

func (n *float) bounds(*bounding) limits { return limits{1, 10, float64(n.size * 8)} }

func (n *float) random(e *Editor) float64 {
	r := e.r
	if n.bounded() && !math.IsInf(n.low, 0) && !math.IsInf(n.high, 0) && r.IntN(2) == 0 {
		return n.low + r.Float64()*(n.high-n.low)
	}
	x := float64(r.Uint64() >> r.IntN(64))
	switch r.IntN(4) {
	case 0:
		x = math.Float64frombits(r.Uint64())
	case 1:
		x *= r.Float64()
	}
	if r.IntN(4) == 0 {
		x = -x
	}
	return n.fit(x)
}

func (n *float) generate(e *Editor, p unsafe.Pointer, _ float64) {
	store(p, n.size, n.bits(n.random(e)))
}

var floats = [...]float64{0, 1, -1, math.Copysign(0, -1), math.Inf(1), math.Inf(-1), math.NaN(), 0.5, 0.1, math.MaxFloat64, math.SmallestNonzeroFloat64,
	math.MaxFloat32, 1 << 53, math.MaxInt64, math.MinInt64}

func (n *float) special(k int) float64 {
	switch k {
	case len(floats):
		return n.low
	case len(floats) + 1:
		return n.high
	}
	return floats[k]
}

func (n *float) change(e *Editor, p unsafe.Pointer) {
	x, r := n.load(p), e.r
	switch r.IntN(7) {
	case 0:
		x += float64(1 + r.IntN(16))
	case 1:
		x -= float64(1 + r.IntN(16))
	case 2:
		x *= []float64{2, 10, 0.5, -1, 0.1}[r.IntN(5)]
	case 3:
		x = n.special(r.IntN(len(floats) + 2))
	case 4:
		x = math.Nextafter(x, math.Inf(1-2*r.IntN(2)))
	default:
		x = n.random(e)
	}
	n.set(e, p, x)
}

func (n *float) steps(*Editor, unsafe.Pointer) int { return len(floats) + 8 }

func (n *float) step(e *Editor, p unsafe.Pointer, k int) {
	x := n.load(p)
	switch k -= len(floats) + 2; k {
	case 0:
		x++
	case 1:
		x--
	case 2:
		x = -x
	case 3:
		x *= 2
	case 4:
		x /= 2
	case 5:
		x = math.Trunc(x)
	default:
		x = n.special(k + len(floats) + 2)
	}
	n.set(e, p, x)
}

func (n *float) simpler(_ *Editor, p unsafe.Pointer) int {
	if n.complexity(n.load(p)) <= 1 {
		return 0
	}
	return 4
}

func (n *float) simplify(e *Editor, p unsafe.Pointer, k int) {
	x := n.load(p)
	n.set(e, p, [...]float64{n.base(), math.Trunc(x), math.Trunc(x / 2), math.Abs(x)}[k])
}

func (n *float) copy(dst, src unsafe.Pointer) { store(dst, n.size, load(src, n.size)) }

func (n *float) check(p unsafe.Pointer, _ int) error {
	if x := n.load(p); n.bounded() && !(x >= n.low && x <= n.high) {
		return fmt.Errorf("%v is not between %v and %v", x, n.low, n.high)
	}
	return nil
}

// A NaN with other bits than those of math.NaN is written with them.
func (n *float) encode(b []byte, p unsafe.Pointer) []byte {
	x := n.load(p)
	if bits := load(p, n.size); math.IsNaN(x) && bits != n.bits(math.NaN()) {
		return fmt.Appendf(b, `"NaN(%#x)"`, bits)
	}
	if math.IsNaN(x) || math.IsInf(x, 0) {
		b = append(b, '"')
		b = strconv.AppendFloat(b, x, 'g', -1, 64)
		return append(b, '"')
	}
	return strconv.AppendFloat(b, x, 'g', -1, int(n.size*8))
}

func (n *float) decode(v any, p unsafe.Pointer) error {
	s, ok := v.(string)
	if !ok {
		var err error
		if s, err = number(v); err != nil {
			return err
		}
	}
	if digits, ok := strings.CutPrefix(s, "NaN("); ok {
		bits, err := strconv.ParseUint(strings.TrimSuffix(digits, ")"), 0, int(n.size*8))
		if err != nil {
			return fmt.Errorf("reading the bits of a NaN: %w", err)
		}
		store(p, n.size, bits)
		return nil
	}
	x, err := strconv.ParseFloat(s, int(n.size*8))
	if err != nil {
		return fmt.Errorf("reading a number: %w", err)
	}
	store(p, n.size, n.bits(x))
	return nil
}

func (n *float) pack(b []byte, p unsafe.Pointer) []byte { return packBits(b, p, n.size) }

func (n *float) unpack(b []byte, p unsafe.Pointer) ([]byte, error) { return unpackBits(b, p, n.size) }

package dialogue

import (
	"math"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// interesting are numbers at which programs break.
var interesting = [...]int64{0, 1, -1, 2, 7, 8, 9, 10, 15, 16, 31, 32, 63, 64, 100, 126, 127, 128, 129, 254, 255, 256, 257, 511, 512, 1000, 1023, 1024, 1025,
	4095, 4096, 4097, 8191, 8192, 16383, 16384, 16385, 32766, 32767, 32768, 65534, 65535, 65536, 65537, 1<<20 - 1, 1 << 20, 1<<24 - 1, 1 << 24,
	math.MaxInt32 - 1, math.MaxInt32, 1 << 31, math.MaxUint32 - 1, math.MaxUint32, 1 << 32, math.MaxInt64, math.MinInt64, math.MinInt32, -128, -32768}

// badDigits are what programs that read numbers in text trip over.
var badDigits = [...]string{"", "-1", "+1", " 1", "1 ", "0x10", "1e9", "1.5", "00000000000000000000", "4294967295", "4294967296", "-2147483649",
	"18446744073709551615", "18446744073709551616", "99999999999999999999999999999999", "\x00", "%d", "one"}

// badTexts are what programs that read texts trip over.
var badTexts = [...]string{"", "\x00", "\r\n", "\n", "\r", "\r\n\r\n", " ", "\t", "%s%s%s%s%s%n", "%x%x%x%x", "../../../../../../etc/passwd", "..", "/", "//", "\\", ".", "*",
	"?", "~", "'", "\"", "`", "<", ">", "|", ";", "$(id)", "${1}", "\xff\xfe", "\xc0\x80", "\xed\xa0\x80", "\xff", "\u202e", "a\x00b", "-1", "0", "2147483648", "@", ":", "#", "&"}

// sizes are lengths at which buffers end.
var sizes = [...]int{1, 2, 4, 8, 15, 16, 17, 31, 32, 33, 63, 64, 65, 127, 128, 129, 254, 255, 256, 257, 511, 512, 513, 1000, 1023, 1024, 1025, 2047, 2048, 2049, 4095, 4096,
	4097, 8191, 8192, 8193, 16383, 16384, 32767, 32768, 65534, 65535, 65536}

// drawSize draws a length: half of them are up to 64.
func drawSize(r *teasel.Rand) int {
	if r.IntN(2) == 0 {
		return 1 + r.IntN(64)
	}
	return sizes[r.IntN(len(sizes))]
}

// limitOf returns the largest value that a number may have without a sign.
func limitOf(t *model.Tree, i int) uint64 {
	n := &t.Nodes[i]
	switch f := n.Field; f.Kind {
	case model.Varint:
		return f.Varint.Limit()
	case model.Digits:
		if w := n.End - n.Start; w <= 8*9 {
			return uint64(math.Pow10(max(int(w/8), 1))) - 1
		}
		return math.MaxInt64
	}
	if w := n.End - n.Start; w < 64 {
		return 1<<w - 1
	}
	return math.MaxUint64
}

// changeNumber writes another value into a number.
func (m *Mutator) changeNumber(r *teasel.Rand, op Operator, t *model.Tree, i int) bool {
	f := t.Nodes[i].Field
	v, _ := t.Number(i)
	switch op {
	case OpBoundary:
		limit := boundary(limitOf(t, i), r.IntN(boundaries))
		if r.IntN(2) == 0 { // programs add something to it before they compare
			limit += int64(r.IntN(33)) - 16
		}
		return t.SetNumber(i, limit)
	case OpArithmetic:
		switch x := int64(1 + r.IntN(35)); r.IntN(6) {
		case 0, 1:
			v += x
		case 2, 3:
			v -= x
		case 4:
			v *= 2
		default:
			v /= 2
		}
		return t.SetNumber(i, v)
	}
	if f.Kind == model.Digits && r.IntN(3) == 0 {
		return m.put(t, i, []byte(badDigits[r.IntN(len(badDigits))]))
	}
	if known := m.known(f); len(known) > 0 && r.IntN(8) > 0 {
		v = known[r.IntN(len(known))].Value
		if r.IntN(10) < 3 { // a neighbour, which the server may not know
			v += 1 - 2*int64(r.IntN(2))
		}
		return t.SetNumber(i, v)
	}
	if r.IntN(2) == 0 {
		return t.SetNumber(i, int64(r.Uint64()&limitOf(t, i)))
	}
	return t.SetNumber(i, interesting[r.IntN(len(interesting))])
}

// known returns the values that have names.
func (m *Mutator) known(f *model.Field) []model.EnumValue {
	if f.Enum == nil {
		return nil
	}
	return f.Enum.Values
}

const boundaries = 14

// boundary is the k-th limit of a number whose largest value is top, as 64 bits with or without a sign.
func boundary(top uint64, k int) int64 { return int64(boundaryOf(top, k)) }

func boundaryOf(top uint64, k int) uint64 {
	switch k { // the likeliest first
	case 0:
		return top
	case 1:
		return 0
	case 2:
		return 1
	case 3:
		return top - 1
	case 4:
		return top / 2
	case 5:
		return top/2 + 1
	case 6:
		return top/2 - 1
	case 7:
		return 2
	case 8:
		return top / 4
	case 9:
		return top/4 + 1
	case 10:
		return top >> 8
	case 11:
		return top>>8 + 1
	case 12:
		return min(top, 127)
	}
	return min(top, 128)
}

// changeBytes writes another value into bytes or text.
func (m *Mutator) changeBytes(r *teasel.Rand, op Operator, t *model.Tree, i int) bool {
	old := t.Bytes(i)
	switch op {
	case OpBoundary:
		n := 0
		if r.IntN(4) > 0 {
			n = sizes[r.IntN(len(sizes))]
		}
		m.buf = fit(r, m.buf[:0], old, n)
		return m.put(t, i, m.buf)
	case OpArithmetic:
		if len(old) == 0 {
			return false
		}
		if n, err := strconv.Atoi(string(old)); err == nil && len(old) < 18 {
			m.buf = strconv.AppendInt(m.buf[:0], int64(n)+int64(r.IntN(71))-35, 10)
			return m.put(t, i, m.buf)
		}
		old[r.IntN(len(old))] += byte(1 + r.IntN(35))
		return true
	}
	if numeric(old) && r.IntN(2) == 0 {
		digits := badDigits[r.IntN(len(badDigits))]
		if r.IntN(2) == 0 {
			digits = strconv.FormatInt(interesting[r.IntN(len(interesting))], 10)
		}
		return m.put(t, i, []byte(digits))
	}
	text := badTexts[r.IntN(len(badTexts))]
	if m.Dictionary.Len() > 0 && r.IntN(2) == 0 {
		text = m.Dictionary.Token(r)
	}
	switch r.IntN(3) {
	case 0:
		m.buf = append(m.buf[:0], text...)
	case 1:
		m.buf = append(append(m.buf[:0], old...), text...)
	default:
		at := r.IntN(len(old) + 1)
		m.buf = append(append(append(m.buf[:0], old[:at]...), text...), old[at:]...)
	}
	return m.put(t, i, m.buf)
}

// fit makes old n bytes long: it is cut, or repeated, or filled up with one of its bytes, which may be a separator, or another one.
func fit(r *teasel.Rand, dst, old []byte, n int) []byte {
	dst = append(dst, old[:min(len(old), n)]...)
	pattern := []byte{[...]byte{'A', 0, 0xff, ' ', '0'}[r.IntN(5)]}
	if len(old) > 0 {
		switch r.IntN(4) {
		case 0:
			pattern = old
		case 1:
			pattern[0] = old[r.IntN(len(old))]
		}
	}
	return repeat(dst, pattern, n-len(dst))
}

// repeat appends n bytes: as many patterns as that takes, the last one cut.
func repeat(dst, pattern []byte, n int) []byte {
	for n > 0 {
		part := pattern[:min(len(pattern), n)]
		dst = append(dst, part...)
		n -= len(part)
	}
	return dst
}

// grown returns how much is added to a text of a length. A size at which buffers end, or what a length field can say, is that of
// the whole: with the old text it would be too long.
func grown(size, length int) int {
	if size > 64 && size > length {
		return size - length
	}
	return size
}

// resizeField makes bytes longer or shorter.
func (m *Mutator) resizeField(r *teasel.Rand, op Operator, t *model.Tree, i int) bool {
	old := t.Bytes(i)
	switch op {
	case OpExpand:
		n := grown(drawSize(r), len(old))
		at := r.IntN(len(old) + 1)
		m.buf = append(m.buf[:0], old[:at]...)
		m.buf = fit(r, m.buf, nil, at+n)
		if n <= 64 && r.IntN(2) == 0 {
			for k := at; k < at+n; k++ {
				m.buf[k] = byte(r.Uint32())
			}
		}
		m.buf = append(m.buf, old[at:]...)
	case OpShrink:
		if len(old) == 0 {
			return false
		}
		n := 1 + r.IntN(len(old))
		at := r.IntN(len(old) - n + 1)
		m.buf = append(append(m.buf[:0], old[:at]...), old[at+n:]...)
	default:
		pattern := old
		if len(old) > 1 {
			from := r.IntN(len(old))
			pattern = old[from : from+1+r.IntN(len(old)-from)]
		}
		if len(pattern) == 0 {
			pattern = []byte(badTexts[1+r.IntN(len(badTexts)-1)])
		}
		m.buf = repeat(append(m.buf[:0], old...), pattern, grown(max(drawSize(r), len(pattern)), len(old)))
	}
	return m.put(t, i, m.buf)
}

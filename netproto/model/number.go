package model

import (
	"math/bits"
	"strconv"
)

// readBits reads an integer of n bits, 64 at most, that begins at a bit.
func readBits(data []byte, at, n int, little bool) (v uint64) {
	if little {
		for i := range n {
			p := at + i
			v |= uint64(data[p>>3]>>(p&7)&1) << i
		}
		return v
	}
	for n > 0 {
		in := 8 - at&7 // bits that are left of this byte
		take := min(in, n)
		b := uint64(data[at>>3]) >> (in - take) & (1<<take - 1)
		v = v<<take | b
		at, n = at+take, n-take
	}
	return v
}

// writeBits writes the low n bits of v.
func writeBits(data []byte, at, n int, little bool, v uint64) {
	if little {
		for i := range n {
			p := at + i
			data[p>>3] = data[p>>3]&^(1<<(p&7)) | byte(v>>i&1)<<(p&7)
		}
		return
	}
	for n > 0 {
		in := 8 - at&7
		take := min(in, n)
		mask := byte(1<<take-1) << (in - take)
		b := byte(v>>(n-take)) << (in - take)
		data[at>>3] = data[at>>3]&^mask | b&mask
		at, n = at+take, n-take
	}
}

// readInt reads an integer of whole bytes.
func readInt(data []byte, little bool) (v uint64) {
	if little {
		for i := len(data) - 1; i >= 0; i-- {
			v = v<<8 | uint64(data[i])
		}
		return v
	}
	for _, b := range data {
		v = v<<8 | uint64(b)
	}
	return v
}

// writeInt writes the low bits of v over data.
func writeInt(data []byte, little bool, v uint64) {
	for i := range data {
		at := i
		if !little {
			at = len(data) - 1 - i
		}
		data[at] = byte(v)
		v >>= 8
	}
}

// signExtend makes a number of 64 bits of the low n ones.
func signExtend(v uint64, n int) int64 { return int64(v<<(64-n)) >> (64 - n) }

// varintLen returns how many bytes a varint at the start of data has; 0: it does not end, -1: it is malformed.
func (f VarintForm) varintLen(data []byte) int {
	if len(data) == 0 {
		return 0
	}
	n := 0
	switch f {
	case QUICInt:
		n = 1 << (data[0] >> 6)
	case ASN1Len:
		n = 1
		if data[0]&0x80 != 0 {
			n += int(data[0] & 0x7f)
		}
		if n > 9 {
			return -1
		}
	default:
		limit := 10
		if f == MQTTInt {
			limit = 4
		}
		for n < limit {
			if n == len(data) {
				return 0
			}
			n++
			if data[n-1]&0x80 == 0 {
				return n
			}
		}
		return -1
	}
	if n > len(data) {
		return 0
	}
	return n
}

// read returns the value of a whole varint.
func (f VarintForm) read(data []byte) (v int64) {
	if len(data) == 0 {
		return 0
	}
	var u uint64
	switch f {
	case QUICInt:
		return int64(readInt(data, false) & (1<<(8*len(data)-2) - 1))
	case ASN1Len:
		if len(data) == 1 {
			return int64(data[0] & 0x7f)
		}
		return int64(readInt(data[1:], false))
	case VLQ:
		for _, b := range data {
			u = u<<7 | uint64(b&0x7f)
		}
		return int64(u)
	}
	for i, b := range data {
		u |= uint64(b&0x7f) << (7 * i)
	}
	switch f {
	case ZigZag:
		return int64(u>>1) ^ -int64(u&1)
	case SLEB128:
		if n := 7 * len(data); n < 64 {
			return signExtend(u, n)
		}
	}
	return int64(u)
}

// Limit returns the largest value of the form.
func (f VarintForm) Limit() uint64 {
	switch f {
	case MQTTInt:
		return 1<<28 - 1
	case QUICInt:
		return 1<<62 - 1
	case SLEB128, ZigZag:
		return 1<<63 - 1
	}
	return 1<<64 - 1
}

// write appends a value in its shortest form. What the form cannot express loses its high bits.
func (f VarintForm) write(dst []byte, v int64) []byte {
	u := uint64(v)
	switch f {
	case ZigZag:
		u = uint64(v)<<1 ^ uint64(v>>63)
	case SLEB128:
		for {
			b := byte(v & 0x7f)
			v >>= 7
			if v == 0 && b&0x40 == 0 || v == -1 && b&0x40 != 0 {
				return append(dst, b)
			}
			dst = append(dst, b|0x80)
		}
	case MQTTInt:
		u &= 1<<28 - 1
	case VLQ:
		n := max(1, (bits.Len64(u)+6)/7)
		for i := n - 1; i >= 0; i-- {
			b := byte(u>>(7*i)) & 0x7f
			if i > 0 {
				b |= 0x80
			}
			dst = append(dst, b)
		}
		return dst
	case QUICInt:
		u &= 1<<62 - 1
		size := 0
		for size < 3 && u >= 1<<(8<<size-2) {
			size++
		}
		var b [8]byte
		out := b[:1<<size]
		writeInt(out, false, u)
		out[0] |= byte(size) << 6
		return append(dst, out...)
	case ASN1Len:
		if u < 0x80 {
			return append(dst, byte(u))
		}
		n := (bits.Len64(u) + 7) / 8
		var b [8]byte
		writeInt(b[:n], false, u)
		return append(append(dst, 0x80|byte(n)), b[:n]...)
	}
	for u >= 0x80 {
		dst = append(dst, byte(u)|0x80)
		u >>= 7
	}
	return append(dst, byte(u))
}

// digitsLen returns how many bytes at the start of data are digits, a sign included.
func digitsLen(data []byte, base int) (n int) {
	if len(data) > 0 && data[0] == '-' {
		n = 1
	}
	for n < len(data) && isDigit(data[n], base) {
		n++
	}
	if n == 1 && data[0] == '-' {
		return 0
	}
	return n
}

func isDigit(c byte, base int) bool {
	switch {
	case c >= '0' && c <= '9':
		return int(c-'0') < base
	case c >= 'a' && c <= 'f', c >= 'A' && c <= 'F':
		return base == 16
	}
	return false
}

// readDigits returns the value of a text number; what is none is 0.
func readDigits(data []byte, base int) int64 {
	if len(data) > 24 {
		return 0
	}
	n, err := strconv.ParseInt(string(data), base, 64)
	if err != nil {
		return 0
	}
	return n
}

// writeDigits appends a text number of at least pad digits.
func writeDigits(dst []byte, v int64, base, pad int) []byte {
	var buf [68]byte
	text := strconv.AppendInt(buf[:0], v, base)
	for n := len(text); n < pad; n++ {
		dst = append(dst, '0')
	}
	return append(dst, text...)
}

package mutate

import (
	"math"
	"math/rand/v2"
	"strconv"
)

// interesting are numbers that often trigger bugs: limits of integer types and their neighbours, powers of two, common sizes. The
// numbers that fit a width are a prefix.
var interesting = [...]int64{
	0, 1, -1, 2, 7, 8, 10, 16, 32, 64, 100, 126, 127, -127, -128,
	128, -129, 255, 256, 257, 512, 1000, 1024, 4095, 4096, 8192, 10000, 16384, 32766, 32767, -32768,
	32768, -32769, 65534, 65535, 65536, 65537, 100000, 1 << 20, 1000000, 1 << 24, 1 << 30, 0x7f800000, math.MaxInt32 - 1, math.MaxInt32,
	math.MinInt32, math.MinInt32 + 1,
	1 << 31, math.MinInt32 - 1, math.MaxUint32 - 1, math.MaxUint32, 1 << 32, 1<<32 + 1, 1 << 40, 1<<53 - 1, 1 << 53, 1<<53 + 1, 1 << 62,
	0x7ff0000000000000, math.MaxInt64 - 1, math.MaxInt64, math.MinInt64, math.MinInt64 + 1,
}

// interestingBelow is how many of them fit an integer of 1 << i bytes.
var interestingBelow = [4]int{15, 31, 47, len(interesting)}

const maxArith = 35 // the largest number that the arithmetic operators add, as in AFL++

// An edit changes buf in place, growing it as append does, and returns false if it cannot be applied to this input. The result may
// equal the input. x holds 64 random bits, which suffice for most edits: the upper half determines the position, the low 12 bits
// small choices. (The bits between have selected the operator.)
type edit func(m *Bytes, r *rand.Rand, x uint64, buf, other []byte) ([]byte, bool)

// where returns a position below n, derived from x.
func where(x uint64, n int) int { return int(x >> 32 * uint64(n) >> 32) }

// small returns a number below n, derived from x; n must be far below 2,048.
func small(x uint64, n int) int { return int(x & 0x7ff * uint64(n) >> 11) }

// coin returns a bit of x that small does not use.
func coin(x uint64) bool { return x&0x800 != 0 }

func bitFlip(_ *Bytes, _ *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) == 0 {
		return buf, false
	}
	i := where(x, 8*len(buf))
	buf[i/8] ^= 1 << (i % 8)
	return buf, true
}

func bitFlips(m *Bytes, r *rand.Rand, _ uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) == 0 {
		return buf, false
	}
	var x uint64
	for n := max(1, int(float64(8*len(buf))*ratio(m.BitRatio, 0.01))); n > 0; n-- {
		if x <<= 32; n&1 == 1 || x == 0 {
			x = r.Uint64()
		}
		i := where(x, 8*len(buf))
		buf[i/8] ^= 1 << (i % 8)
	}
	return buf, true
}

func byteFlip(_ *Bytes, _ *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) == 0 {
		return buf, false
	}
	buf[where(x, len(buf))] ^= 0xff
	return buf, true
}

func byteFlips(m *Bytes, r *rand.Rand, _ uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) == 0 {
		return buf, false
	}
	for range max(1, int(float64(len(buf))*ratio(m.ByteRatio, 0.05))) {
		bits := r.Uint64()
		buf[where(bits, len(buf))] = byte(bits)
	}
	return buf, true
}

func xor(_ *Bytes, _ *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) == 0 {
		return buf, false
	}
	buf[where(x, len(buf))] ^= byte(1 + small(x, 255))
	return buf, true
}

// arith adds a small number to an integer of 1 << size bytes.
func arith(size int) edit {
	return func(_ *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
		if len(buf) < 1<<size {
			return buf, false
		}
		at := buf[where(x, places(len(buf), 1<<size)):][:1<<size]
		delta := small(x, 2*maxArith) - maxArith // -35 to 34; the next line makes 0 to 34 into 1 to 35
		delta += 1 + delta>>63
		store(at, coin(x), load(at, coin(x))+uint64(delta))
		return buf, true
	}
}

// limit writes an interesting number of 1 << size bytes.
func limit(size int) edit {
	return func(_ *Bytes, _ *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
		if len(buf) < 1<<size {
			return buf, false
		}
		at := buf[where(x, places(len(buf), 1<<size)):][:1<<size]
		store(at, coin(x), uint64(interesting[small(x, interestingBelow[size])]))
		return buf, true
	}
}

// number changes the next run of digits after a random position.
func number(m *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	from, to, ok := digitsAfter(buf, where(x, len(buf)+1))
	if !ok {
		return buf, false
	}
	var n uint64
	for _, c := range buf[from:to] {
		n = n*10 + uint64(c-'0')
	}
	switch small(x, 6) {
	case 0:
		n += uint64(between(r, 1, maxArith))
	case 1:
		n -= uint64(between(r, 1, maxArith))
	case 2:
		n *= 2
	case 3:
		n /= 2
	case 4:
		n = r.Uint64() >> below(r, 64)
	case 5:
		n = uint64(pick(r, interesting[:]))
	}
	var text [20]byte
	digits := strconv.AppendInt(text[:0], int64(n), 10)
	if grow := len(digits) - (to - from); grow > m.most()-len(buf) {
		return buf, false
	}
	return replace(buf, from, to, digits), true
}

// digitsAfter finds up to 18 digits at or after at, or after the beginning of buf if there are none. It searches at most 512 bytes
// each time, so that the time does not grow with the length of the input.
func digitsAfter(buf []byte, at int) (from, to int, ok bool) {
	for _, start := range [2]int{at, 0} {
		for from = start; from < min(len(buf), start+512); from++ {
			if buf[from]-'0' > 9 {
				continue
			}
			for to = from + 1; to < len(buf) && to < from+18 && buf[to]-'0' <= 9; {
				to++
			}
			return from, to, true
		}
	}
	return 0, 0, false
}

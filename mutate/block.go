package mutate

import (
	"math/rand/v2"
	"slices"
)

var blockLens = [4][2]int{{1, 32}, {1, 32}, {32, 128}, {128, 1500}}

// blockLen draws the length of a block of at most limit bytes, which must be positive: half of the blocks have up to 32 bytes,
// a quarter up to 128, a quarter up to 1,500.
func blockLen(r *rand.Rand, limit int) int {
	bits := r.Uint64()
	lo, hi := blockLens[bits&3][0], blockLens[bits&3][1]
	if lo >= limit {
		lo = 1
	}
	return lo + int((bits>>32)*uint64(min(hi, limit)-lo+1)>>32)
}

// block draws a run of 1 to most of the n bytes of an input.
func block(r *rand.Rand, x uint64, n, most int) (from, to int) {
	length := blockLen(r, most)
	from = where(x, n-length+1)
	return from, from + length
}

func copyOverwrite(_ *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) < 2 {
		return buf, false
	}
	from, to := block(r, x, len(buf), len(buf)-1)
	copy(buf[below(r, len(buf)-(to-from)+1):], buf[from:to])
	return buf, true
}

func fixedOverwrite(_ *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) < 2 {
		return buf, false
	}
	from, to := block(r, x, len(buf), len(buf)-1)
	fill(buf[from:to], fixedByte(r, buf))
	return buf, true
}

// shuffle shuffles at most 16 bytes, for which one random number is enough.
func shuffle(_ *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) < 2 {
		return buf, false
	}
	n := min(2+small(x, 15), len(buf))
	from := where(x, len(buf)-n+1)
	bits := r.Uint64() // 4 bits for each byte
	for i := n - 1; i > 0; i-- {
		j := int(bits&15) * (i + 1) >> 4
		buf[from+i], buf[from+j] = buf[from+j], buf[from+i]
		bits >>= 4
	}
	return buf, true
}

func swap(_ *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) < 2 {
		return buf, false
	}
	n := blockLen(r, len(buf)/2)
	i := where(x, len(buf)-2*n+1)
	j := between(r, i+n, len(buf)-n)
	for k := range n {
		buf[i+k], buf[j+k] = buf[j+k], buf[i+k]
	}
	return buf, true
}

// fixedByte draws the byte with which a block is filled: a byte of the input, any byte, 0, 0xff, a space or an A.
func fixedByte(r *rand.Rand, buf []byte) byte {
	switch bits := r.Uint32(); bits & 3 {
	case 0:
		return byte(bits >> 24)
	case 1:
		return "\x00\xff A"[bits>>2&3]
	}
	return pick(r, buf)
}

// fill fills a block of at least one byte with c.
func fill(block []byte, c byte) {
	block[0] = c
	for n := 1; n < len(block); n *= 2 {
		copy(block[n:], block[:n])
	}
}

// open inserts a gap of n bytes, whose content is undefined.
func open(buf []byte, at, n int) []byte {
	old := len(buf)
	buf = slices.Grow(buf, n)[:old+n]
	copy(buf[at+n:], buf[at:old])
	return buf
}

// replace replaces buf[from:to] by text.
func replace(buf []byte, from, to int, text []byte) []byte {
	if n := len(text) - (to - from); n > 0 {
		buf = open(buf, to, n)
	} else {
		buf = append(buf[:to+n], buf[to:]...)
	}
	copy(buf[from:], text)
	return buf
}

func insert(m *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	room := m.most() - len(buf)
	if room <= 0 {
		return buf, false
	}
	n := 1 + small(x, min(room, 16))
	at := where(x, len(buf)+1)
	buf = open(buf, at, n)
	var bits uint64
	for i := range n {
		if i%8 == 0 {
			bits = r.Uint64()
		}
		buf[at+i] = byte(bits)
		bits >>= 8
	}
	return buf, true
}

func fixedInsert(m *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	room := m.most() - len(buf)
	if room <= 0 || len(buf) == 0 {
		return buf, false
	}
	n, c := blockLen(r, room), fixedByte(r, buf)
	at := where(x, len(buf)+1)
	buf = open(buf, at, n)
	fill(buf[at:at+n], c)
	return buf, true
}

func copyInsert(m *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	return m.insertCopy(r, x, buf, below(r, len(buf)+1))
}

func duplicate(m *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	return m.insertCopy(r, x, buf, -1)
}

// insertCopy inserts a copy of a random block at a position; -1 means after the block itself.
func (m *Bytes) insertCopy(r *rand.Rand, x uint64, buf []byte, at int) ([]byte, bool) {
	room := m.most() - len(buf)
	if room <= 0 || len(buf) == 0 {
		return buf, false
	}
	from, to := block(r, x, len(buf), len(buf))
	to = min(to, from+room)
	n := to - from
	if at < 0 {
		at = to
	}
	buf = open(buf, at, n)
	// The block now lies before the gap, after it, or on both sides.
	head := min(max(at-from, 0), n)
	copy(buf[at:], buf[from:from+head])
	copy(buf[at+head:at+n], buf[from+head+n:to+n])
	return buf, true
}

// repeat inserts copies of a block, mostly few: many copies would make every execution of later mutants slow.
func repeat(m *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	room := m.most() - len(buf)
	if room <= 0 || len(buf) == 0 {
		return buf, false
	}
	n := 1 + small(x, min(len(buf), 16))
	at := where(x, len(buf)-n+1) + n
	doublings := 1 + below(r, 4)
	if below(r, 8) == 0 {
		doublings += below(r, 9)
	}
	more := min(n<<doublings-n, room)
	buf = open(buf, at, more)
	for done := n; done < n+more; done *= 2 {
		copy(buf[at-n+done:at+more], buf[at-n:at-n+done])
	}
	return buf, true
}

func remove(_ *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	if len(buf) < 2 {
		return buf, false
	}
	from, to := block(r, x, len(buf), len(buf)-1)
	return append(buf[:from], buf[to:]...), true
}

func tokenOverwrite(m *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	token := m.Dictionary.Token(r)
	if token == "" || len(token) > len(buf) {
		return buf, false
	}
	copy(buf[where(x, len(buf)-len(token)+1):], token)
	return buf, true
}

func tokenInsert(m *Bytes, r *rand.Rand, x uint64, buf, _ []byte) ([]byte, bool) {
	token := m.Dictionary.Token(r)
	if token == "" || len(token) > m.most()-len(buf) {
		return buf, false
	}
	at := where(x, len(buf)+1)
	buf = open(buf, at, len(token))
	copy(buf[at:], token)
	return buf, true
}

func spliceOverwrite(_ *Bytes, r *rand.Rand, x uint64, buf, other []byte) ([]byte, bool) {
	most := min(len(other), len(buf))
	if most == 0 {
		return buf, false
	}
	n := blockLen(r, most)
	from := below(r, len(other)-n+1)
	copy(buf[where(x, len(buf)-n+1):], other[from:from+n])
	return buf, true
}

func spliceInsert(m *Bytes, r *rand.Rand, x uint64, buf, other []byte) ([]byte, bool) {
	most := min(len(other), m.most()-len(buf))
	if most <= 0 {
		return buf, false
	}
	n := blockLen(r, most)
	from := below(r, len(other)-n+1)
	at := where(x, len(buf)+1)
	buf = open(buf, at, n)
	copy(buf[at:], other[from:from+n])
	return buf, true
}

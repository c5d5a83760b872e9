package mutate

import (
	"bytes"
	"strconv"

	"github.com/teaselfuzz/teasel"
)

var (
	_ teasel.Mutator[[]byte]    = (*Bytes)(nil)
	_ teasel.Stepper[[]byte]    = (*Bytes)(nil)
	_ teasel.Simplifier[[]byte] = (*Bytes)(nil)
	_ teasel.Crosser[[]byte]    = (*Bytes)(nil)
	_ teasel.Repairer[[]byte]   = (*Bytes)(nil)
)

// Clone returns a mutator with the same settings for another worker. The two share the dictionary.
func (m *Bytes) Clone() *Bytes {
	c := *m
	return &c
}

// Repair returns src with values replaced by those with which the target has compared them. Of each pair of operands it searches one
// side, the found value, in src: in either byte order, in fewer bytes if both sides fit (a length that was read as 16 bits and
// compared as 64), or in decimal digits; the other side, the wanted value, replaces the first occurrence. A constant is always the
// wanted value. If neither is a constant, the second operand is the found value if it occurs in src, otherwise the first. Replaced bytes
// are not changed again. This is input-to-state correspondence (RedQueen, NDSS 2019) without its encodings.
func (m *Bytes) Repair(dst, src []byte, ops []teasel.Operand) ([]byte, bool) {
	x := repairer{buf: append(dst[:0], src...), maxLen: max(m.Limit(), len(src))}
	for _, op := range ops {
		if op.A == op.B {
			continue
		}
		if !x.repair(op.B, op.A, int(op.Size)) && !op.Const {
			x.repair(op.A, op.B, int(op.Size))
		}
	}
	return x.buf, len(x.done) > 0 && !bytes.Equal(x.buf, src)
}

// span is a run of replaced bytes.
type span struct{ from, to int }

type repairer struct {
	buf    []byte
	maxLen int // maximum length of buf
	done   []span
}

// repair replaces found by wanted, and returns false if found does not occur.
func (x *repairer) repair(found, wanted uint64, size int) bool {
	if size != 1 && size != 2 && size != 4 && size != 8 {
		return false
	}
	var f, w [8]byte
	for n := size; n > 0; n /= 2 {
		if n < size && (!fits(found, n, size) || !fits(wanted, n, size)) {
			break
		}
		for order := range orders(n - 1) {
			store(f[:n], order == 1, found)
			store(w[:n], order == 1, wanted)
			if at := x.find(f[:n]); at >= 0 {
				copy(x.buf[at:], w[:n])
				x.done = append(x.done, span{at, at + n})
				return true
			}
		}
	}
	return x.repairDigits(found, wanted)
}

// fits reports whether an integer of size bytes is the zero or sign extension of its low n bytes.
func fits(v uint64, n, size int) bool {
	if size < 8 {
		v = uint64(int64(v<<(64-8*size)) >> (64 - 8*size))
	}
	high := int64(v) >> (8 * n)
	return high == 0 || high == -1 && int8(v>>(8*n-8)) < 0
}

// repairDigits does the same with numbers in decimal notation. Single digits are ignored, since they occur too often.
func (x *repairer) repairDigits(found, wanted uint64) bool {
	if found < 10 {
		return false
	}
	f, w := strconv.AppendUint(nil, found, 10), strconv.AppendUint(nil, wanted, 10)
	at := x.find(f)
	if grow := len(w) - len(f); at < 0 || len(x.buf)+grow > x.maxLen {
		return false
	}
	x.buf = replace(x.buf, at, at+len(f), w)
	for i := range x.done {
		if x.done[i].from > at {
			x.done[i].from += len(w) - len(f)
			x.done[i].to += len(w) - len(f)
		}
	}
	x.done = append(x.done, span{at, at + len(w)})
	return true
}

// find returns the index of the first occurrence of text outside of replaced bytes, -1 if there is none.
func (x *repairer) find(text []byte) int {
	for at := 0; ; at++ {
		i := bytes.Index(x.buf[at:], text)
		if i < 0 {
			return -1
		}
		if at += i; !x.touches(at, at+len(text)) {
			return at
		}
	}
}

func (x *repairer) touches(from, to int) bool {
	for _, s := range x.done {
		if from < s.to && s.from < to {
			return true
		}
	}
	return false
}

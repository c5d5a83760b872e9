package mutate

import (
	"bytes"
	"math/rand/v2"
)

// Bytes is the mutator of plain bytes. Mutate draws operators by weight and stacks them (AFL++'s havoc stage); Step makes the same
// changes one by one at each position. The zero value is ready to use; fields must not be changed after the first call. The
// results are a pure function of the fields and the arguments. It is for one goroutine at a time.
type Bytes struct {
	// MaxLen is the length of the longest mutant, in bytes; longer inputs are truncated. 0: 1 MiB.
	MaxLen int
	// MaxOps is the maximum number of stacked operators. 0: 16.
	MaxOps int
	// BitRatio is the share of bits that OpBitFlips inverts; it inverts at least one. 0: 1 %.
	BitRatio float64
	// ByteRatio is the share of bytes that OpByteFlips replaces; it replaces at least one. 0: 5 %.
	ByteRatio float64
	// Dictionary holds the tokens to insert. nil: none.
	Dictionary *Dictionary
	// Weights overrides the weights of operators; 0 switches an operator off, 255 is the maximum. Operators that are not in
	// the map keep their default weights, 1 to 5.
	Weights map[Operator]int

	wheel      wheel
	allowedLen int // maximum length of the current mutant; 0: Limit
}

// Most mutants have at most usualLen bytes, or usualGrowth times the length of their source: programs that take quadratic time would
// otherwise spend nearly all of it on the longest inputs. One mutant in rareGrowth may have any length up to Limit, which may be
// needed to exhaust a stack.
const (
	usualLen    = 1 << 10
	usualGrowth = 2
	rareGrowth  = 64
)

// most returns the maximum length of the result of an operator.
func (m *Bytes) most() int {
	if m.allowedLen > 0 {
		return m.allowedLen
	}
	return m.Limit()
}

// Limit returns the length of the longest mutant, in bytes: MaxLen, or 1 MiB.
func (m *Bytes) Limit() int {
	if m.MaxLen <= 0 {
		return 1 << 20
	}
	return m.MaxLen
}

func (m *Bytes) maxOps() int {
	if m.MaxOps <= 0 {
		return 16
	}
	return m.MaxOps
}

func ratio(configured, usual float64) float64 {
	if configured <= 0 {
		return usual
	}
	return min(configured, 1)
}

func (m *Bytes) buildWheel() wheel {
	var w wheel
	for op := OpInvalid + 1; op < OpSpliceOverwrite; op++ {
		if needsToken := op == OpTokenOverwrite || op == OpTokenInsert; needsToken && m.Dictionary.Len() == 0 {
			continue
		}
		weight, named := m.Weights[op]
		if !named {
			weight = operators[op].weight
		}
		w = w.add(uint8(op), min(max(weight, 0), 255))
	}
	if len(w) == 0 {
		return wheel{uint8(OpBitFlip), uint8(OpInsert)}
	}
	return w
}

// Generate makes an input of up to 1 KiB from random bytes, random characters or tokens.
func (m *Bytes) Generate(r *rand.Rand) []byte {
	n := min(below(r, 2<<below(r, 10)), m.Limit())
	in := make([]byte, 0, n)
	style := below(r, 3)
	for len(in) < n {
		token := ""
		if style == 2 && m.Dictionary.Len() > 0 {
			token = m.Dictionary.Token(r)
		}
		switch {
		case token != "":
			in = append(in, token[:min(len(token), n-len(in))]...)
		case style == 0:
			in = append(in, byte(r.Uint32()))
		default:
			in = append(in, byte(between(r, ' ', '~')))
		}
	}
	return in
}

// Mutate returns src after one operator or several stacked ones. The mutant differs from src, and uses the memory of dst if that is
// large enough.
func (m *Bytes) Mutate(r *rand.Rand, dst, src []byte) []byte {
	if m.wheel == nil {
		m.wheel = m.buildWheel()
	}
	buf := append(dst[:0], src[:min(len(src), m.Limit())]...)
	want := stack(r, m.maxOps())
	if below(r, rareGrowth) > 0 {
		m.allowedLen = min(m.Limit(), max(usualLen, usualGrowth*len(buf)))
	}
	for tries := 3 * want; want > 0 && tries > 0; tries-- {
		x := r.Uint64()
		op := m.wheel[x>>12&(1<<20-1)*uint64(len(m.wheel))>>20]
		var ok bool
		if buf, ok = operators[op].edit(m, r, x, buf, nil); ok {
			want--
		}
	}
	m.allowedLen = 0
	return m.ensureDifferent(r, buf, src)
}

// ensureDifferent changes buf once more if it still equals src.
func (m *Bytes) ensureDifferent(r *rand.Rand, buf, src []byte) []byte {
	if !bytes.Equal(buf, src) {
		return buf
	}
	if len(buf) == 0 {
		return append(buf, byte(r.Uint32()))
	}
	i := below(r, 8*len(buf))
	buf[i/8] ^= 1 << (i % 8)
	return buf
}

// Apply returns src after one operator, and false if the operator cannot be applied: OpNumber needs digits, OpArith32 four bytes.
// Only the splice operators use other. Apply is for tests and for callers that need a particular operator.
func (m *Bytes) Apply(r *rand.Rand, op Operator, dst, src, other []byte) ([]byte, bool) {
	buf := append(dst[:0], src...)
	if op == OpInvalid || op >= operatorCount {
		return buf, false
	}
	buf, ok := operators[op].edit(m, r, r.Uint64(), buf, other)
	return buf, ok && !bytes.Equal(buf, src)
}

// Cross returns a combination of a and b: the head of a and the tail of b, cut between the first and the last byte in which they
// differ; a with a block of b written over, or inserted between, its bytes; or a and b concatenated in either order.
func (m *Bytes) Cross(r *rand.Rand, dst, a, b []byte) []byte {
	a, b = a[:min(len(a), m.Limit())], b[:min(len(b), m.Limit())]
	buf, ok := append(dst[:0], a...), false
	switch below(r, 5) {
	case 0:
		buf, ok = spliceOverwrite(m, r, r.Uint64(), buf, b)
	case 1:
		buf, ok = spliceInsert(m, r, r.Uint64(), buf, b)
	case 2:
		if len(a)+len(b) <= maxJoined {
			return m.ensureDifferent(r, m.concatenate(r, buf, a, b), a)
		}
	}
	if first, last := difference(a, b); !ok && last-first >= 2 {
		cut := between(r, first+1, last)
		buf = append(append(buf[:0], a[:cut]...), b[cut:]...)
	} else if !ok {
		buf, _ = spliceInsert(m, r, r.Uint64(), buf, b)
	}
	return m.ensureDifferent(r, buf, a)
}

// maxJoined is the maximum length of a concatenation: a longer input would make every execution of its mutants slow.
const maxJoined = 256

// concatenate joins a and b in either order, every other time with a separator that occurs in one of them, or a newline.
func (m *Bytes) concatenate(r *rand.Rand, dst, a, b []byte) []byte {
	if below(r, 2) == 0 {
		a, b = b, a
	}
	dst = append(dst[:0], a...)
	if below(r, 2) == 0 {
		dst = append(dst, separator(r, a, b))
	}
	dst = append(dst, b...)
	return dst[:min(len(dst), m.Limit())]
}

// separator draws a byte of one of the inputs, and returns a newline if the byte belongs to a word.
func separator(r *rand.Rand, a, b []byte) byte {
	if len(a) == 0 || len(b) > 0 && below(r, 2) == 0 {
		a = b
	}
	if len(a) > 0 {
		c := a[below(r, len(a))]
		if lower := c | 0x20; (lower < 'a' || lower > 'z') && (c < '0' || c > '9') {
			return c
		}
	}
	return '\n'
}

// difference returns the first and the last index, below the length of both, at which a and b differ.
func difference(a, b []byte) (first, last int) {
	n := min(len(a), len(b))
	for first < n && a[first] == b[first] {
		first++
	}
	for last = n - 1; last > first && a[last] == b[last]; {
		last--
	}
	return first, last
}

// Complexity returns the length in bytes, reduced slightly for each '0', so that of inputs with the same length those with more '0'
// are simpler.
func (m *Bytes) Complexity(in []byte) float64 {
	return float64(len(in)) + float64(len(in)-bytes.Count(in, zero))/float64(len(in)+1)
}

var zero = []byte{'0'}

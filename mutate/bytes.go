package mutate

import (
	"bytes"
	"math/rand/v2"
)

// Bytes is the mutator of plain bytes: operators drawn by weight and stacked on one another (AFL++'s havoc), and the same
// changes one by one at each place as steps. The zero value is ready; fields must not be changed once it was used.
// What it does is a pure function of its fields and the arguments. One goroutine at a time may use it.
type Bytes struct {
	// MaxLen is the length of the longest mutant; longer inputs are cut. 0: 1 MiB.
	MaxLen int
	// MaxOps is how many operators are stacked at most. 0: 16.
	MaxOps int
	// BitRatio is the share of bits that OpBitFlips inverts, at least one. 0: 1 %.
	BitRatio float64
	// ByteRatio is the share of bytes that OpByteFlips replaces, at least one. 0: 5 %.
	ByteRatio float64
	// Dictionary is where tokens come from. nil: none.
	Dictionary *Dictionary
	// Weights overrides how likely operators are; 0 switches one off, 255 is the most. An operator that is not named
	// keeps its own weight, 1 to 5.
	Weights map[Operator]int

	wheel wheel
	grown int // length that the mutant under way may have; 0: Limit
}

// Most mutants are at most usualLen long, or usualGrowth times as long as what they are made from: some programs take a time
// that grows with the square of the length, and would do little else than run the longest ones. One in rareGrowth may be as
// long as any, as it takes to exhaust a stack.
const (
	usualLen    = 1 << 10
	usualGrowth = 2
	rareGrowth  = 64
)

// most returns the length that an operator may make an input.
func (m *Bytes) most() int {
	if m.grown > 0 {
		return m.grown
	}
	return m.Limit()
}

// Limit returns the length of the longest mutant: MaxLen, or 1 MiB.
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

func (m *Bytes) weigh() wheel {
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

// Generate makes an input of up to 1 KiB: drawn bytes, drawn characters or tokens.
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

// Mutate returns src after one operator or several on one another. The mutant differs from src, and lies in the memory
// of dst where that is large enough.
func (m *Bytes) Mutate(r *rand.Rand, dst, src []byte) []byte {
	if m.wheel == nil {
		m.wheel = m.weigh()
	}
	buf := append(dst[:0], src[:min(len(src), m.Limit())]...)
	want := stack(r, m.maxOps())
	if below(r, rareGrowth) > 0 {
		m.grown = min(m.Limit(), max(usualLen, usualGrowth*len(buf)))
	}
	for tries := 3 * want; want > 0 && tries > 0; tries-- {
		x := r.Uint64()
		op := m.wheel[x>>12&(1<<20-1)*uint64(len(m.wheel))>>20]
		var ok bool
		if buf, ok = operators[op].edit(m, r, x, buf, nil); ok {
			want--
		}
	}
	m.grown = 0
	return m.differ(r, buf, src)
}

// differ changes buf once more if all that was done to it left it as it was.
func (m *Bytes) differ(r *rand.Rand, buf, src []byte) []byte {
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

// Apply returns src after one operator; false if it cannot change this input: a number where there are no digits, four
// bytes where there are three. Only the splice operators look at other. It is for tests and for those who want one
// certain change; Mutate draws and stacks them.
func (m *Bytes) Apply(r *rand.Rand, op Operator, dst, src, other []byte) ([]byte, bool) {
	buf := append(dst[:0], src...)
	if op == OpInvalid || op >= operatorCount {
		return buf, false
	}
	buf, ok := operators[op].edit(m, r, r.Uint64(), buf, other)
	return buf, ok && !bytes.Equal(buf, src)
}

// Cross puts a part of b into a copy of a: the head of a and the tail of b, cut at a place between the first and the
// last byte in which the two differ, a block of b over or between the bytes of a, or all of b before or behind it.
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
			return m.differ(r, m.concatenate(r, buf, a, b), a)
		}
	}
	if first, last := difference(a, b); !ok && last-first >= 2 {
		cut := between(r, first+1, last)
		buf = append(append(buf[:0], a[:cut]...), b[cut:]...)
	} else if !ok {
		buf, _ = spliceInsert(m, r, r.Uint64(), buf, b)
	}
	return m.differ(r, buf, a)
}

// maxJoined is how long what is put together whole is at most: what long inputs cost, every execution of their mutants does.
const maxJoined = 256

// concatenate puts a before b or behind it, every other time with something between them that stands between things in
// one of them, or else a new line.
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

// separator draws a byte of one of two inputs; if it is of a word, it is a new line.
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

// difference returns the first and the last place below the end of both at which they differ.
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

// Complexity is the length in bytes; of inputs of one length, those with more '0' are a little simpler.
func (m *Bytes) Complexity(in []byte) float64 {
	return float64(len(in)) + float64(len(in)-bytes.Count(in, zero))/float64(len(in)+1)
}

var zero = []byte{'0'}

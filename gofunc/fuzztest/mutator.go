package fuzztest

import (
	"bytes"
	"encoding/binary"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

// Mutator changes packed inputs: arguments of variable size as [mutate.Bytes] does, and those of fixed size so that they
// keep it. For a target of one argument of variable size it comes to [mutate.Bytes] alone. One goroutine at a time may
// use it.
type Mutator struct {
	kinds []agent.Kind
	bytes *mutate.Bytes
	fixed *mutate.Bytes // draws among the operators that keep the length

	parts, others [][]byte
	buffer, spare []byte
}

var (
	_ teasel.Mutator[[]byte]    = (*Mutator)(nil)
	_ teasel.Stepper[[]byte]    = (*Mutator)(nil)
	_ teasel.Simplifier[[]byte] = (*Mutator)(nil)
	_ teasel.Crosser[[]byte]    = (*Mutator)(nil)
	_ teasel.Repairer[[]byte]   = (*Mutator)(nil)
	_ operands.Splicer          = (*Mutator)(nil)
)

// NewMutator returns a mutator for arguments of these types; b has the settings for those of variable size.
func NewMutator(kinds []agent.Kind, b *mutate.Bytes) *Mutator {
	fixed := &mutate.Bytes{MaxLen: 8, MaxOps: 2, Weights: map[mutate.Operator]int{}}
	for _, op := range mutate.Operators() {
		fixed.Weights[op] = 0
	}
	for _, op := range [...]mutate.Operator{mutate.OpBitFlip, mutate.OpByteFlip, mutate.OpXor, mutate.OpArith8, mutate.OpArith16, mutate.OpArith32,
		mutate.OpArith64, mutate.OpInteresting8, mutate.OpInteresting16, mutate.OpInteresting32, mutate.OpInteresting64, mutate.OpByteFlips} {
		fixed.Weights[op] = 2
	}
	return &Mutator{kinds: kinds, bytes: b, fixed: fixed}
}

// single reports whether an input is one argument of variable size and nothing else.
func (m *Mutator) single() bool { return len(m.kinds) == 1 && m.kinds[0].Size() == 0 }

// Limit returns how long a packed input may become: as long as with the longest arguments.
func (m *Mutator) Limit() int {
	n, variable := agent.Head(m.kinds)
	return n + 4*max(variable-1, 0) + variable*m.bytes.Limit()
}

// Generate makes each argument from nothing.
func (m *Mutator) Generate(r *teasel.Rand) []byte {
	parts := make([][]byte, len(m.kinds))
	for i, k := range m.kinds {
		if k.Size() == 0 {
			parts[i] = m.bytes.Generate(r)
			continue
		}
		parts[i] = make([]byte, k.Size())
		if r.IntN(2) == 0 {
			parts[i] = m.fixed.Mutate(r, nil, parts[i])
		}
	}
	return pack(nil, m.kinds, parts)
}

// split cuts src into arguments that may be replaced, in memory of the mutator's.
func (m *Mutator) split(src []byte) [][]byte {
	m.buffer = append(m.buffer[:0], src...)
	m.parts = agent.Split(m.kinds, m.buffer, m.parts[:0])
	for i, k := range m.kinds {
		if n := k.Size(); n > len(m.parts[i]) {
			m.parts[i] = append(m.parts[i], make([]byte, n-len(m.parts[i]))...)
		}
	}
	return m.parts
}

// draw chooses an argument: those of variable size have twice the weight.
func (m *Mutator) draw(r *teasel.Rand) int {
	fixed, variable := 0, 0
	for _, k := range m.kinds {
		if k.Size() == 0 {
			variable++
		} else {
			fixed++
		}
	}
	n := r.IntN(fixed + 2*variable)
	for i, k := range m.kinds {
		weight := 1
		if k.Size() == 0 {
			weight = 2
		}
		if n -= weight; n < 0 {
			return i
		}
	}
	return 0
}

// Mutate changes one argument, or at times several.
func (m *Mutator) Mutate(r *teasel.Rand, dst, src []byte) []byte {
	if m.single() {
		return m.bytes.Mutate(r, dst, src)
	}
	parts := m.split(src)
	for {
		i := m.draw(r)
		by := m.bytes
		if m.kinds[i].Size() > 0 {
			by = m.fixed
		}
		parts[i] = by.Mutate(r, nil, parts[i])
		if r.IntN(4) > 0 {
			break
		}
	}
	return pack(dst[:0], m.kinds, parts)
}

// Cross takes each argument from one of two inputs, and crosses one of variable size.
func (m *Mutator) Cross(r *teasel.Rand, dst, a, b []byte) []byte {
	if m.single() {
		return m.bytes.Cross(r, dst, a, b)
	}
	parts := m.split(a)
	m.spare = append(m.spare[:0], b...)
	m.others = agent.Split(m.kinds, m.spare, m.others[:0])
	i := m.draw(r)
	if m.kinds[i].Size() == 0 {
		parts[i] = m.bytes.Cross(r, nil, parts[i], m.others[i])
	} else {
		parts[i] = m.others[i]
	}
	for k := range parts {
		if k != i && r.IntN(4) == 0 {
			parts[k] = m.others[k]
		}
	}
	return pack(dst[:0], m.kinds, parts)
}

// Step is the ordered changes of one argument after the other. Step k is a function of the lengths alone.
func (m *Mutator) Step(k uint64, dst, src []byte) ([]byte, bool) {
	if m.single() {
		return m.bytes.Step(k, dst, src)
	}
	parts := m.split(src)
	i := int(k % uint64(len(parts))) // the steps of all arguments take turns; those that have no more leave src
	k /= uint64(len(parts))
	more := false
	for j := range parts {
		if _, ok := m.stepsOf(j).Step(k, nil, parts[j]); ok {
			more = true
			break
		}
	}
	if out, ok := m.stepsOf(i).Step(k, nil, parts[i]); ok && (m.kinds[i].Size() == 0 || len(out) == m.kinds[i].Size()) {
		parts[i] = out
	}
	return pack(dst[:0], m.kinds, parts), more
}

func (m *Mutator) stepsOf(i int) *mutate.Bytes {
	if m.kinds[i].Size() > 0 {
		return m.fixed
	}
	return m.bytes
}

// Repair mends compared values wherever they stand. A repair that changes the length of an input of several arguments
// would move the others and is refused.
func (m *Mutator) Repair(dst, src []byte, ops []teasel.Operand) ([]byte, bool) {
	out, ok := m.bytes.Repair(dst, src, ops)
	if ok && !m.single() && len(out) != len(src) {
		return append(out[:0], src...), false
	}
	return out, ok
}

// Splice puts text in the place of n bytes of src from at on. In an argument of variable size the lengths are set right, and
// no more is replaced than the rest of that argument; of those of fixed size, and of lengths, as much is overwritten as
// there is room for. What is inserted at the very end belongs to the last argument, which may be empty.
func (m *Mutator) Splice(dst, src []byte, at, n int, text string) []byte {
	head, variable := agent.Head(m.kinds)
	lengths := head
	head = min(head+4*max(variable-1, 0), len(src))
	if at < head {
		dst = append(dst[:0], src...)
		copy(dst[at:min(at+n, head)], text)
		return dst
	}
	from := head
	for i := range variable - 1 {
		field := src[lengths+4*i:][:4]
		size := min(int(binary.LittleEndian.Uint32(field)), len(src)-from)
		if at > from+size || at == len(src) && n == 0 {
			from += size
			continue
		}
		n = min(n, from+size-at)
		dst = append(append(append(dst[:0], src[:at]...), text...), src[at+n:]...)
		binary.LittleEndian.PutUint32(dst[lengths+4*i:], uint32(size-n+len(text)))
		return dst
	}
	return append(append(append(dst[:0], src[:at]...), text...), src[at+n:]...)
}

// Complexity is the length of the packed input; of those of one length, the ones with more bytes that are '0', or zero
// in an argument of fixed size, are a little simpler.
func (m *Mutator) Complexity(in []byte) float64 {
	if m.single() {
		return m.bytes.Complexity(in)
	}
	head, _ := agent.Head(m.kinds)
	head = min(head, len(in))
	plain := bytes.Count(in[:head], []byte{0}) + bytes.Count(in[head:], []byte{'0'})
	return float64(len(in)) + float64(len(in)-plain)/float64(len(in)+1)
}

// Simplify makes one argument simpler: those of variable size as mutate.Bytes does, those of fixed size by zero, then by
// clearing single bytes.
func (m *Mutator) Simplify(k uint64, dst, src []byte) ([]byte, bool) {
	if m.single() {
		return m.bytes.Simplify(k, dst, src)
	}
	parts := m.split(src)
	for i, kind := range m.kinds {
		if n := uint64(kind.Size()); n > 0 {
			if k > n {
				k -= n + 1
				continue
			}
			if part := bytes.Clone(parts[i]); k == 0 {
				clear(part)
				parts[i] = part
			} else {
				part[n-k] = 0
				parts[i] = part
			}
			return pack(dst[:0], m.kinds, parts), true
		}
		out, ok := m.bytes.Simplify(k, nil, parts[i])
		if ok {
			parts[i] = out
			return pack(dst[:0], m.kinds, parts), true
		}
		k -= m.bytes.Candidates(len(parts[i]))
	}
	return dst[:0], false
}

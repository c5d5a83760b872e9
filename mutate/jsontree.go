package mutate

import (
	"math/bits"
	"math/rand/v2"

	"github.com/teaselfuzz/teasel"
)

var (
	_ teasel.Mutator[*JSON]    = (*JSONTree)(nil)
	_ teasel.Stepper[*JSON]    = (*JSONTree)(nil)
	_ teasel.Simplifier[*JSON] = (*JSONTree)(nil)
	_ teasel.Crosser[*JSON]    = (*JSONTree)(nil)
)

// JSONTree is the mutator of JSON trees: operators drawn by weight, each at a drawn place where it fits, and stacked.
// The zero value is ready; fields must not be changed once it was used. What it does is a pure function of its fields
// and the arguments. One goroutine at a time may use it.
type JSONTree struct {
	// MaxBytes is the length of the longest text that a mutant is written as, if its source is not longer. 0: 1 MiB.
	MaxBytes int
	// MaxDepth is how deep a mutant is nested at most, if its source is not deeper. 0: 10,000, which is also the most
	// that ParseJSON reads.
	MaxDepth int
	// MaxOps is how many operators are stacked at most; half of all mutants have one, a quarter two and so on. 0: 4.
	MaxOps int
	// Dictionary is where tokens and names come from. nil: the default one.
	Dictionary *Dictionary
	// Weights overrides how likely operators are; 0 switches one off, 255 is the most. An operator that is not named
	// keeps its own weight, 1 to 8.
	Weights map[JSONOperator]int
	// Protect says which values must stay as they are with all that is in them, and keep their pointers, the member
	// names in it included. nil: none.
	Protect func(pointer string) bool

	wheel wheel
	words *Dictionary
	slots []slot
	last  editor // used again
}

// Clone returns a mutator of the same settings for another worker. They share the dictionary.
func (t *JSONTree) Clone() *JSONTree {
	c := *t
	c.slots, c.last = nil, editor{}
	return &c
}

func (t *JSONTree) maxBytes() int {
	if t.MaxBytes <= 0 {
		return 1 << 20
	}
	return t.MaxBytes
}

func (t *JSONTree) maxDepth() int {
	if t.MaxDepth <= 0 {
		return 10000
	}
	return t.MaxDepth
}

// prepare makes what is made once.
func (t *JSONTree) prepare() {
	if t.words == nil {
		if t.words = t.Dictionary; t.words == nil {
			t.words = DefaultDictionary()
		}
	}
	if t.wheel != nil {
		return
	}
	for op := JSONInvalid + 1; op < JSONSplice; op++ {
		weight, named := t.Weights[op]
		if !named {
			weight = jsonOperators[op].weight
		}
		t.wheel = t.wheel.add(uint8(op), min(max(weight, 0), 255))
	}
	if len(t.wheel) == 0 {
		t.wheel = wheel{uint8(JSONTypeConfusion)}
	}
}

// edit returns an editor of v, whose text and depth may grow to the limits.
func (t *JSONTree) edit(r *rand.Rand, v *JSON) *editor {
	t.prepare()
	t.last = editor{
		tree: t, r: r, root: v, slots: t.slots,
		room:     max(0, t.maxBytes()-v.size()),
		maxDepth: max(t.maxDepth(), v.depth()),
	}
	return &t.last
}

// release lets go of the tree that was edited and keeps the memory that was needed for it, unless that is much.
func (t *JSONTree) release(e *editor) {
	clear(e.slots)
	if t.slots = e.slots[:0]; cap(t.slots) > maxSlots {
		t.slots = nil
	}
	t.last = editor{}
}

// maxSlots bounds the memory that is kept for the places of the next tree.
const maxSlots = 4096

// Mutate returns a copy of src after one operator or several on one another, made out of the nodes of dst. It differs
// from src, unless all of src is protected.
func (t *JSONTree) Mutate(r *rand.Rand, dst, src *JSON) *JSON {
	v := copyOnto(dst, src)
	if v == nil {
		return t.Generate(r)
	}
	e := t.edit(r, v)
	e.change(min(1+bits.TrailingZeros32(r.Uint32()), t.maxOps()))
	if v.identical(src) { // one operator took back what another had done
		e.change(1)
	}
	t.release(e)
	return v
}

func (t *JSONTree) maxOps() int {
	if t.MaxOps <= 0 {
		return 4
	}
	return t.MaxOps
}

// change applies n operators that the wheel draws. Where none of many fits, each is tried once in order, and those that
// were switched off come last.
func (e *editor) change(n int) {
	for range n {
		e.scan()
		done := false
		for tries := 0; !done && tries < 24; tries++ {
			done = e.apply(JSONOperator(pick(e.r, e.tree.wheel)))
		}
		for _, on := range [2]bool{true, false} {
			for op := JSONInvalid + 1; op < jsonOperatorCount && !done; op++ {
				if weight, named := e.tree.Weights[op]; (!named || weight > 0) == on {
					done = e.apply(op)
				}
			}
		}
	}
}

// Apply changes v by one operator at one place; false if it fits nowhere. Only JSONSplice looks at other. It is for
// tests and for those who want one certain change; Mutate draws and stacks them.
func (t *JSONTree) Apply(r *rand.Rand, op JSONOperator, v, other *JSON) bool {
	if op == JSONInvalid || op >= jsonOperatorCount {
		return false
	}
	e := t.edit(r, v)
	defer t.release(e)
	e.donor = other
	e.scan()
	return e.apply(op)
}

// Cross puts values of b into a copy of a, made out of the nodes of dst.
func (t *JSONTree) Cross(r *rand.Rand, dst, a, b *JSON) *JSON {
	v := copyOnto(dst, a)
	if v == nil {
		return b.Clone()
	}
	e := t.edit(r, v)
	e.donor = b
	for range 1 + below(r, 2) {
		e.scan()
		for tries := 0; tries < 8 && !e.apply(JSONSplice); tries++ {
			e.scan()
		}
	}
	if v.identical(a) {
		e.change(1)
	}
	t.release(e)
	return v
}

// Generate makes a tree of a few dozen nodes at most, out of drawn values and tokens.
func (t *JSONTree) Generate(r *rand.Rand) *JSON {
	t.prepare()
	return t.generate(r, min(4, t.maxDepth()))
}

func (t *JSONTree) generate(r *rand.Rand, depth int) *JSON {
	kind := between(r, 0, 7)
	if depth == 0 {
		kind = below(r, 5)
	}
	switch kind {
	case 0:
		return NewNull()
	case 1:
		return NewBool(chance(r, 1, 2))
	case 2:
		return NewInt(int64(r.Uint64()) >> below(r, 64))
	case 3:
		return NewNumber(pick(r, boundaryNumbers))
	case 4:
		return NewString(t.words.Token(r))
	case 5:
		v := NewArray()
		for range below(r, 5) {
			v.Items = append(v.Items, t.generate(r, depth-1))
		}
		return v
	}
	v := NewObject()
	for range below(r, 5) {
		v.Members = append(v.Members, Member{Name: t.words.TokenOf(r, Field), Value: t.generate(r, depth-1)})
	}
	return v
}

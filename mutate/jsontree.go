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

// JSONTree is the mutator of JSON trees. Mutate draws operators by weight, applies each at a random slot that fits, and stacks them.
// The zero value is ready to use; fields must not be changed after the first call. The results are a pure function of the fields and
// the arguments. It is for one goroutine at a time.
type JSONTree struct {
	// MaxBytes is the maximum length of the text of a mutant, in bytes, or that of its source if that is longer. 0: 1 MiB.
	MaxBytes int
	// MaxDepth is the maximum nesting depth of a mutant, or that of its source if that is deeper. 0: 10,000, which is also the
	// limit of ParseJSON.
	MaxDepth int
	// MaxOps is the maximum number of stacked operators; half of the mutants have one, a quarter two and so on. 0: 4.
	MaxOps int
	// Dictionary holds tokens and names to insert. nil: DefaultDictionary.
	Dictionary *Dictionary
	// Weights overrides the weights of operators; 0 switches an operator off, 255 is the maximum. Operators that are not in
	// the map keep their default weights, 1 to 8.
	Weights map[JSONOperator]int
	// Protect reports whether a value must not be changed, nor anything in it, nor its pointer and the names of members in that.
	// nil: no value is protected.
	Protect func(pointer string) bool

	wheel wheel
	words *Dictionary
	slots []slot
	last  editor // reused
}

// Clone returns a mutator with the same settings for another worker. The two share the dictionary.
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

// prepare initialises the mutator on first use.
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

// edit returns an editor of v, which may grow up to the limits.
func (t *JSONTree) edit(r *rand.Rand, v *JSON) *editor {
	t.prepare()
	t.last = editor{
		tree: t, r: r, root: v, slots: t.slots,
		room:     max(0, t.maxBytes()-v.size()),
		maxDepth: max(t.maxDepth(), v.depth()),
	}
	return &t.last
}

// release drops the references to the edited tree. It keeps the memory of the editor unless it is large.
func (t *JSONTree) release(e *editor) {
	clear(e.slots)
	if t.slots = e.slots[:0]; cap(t.slots) > maxSlots {
		t.slots = nil
	}
	t.last = editor{}
}

// maxSlots limits the memory that is kept for the slots of the next tree.
const maxSlots = 4096

// Mutate returns a copy of src after one operator or several stacked ones, and reuses the nodes of dst. The copy differs from src
// unless all of src is protected.
func (t *JSONTree) Mutate(r *rand.Rand, dst, src *JSON) *JSON {
	v := copyOnto(dst, src)
	if v == nil {
		return t.Generate(r)
	}
	e := t.edit(r, v)
	e.change(min(1+bits.TrailingZeros32(r.Uint32()), t.maxOps()))
	if v.identical(src) { // one operator has undone another
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

// change applies n operators drawn by weight. If many in a row cannot be applied, each operator is tried once in order, those that are
// switched off last.
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

// Apply changes v by one operator at a random slot. It returns false if the operator cannot be applied anywhere. Only JSONSplice uses
// other. Apply is for tests and for callers that need a particular operator.
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

// Cross returns a copy of a in which values of b replace others, and reuses the nodes of dst.
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

// Generate makes a tree of at most a few dozen nodes from random values and tokens.
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

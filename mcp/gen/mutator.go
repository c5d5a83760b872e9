package gen

import (
	"context"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// MutatorConfig says how scripts are made. Session has to be set.
type MutatorConfig struct {
	Session *session.Session // what the server said of itself; only read
	// Choice is which tools may be called: [session.Selection.Apply]. nil: what the zero Selection chooses.
	Choice *session.Choice
	// Dictionary is where words come from, beside those of the session; only read. nil: [DefaultDictionary].
	Dictionary *mutate.Dictionary
	// Profile weighs the mutations and says how often the rare things happen. The zero value is [Standard].
	Profile Profile
}

// Mutator makes scripts for one server, and changes them. It makes what it was configured for and nothing else: it does
// not change with what is sent, so that an input is a function of the generator and of the inputs it was made from. It
// has one owner; others use a Clone.
type Mutator struct {
	e       editor
	profile Profile
	wheel   wheel
	drops   bool // ConnectionDrop has a weight; how great it is does not matter, since scripts with a process of their own are rare
}

var (
	_ teasel.Mutator[script.Script]    = (*Mutator)(nil)
	_ teasel.Stepper[script.Script]    = (*Mutator)(nil)
	_ teasel.Simplifier[script.Script] = (*Mutator)(nil)
	_ teasel.Crosser[script.Script]    = (*Mutator)(nil)
	_ teasel.Joiner[script.Script]     = (*Mutator)(nil)
)

// NewMutator prepares the tools of a session. [Mutator.Skipped] returns what cannot be prepared.
func NewMutator(c MutatorConfig) *Mutator {
	m, err := NewMutatorContext(context.Background(), c)
	if err != nil {
		panic("mcp: internal error: a context that never ends has ended: " + err.Error())
	}
	return m
}

// NewMutatorContext is like [NewMutator] but stops when the context ends, and returns the context's error: a session of
// thousands of tools takes seconds to prepare.
func NewMutatorContext(ctx context.Context, c MutatorConfig) (*Mutator, error) {
	if c.Choice == nil {
		choice, err := session.Selection{}.Apply(c.Session)
		if err != nil {
			panic("mcp: internal error: the empty selection has no globs that could be wrong: " + err.Error())
		}
		c.Choice = &choice
	}
	if c.Dictionary == nil {
		c.Dictionary = DefaultDictionary()
	}
	p := c.Profile.orStandard()
	b, err := session.NewCatalog(ctx, c.Session, c.Choice, c.Dictionary)
	if err != nil {
		return nil, err
	}
	return newMutator(newMaterial(b), p), nil
}

// How long ordinary mutation makes the arguments of a message, in bytes, and how long seldom. ResourceExhaustion goes
// further.
const (
	maxValue = 2 << 10
	maxLarge = 64 << 10
)

func newMutator(b *material, p Profile) *Mutator {
	return &Mutator{
		e: editor{
			b: b, adversarial: p.Adversarial,
			havoc:  mutate.Bytes{MaxOps: 4, Dictionary: b.Dictionary, Weights: p.ByteWeights, BitRatio: p.BitRatio, ByteRatio: p.ByteRatio},
			values: mutate.JSONTree{MaxBytes: maxValue, Dictionary: b.Dictionary},
			large:  mutate.JSONTree{MaxBytes: maxLarge, Dictionary: b.Dictionary},
		},
		profile: p,
		wheel:   newWheel(p.Weights, b.Session.HTTP),
		drops:   weightOf(p.Weights, ConnectionDrop) > 0 && !b.Session.HTTP,
	}
}

// Skipped returns the tools, and the parts of tools, that are not fuzzed as they should be, in order of their names.
func (m *Mutator) Skipped() []session.Skip { return slices.Clone(m.e.b.Skipped) }

// Clone returns a mutator that does the same and may be used at the same time.
func (m *Mutator) Clone() *Mutator { return newMutator(m.e.b, m.profile) }

// Complexity implements [teasel.Mutator]: about the bytes that are sent, a message counting as 32 more.
func (m *Mutator) Complexity(in script.Script) float64 { return script.Complexity(&in) }

// Mutate changes a script in one to four ways that are stacked, or makes another one: [Profile.MutateRatio]. It always
// differs from src. An envelope that is wrong is mostly put right first. The result has no label, and seldom a process of its own: a process costs as much time as thousands
// of messages.
func (m *Mutator) Mutate(r *teasel.Rand, dst, src script.Script) script.Script {
	e := &m.e
	if len(src.Steps) == 0 || r.Float64() >= m.profile.MutateRatio {
		in := m.generate(r, dst)
		if script.Same(&in, &src) {
			e.begin(r, script.Script{}, in)
			e.last()
			in = e.end()
		}
		return in
	}
	e.begin(r, dst, src)
	alone := m.mayStart(r)
	if e.in.Start == script.Fresh && !alone {
		e.toShared()
	}
	if alone {
		m.alone()
	}
	if e.r.IntN(4) > 0 {
		e.repairEnvelope()
	}
	m.stack()
	return m.finish(src)
}

// mayStart draws whether a script may have a process of its own.
func (m *Mutator) mayStart(r *teasel.Rand) bool {
	return m.profile.FreshEvery > 0 && r.IntN(m.profile.FreshEvery) == 0
}

// alone makes use of a process of its own.
func (m *Mutator) alone() {
	e := &m.e
	if m.drops && e.r.IntN(2) == 0 {
		dropConnection(e)
		return
	}
	if e.in.Start != script.Fresh {
		e.toFresh()
	}
	reorder(e)
}

func (m *Mutator) stack() {
	e := &m.e
	want := 1
	for want < m.profile.Stack && e.r.IntN(2) == 0 {
		want++
	}
	for tries := 4 * want; want > 0 && tries > 0; tries-- {
		if mutations[m.wheel.spin(e)].apply(e) {
			want--
		}
	}
}

// finish ends a mutation. Changes may have undone each other; then a last one is made that cannot fail.
func (m *Mutator) finish(src script.Script) script.Script {
	e := &m.e
	e.endWhole()
	for i := range e.trees {
		e.settle(i)
	}
	if script.Same(&e.in, &src) {
		e.last()
	}
	return e.end()
}

// last changes a script in a way that always differs from what it was.
func (e *editor) last() {
	if e.full() {
		e.remove(len(e.in.Steps) - 1)
		return
	}
	e.add(e.copyOf(e.r.IntN(len(e.in.Steps))))
}

// Apply makes one certain mutation. False means that it cannot change this script.
func (m *Mutator) Apply(r *teasel.Rand, mutation Mutation, dst, src script.Script) (script.Script, bool) {
	e := &m.e
	e.begin(r, dst, src)
	if len(src.Steps) == 0 || mutation == MutationInvalid || mutation >= mutationCount {
		return e.end(), false
	}
	ok := mutations[mutation].apply(e)
	e.endWhole()
	in := e.end()
	return in, ok && !script.Same(&in, &src)
}

// Parts implements [teasel.Joiner]: the steps, and what the head of a request says beside the rest. What was made to measure growth is one.
func (m *Mutator) Parts(in script.Script) int {
	if measuresGrowth(&in) {
		return 1
	}
	return len(parts(&in))
}

package gofunc

import (
	"encoding/json"
	"flag"
	"hash/fnv"
	"math/rand/v2"
	"testing"
	"unsafe"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/mutate/typed"
	"github.com/teaselfuzz/teasel/policy"
)

// Fuzz runs a fuzz test over values of the type T, as [testing.F.Fuzz] does over bytes. It is called at the end of a
// FuzzX function. check may do with its argument as it likes. Seeds that T's mutator could not make fail the test. Unexported
// fields of seeds, and those with the tag fuzz:"-", are zero when check gets them: inputs are saved as JSON, which has none.
func Fuzz[T any](f *testing.F, check func(t *testing.T, in T), seeds ...T) {
	f.Helper()
	Test[T]{}.Fuzz(f, check, seeds...)
}

// Test has the settings of a fuzz test over values of the type T. The zero value is ready.
type Test[T any] struct {
	// Mutator makes and changes the values. The zero value is that of typed.Of[T]().
	Mutator typed.Mutator[T]
	// MaxComplexity bounds how large values become, in the unit of the mutator: about a byte. 0: 4096.
	MaxComplexity float64
	// Words and Texts are numbers and strings that are worth trying anywhere.
	Words []uint64
	Texts []string
	// Allocations keeps inputs for which more memory is allocated than for any other, in objects. It costs some ten
	// microseconds an execution.
	Allocations bool
	// Pools decide which inputs a worker keeps and works on. nil: one that keeps the simplest input for everything that is
	// reached, with three quarters of the work, and one that keeps the input with the greatest value for each measure. What
	// the campaign saves is decided by those two in any case.
	Pools policy.Portfolio
	// Figures returns what sensors of the test's own have come to, such as how many kinds of answer there were: the same names each time. It
	// is called about once a second, between two executions. The figures are shown, and written beside those of the pools; nil: there are none.
	Figures func() []policy.Figure
}

// MeasureID returns the id that a measure of [Maximize] has in pools.
func MeasureID(name string) uint32 { return number(name) }

// Fuzz runs the test. See [Fuzz].
func (c Test[T]) Fuzz(f *testing.F, check func(t *testing.T, in T), seeds ...T) {
	f.Helper()
	m := c.Mutator
	if m.IsZero() {
		m = typed.Of[T]()
	}
	plan, err := m.Plan()
	if err != nil {
		f.Fatalf("gofunc: %v", err)
	}
	// From here on nothing depends on T: code that does is compiled into the package of the test and instrumented with it.
	g := &target{plan: plan, complexity: c.MaxComplexity, words: c.Words, texts: c.Texts, allocations: c.Allocations, pools: c.Pools, figures: c.Figures,
		check: func(t *testing.T, p unsafe.Pointer) { check(t, *(*T)(p)) }}
	for i := range seeds {
		v, err := plan.Take(unsafe.Pointer(&seeds[i]))
		if err != nil {
			f.Fatalf("gofunc: seed %d: %v", i, err)
		}
		g.seeds = append(g.seeds, v)
	}
	if len(seeds) == 0 {
		v, _ := g.editor().First(0)
		if v.Rejected() {
			f.Fatalf("gofunc: a typed.Filter accepts none of a thousand values of %v: call Fuzz with a seed that it accepts", plan.Type())
		}
		g.seeds = append(g.seeds, v)
	}
	g.fuzz(f)
}

// target is a fuzz test without the type of its inputs.
type target struct {
	plan        *typed.Plan
	check       func(t *testing.T, in unsafe.Pointer)
	seeds       []*typed.Value // the simplest value if the test has none
	complexity  float64
	words       []uint64
	texts       []string
	allocations bool
	pools       policy.Portfolio
	figures     func() []policy.Figure
	tried       *tried      // nil: there are too many values
	statistics  *statistics // nil: there are none
	compares    compares    // nil: the test binary is not built by teasel go
}

func (g *target) editor() *typed.Editor {
	e := typed.NewEditor(g.plan)
	e.MaxComplexity, e.Words, e.Texts, e.Accepted = g.complexity, g.words, g.texts, g.seeds
	return e
}

func (g *target) fuzz(f *testing.F) {
	f.Helper()
	s, err := link.Read()
	if err != nil {
		f.Fatalf("gofunc: %v", err)
	}
	if s != nil {
		g.child(f, s)
		return
	}
	if agent.Describing() { // teasel asks what test this is, and starts a child once it knows
		if err := agent.Describe(agent.Description{Types: []string{"string"}, Counters: len(counters()), Typed: g.plan.Type().String()}); err != nil {
			f.Fatalf("gofunc: %v", err)
		}
		f.SkipNow()
	}
	for _, v := range g.seeds {
		data, err := g.plan.Encode(v)
		if err != nil {
			f.Fatalf("gofunc: %v", err)
		}
		f.Add(string(data))
	}
	f.Fuzz(func(t *testing.T, in string) {
		t.Helper()
		if err := g.fits(in); err != nil {
			if fuzzing() { // Go's fuzzer makes such text, and would save it as failing
				t.Skip(err)
			}
			t.Fatalf("gofunc: %v\nhint: if the type has changed, adapt or remove the file testdata/fuzz/%s", err, t.Name())
		}
		v, err := g.decode(in)
		if err != nil && testing.Verbose() {
			t.Logf("the input is made of the bytes of the text, since it is not JSON: %v", err)
		}
		g.check(t, g.plan.Argument(v))
	})
}

// fuzzing reports whether this is go test -fuzz.
func fuzzing() bool {
	f := flag.Lookup("test.fuzz")
	return f != nil && f.Value.String() != ""
}

// fits returns why a text that is JSON is not a value of the test's type; nil: it is one, or the text is not JSON.
func (g *target) fits(text string) error {
	_, err := g.plan.Decode([]byte(text))
	if err == nil || !json.Valid([]byte(text)) {
		return nil
	}
	return err
}

// decode returns the value that a text is the JSON of. With an error, the value is made of the bytes of the text.
func (g *target) decode(text string) (*typed.Value, error) {
	v, err := g.plan.Decode([]byte(text))
	if err != nil {
		v = g.fromBytes(text)
	}
	return v, err
}

// codec writes values as files of Go's corpus, with which plain go test runs the test. It reads every such file: those that
// do not fit the type are left out before a campaign begins, see link.Check.
type codec struct{ g *target }

var _ teasel.Codec[*typed.Value] = codec{}

// Encode implements teasel.Codec.
func (c codec) Encode(v *typed.Value) ([]byte, error) {
	data, err := c.g.plan.Encode(v)
	if err != nil {
		return nil, err
	}
	return link.File(data), nil
}

// Decode implements teasel.Codec.
func (c codec) Decode(file []byte) (*typed.Value, error) {
	text, err := link.Input(file)
	if err != nil {
		return nil, err
	}
	v, _ := c.g.decode(string(text))
	return v, nil
}

// fromBytes makes a value by decisions that the bytes take, so that a change of a byte changes a decision.
func (g *target) fromBytes(data string) *typed.Value {
	h := fnv.New64a()
	_, _ = h.Write([]byte(data))
	return g.editor().Generate(rand.New(&decisions{data: data, rest: rand.NewPCG(h.Sum64(), 0)}))
}

// decisions is a source of random numbers that are read from bytes, and are a function of all of them when these have
// been used up.
type decisions struct {
	data string
	rest *rand.PCG
}

var _ rand.Source = (*decisions)(nil)

// Uint64 spreads each pair of bytes over a number, since its users look at the high bits or at the low ones.
func (d *decisions) Uint64() uint64 {
	if len(d.data) < 2 {
		return d.rest.Uint64()
	}
	x := uint64(d.data[0]) | uint64(d.data[1])<<8
	d.data = d.data[2:]
	return x * 0x0001_0001_0001_0001
}

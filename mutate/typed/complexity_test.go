package typed_test

import (
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

// No change makes a value more complex than the limit.
func TestMaxComplexityHolds(t *testing.T) {
	type in struct{ A, B, C, D string }
	e := editor(t, typed.Of[in]())
	e.MaxComplexity = 100
	e.Texts = []string{strings.Repeat("a word of the dictionary ", 3), strings.Repeat("long ", 500)}
	everyWay(e, func(v *typed.Value) {
		if c := e.Complexity(v); c > 100 {
			t.Fatalf("the complexity is %v of at most 100: %s", c, text(t, e, v))
		}
	})

	e = editor(t, typed.Custom[string](doubling{}))
	e.MaxComplexity = 100
	everyWay(e, func(v *typed.Value) {
		if c := e.Complexity(v); c > 100 {
			t.Fatalf("a custom mutator makes a value of complexity %v, want at most 100", c)
		}
	})
}

// A seed that is more complex than the limit can be changed and simplified, but not made more complex.
func TestValueAboveMaxComplexity(t *testing.T) {
	e := editor(t, typed.Of[[]string]())
	e.MaxComplexity = 50
	v, err := e.Decode([]byte(`["` + strings.Repeat("x", 100) + `","y"]`))
	if err != nil {
		t.Fatal(err)
	}
	r, first, changed := rand.New(rand.NewPCG(1, 2)), text(t, e, v), 0
	for range 200 {
		m := e.Mutate(r, nil, v)
		if c := e.Complexity(m); c > e.Complexity(v) {
			t.Fatalf("the complexity grew from %v to %v", e.Complexity(v), c)
		}
		if text(t, e, m) != first {
			changed++
		}
	}
	if changed < 50 {
		t.Errorf("%d of 200 mutants differ", changed)
	}
	if s, ok := e.Simplify(1, nil, v); !ok || e.Complexity(s) >= e.Complexity(v) {
		t.Error("it cannot be simplified")
	}
}

// doubling is a mutator that ignores limits.
type doubling struct{}

func (doubling) Generate(*teasel.Rand) string                    { return "x" }
func (doubling) Mutate(_ *teasel.Rand, _, src string) string     { return src + src }
func (doubling) Complexity(s string) float64                     { return float64(len(s)) }
func (doubling) Simplify(k uint64, _, src string) (string, bool) { return "x", k == 0 }

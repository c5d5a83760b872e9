package typed_test

import (
	"math/rand/v2"
	"testing"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate/typed"
)

// editor returns an editor for values of the type T.
func editor[T any](t testing.TB, m typed.Mutator[T]) *typed.Editor {
	t.Helper()
	p, err := m.Plan()
	if err != nil {
		t.Fatal(err)
	}
	return typed.NewEditor(p)
}

// everyWay calls check with values that were generated and changed by all methods of the editor.
func everyWay(e *typed.Editor, check func(v *typed.Value)) {
	r := rand.New(rand.NewPCG(1, 2))
	last, _ := e.First(0)
	for k := range uint64(20) {
		v, ok := e.First(k)
		if !ok {
			break
		}
		check(v)
	}
	for id := range teasel.ID(300) {
		v := e.Generate(r)
		check(v)
		for range 5 {
			v = e.Mutate(r, nil, v)
			check(v)
		}
		for k := range uint64(40) {
			if s, ok := e.Step(k, nil, v); ok {
				check(s)
			}
			if s, ok := e.Simplify(k, nil, v); ok {
				check(s)
			}
		}
		v = e.Cross(r, nil, v, last)
		check(v)
		e.Kept(id, v)
		last = v
	}
}

// Values of a field with bounds can be encoded and decoded, also if the type cannot represent the bounds exactly.
func TestBoundsOfFloat32(t *testing.T) {
	type in struct {
		Ratio float32 `fuzz:"min=0.7,max=0.9"`
	}
	e := editor(t, typed.Of[in]())
	everyWay(e, func(v *typed.Value) {
		data := text(t, e, v)
		if _, err := e.Decode([]byte(data)); err != nil {
			t.Fatalf("%s was encoded and cannot be decoded: %v", data, err)
		}
		if x := as[in](v).Ratio; x < 0.7 || x > 0.9 {
			t.Fatalf("%v is not between the bounds", x)
		}
	})
	if _, err := typed.Of[struct {
		Ratio float32 `fuzz:"max=1e300"`
	}]().Plan(); err == nil {
		t.Error("a bound that no float32 reaches is accepted")
	}
}

// A text that is truncated to its maximum length is not cut within a character.
func TestTextOfUTF8AndLength(t *testing.T) {
	type in struct {
		Name string `fuzz:"utf8,len=2..3"`
	}
	e := editor(t, typed.Of[in]())
	e.Texts = []string{"aé", "日本", "\xff\xfe\xfd\xfc", "ééé"}
	everyWay(e, func(v *typed.Value) {
		s := as[in](v).Name
		if !utf8.ValidString(s) || len(s) < 2 || len(s) > 3 {
			t.Fatalf("the text is %q", s)
		}
	})
}

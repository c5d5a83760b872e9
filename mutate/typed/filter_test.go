package typed_test

import (
	"math/rand/v2"
	"testing"

	"github.com/teaselfuzz/teasel/mutate/typed"
)

// A value with a filter, at any depth, is always an accepted one, also if the filter accepts few values.
func TestFilterThatAcceptsLittle(t *testing.T) {
	accept := func(x uint32) bool { return x%100 == 77 }
	m := typed.Filter(typed.Of[uint32](), accept)
	e := editor(t, m)
	everyWay(e, func(v *typed.Value) {
		if x := as[uint32](v); !accept(x) || v.Rejected() {
			t.Fatalf("the value is %d", x)
		}
	})

	inside := editor(t, typed.Slice(m, 0, 5))
	everyWay(inside, func(v *typed.Value) {
		for _, x := range as[[]uint32](v) {
			if !accept(x) {
				t.Fatalf("the value is %d", as[[]uint32](v))
			}
		}
	})

	keys := editor(t, typed.Map[map[uint32]uint32](m, m, 4))
	everyWay(keys, func(v *typed.Value) {
		for k, x := range as[map[uint32]uint32](v) {
			if !accept(k) || !accept(x) {
				t.Fatalf("the value is %d", as[map[uint32]uint32](v))
			}
		}
	})
}

// With a filter that accepts almost nothing, values are made from known ones; without those, the value is marked as rejected.
func TestFilterThatAcceptsAlmostNothing(t *testing.T) {
	accept := func(x uint64) bool { return x == 1_234_567_890_123 || x == 0xfeed_face_cafe }
	e := editor(t, typed.Filter(typed.Of[uint64](), accept))
	if v, ok := e.First(0); !ok || !v.Rejected() {
		t.Errorf("the first value is %d, which is not accepted, and Rejected is false", as[uint64](v))
	}
	v, err := e.Decode([]byte("1234567890123"))
	if err != nil {
		t.Fatal(err)
	}
	e.Accepted = append(e.Accepted, v)
	r := rand.New(rand.NewPCG(1, 2))
	for range 100 {
		if v := e.Generate(r); !accept(as[uint64](v)) {
			t.Fatalf("the value is %d", as[uint64](v))
		}
	}
}

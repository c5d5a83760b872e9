package typed_test

import (
	"math/rand/v2"
	"testing"

	"github.com/teaselfuzz/teasel/mutate/typed"
)

// Values that an interface holds itself, and not behind a pointer, as Go's compiler has it.
type (
	held interface{ isHeld() }

	pointerOnly struct{ N *int }
	mapOnly     struct{ M map[string]int }
	nested      struct{ P pointerOnly }
	one         [1]*string
	withEmpty   struct {
		Nothing struct{}
		N       *int
	}
	table     map[string]bool
	twoFields struct {
		N *int
		S string
	}
)

func (pointerOnly) isHeld() {}
func (mapOnly) isHeld()     {}
func (nested) isHeld()      {}
func (one) isHeld()         {}
func (withEmpty) isHeld()   {}
func (table) isHeld()       {}
func (twoFields) isHeld()   {}

// Choices of every layout are generated, changed, taken back, copied and encoded.
func TestChoicesInTheInterfaceItself(t *testing.T) {
	p, err := typed.Of[[]held](typed.Choices[held](pointerOnly{}, mapOnly{}, nested{}, one{}, withEmpty{}, table{}, twoFields{})).Plan()
	if err != nil {
		t.Fatal(err)
	}
	e := typed.NewEditor(p)
	r := rand.New(rand.NewPCG(1, 2))
	seen := map[string]bool{}
	for range 500 {
		v := e.Generate(r)
		for _, h := range as[[]held](v) {
			switch h := h.(type) {
			case pointerOnly:
				seen["pointer"] = seen["pointer"] || h.N != nil
			case mapOnly:
				seen["map"] = seen["map"] || len(h.M) > 0
			case nested:
				seen["nested"] = seen["nested"] || h.P.N != nil
			case one:
				seen["array"] = seen["array"] || h[0] != nil && *h[0] != ""
			case withEmpty:
				seen["empty"] = seen["empty"] || h.N != nil
			case table:
				seen["table"] = seen["table"] || len(h) > 0
			case twoFields:
				seen["two"] = seen["two"] || h.N != nil && h.S != ""
			}
		}
		before := text(t, e, v)
		back, err := e.Decode([]byte(before))
		if err != nil || text(t, e, back) != before {
			t.Fatalf("decoded: %v\n%s", err, before)
		}
		for range 5 {
			e.Change(r, &v)
		}
		after := text(t, e, v)
		if taken, err := e.Take(e.Argument(v)); err != nil || text(t, e, taken) != after {
			t.Fatalf("copied: %v\n%s", err, after)
		}
		if packed, err := e.Unpack(e.Pack(nil, v)); err != nil || text(t, e, packed) != after {
			t.Fatalf("packed: %v\n%s", err, after)
		}
		for range 5 {
			e.Undo(&v)
		}
		if got := text(t, e, v); got != before {
			t.Fatalf("taken back:\n%s\n%s", before, got)
		}
	}
	if len(seen) != 7 {
		t.Errorf("only %v were generated with content", seen)
	}
}

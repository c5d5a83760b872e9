package operands

import (
	"testing"

	"github.com/teaselfuzz/teasel"
)

func TestFits(t *testing.T) {
	for _, test := range []struct {
		v       uint64
		n, size int
		want    bool
	}{
		{0xff, 1, 4, true}, {0x100, 1, 4, false}, {0xffffffff, 1, 4, true}, {0xffffff00, 1, 4, false}, {0xffffff80, 1, 4, true},
		{^uint64(0), 2, 8, true}, {1 << 40, 4, 8, false}, {1 << 31, 4, 8, true}, {0x8000, 2, 2, true},
	} {
		if got := fits(test.v, test.n, test.size); got != test.want {
			t.Errorf("%#x of %d bytes in %d: %v", test.v, test.size, test.n, got)
		}
	}
}

// TestPairsTakeTurns: the candidates of one pair, whose value occurs often, do not come before all those of another.
func TestPairsTakeTurns(t *testing.T) {
	in := []byte("aaaaaab")
	rec := &Recording{History: &History{}, Numbers: []teasel.Operand{{Site: 1, A: 'x', B: 'a', Size: 1, Const: true}, {Site: 2, A: 'y', B: 'b', Size: 1, Const: true}}}
	swaps := Swaps(in, rec)
	for i, want := range []Swap{{0, 1, "x"}, {6, 1, "y"}, {1, 1, "x"}, {6, 1, "z"}} {
		if i >= len(swaps) || swaps[i] != want {
			t.Fatalf("%v: candidate %d is not %v", swaps, i, want)
		}
	}
	seen := map[Swap]bool{}
	for _, s := range swaps {
		seen[s] = true
	}
	if want := 3*maxPlaces + 3; len(seen) != want || len(swaps) != want {
		t.Errorf("%d candidates, %d of them different, instead of %d", len(swaps), len(seen), want)
	}
}

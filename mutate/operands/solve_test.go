package operands

import "testing"

// TestEffects: the chosen effects add up to the given sum, or to the nearest total on the requested side.
func TestEffects(t *testing.T) {
	effects := func(adds ...int64) (es []effect) {
		for i, n := range adds {
			es = append(es, effect{at: i, adds: n})
		}
		return es
	}
	binary := effects(1, 2, 4, 8, 16, 32, 64, 128)
	for _, test := range []struct {
		name            string
		effects         []effect
		sum             int64
		size            int
		below, above    int64 // totals that greedy reaches
		modular, solved bool
	}{
		{"binary", binary, 77, 1, 77, 77, true, true},
		{"none", nil, 5, 4, 0, 0, true, false},
		{"scaled", effects(3, 6, 12, 24), 33, 4, 33, 33, true, true},
		{"scaled, between", effects(3, 6, 12, 24), 34, 4, 33, 36, true, false},
		{"signs", effects(-1, 2, -4, 8, -16), -13, 2, -13, -13, true, true},
		{"two of each", effects(1, 2, 4, 1, 2, 4), 14, 4, 14, 14, true, false},
		{"overflow", effects(-102, 52, 104, -48), -50, 1, -50, -50, true, true},
		{"above all", binary, 256, 4, 255, 255, true, false},
		{"out of a range", effects(1, 2, 4, 8, 16, 32, 64, 28, 56, 12), 99, 2, 99, 99, false, false},
	} {
		total := func(es []effect) (sum int64) {
			seen := map[int]bool{}
			for _, e := range es {
				if seen[e.at] {
					t.Errorf("%s: %v is chosen twice", test.name, e)
				}
				seen[e.at] = true
				sum += e.adds
			}
			return sum
		}
		if below, above := total(greedy(test.effects, test.sum, false)), total(greedy(test.effects, test.sum, true)); below != test.below || above != test.above {
			t.Errorf("%s: %d and %d, want %d and %d", test.name, below, above, test.below, test.above)
		}
		got := total(modular(test.effects, test.sum, test.size))
		if solved := signed(uint64(got-test.sum), test.size) == 0; test.modular && solved != test.solved {
			t.Errorf("%s: modulo 2^%d it comes to %d", test.name, 8*test.size, got)
		}
	}
}

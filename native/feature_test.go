package native

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// TestFeatures: features of edges begin with 1, and features of string comparisons are distinct from them.
func TestFeatures(t *testing.T) {
	const first = sancov.Texts * buckets
	for n, want := range map[uint32]teasel.Feature{
		0: textFeatures, first - 1: textFeatures + first - 1, first: 1, first + 8: 9, 1<<32 - 1: 1<<32 - first,
	} {
		f := featureOf(n)
		if back, ok := numberOf(f); f != want || back != n || !ok {
			t.Errorf("%d: feature %d, want %d; %d, %v", n, f, want, back, ok)
		}
	}
	for _, f := range []teasel.Feature{0, 1<<32 - first + 1, 1 << 32, textFeatures - 1, textFeatures + first} {
		if n, ok := numberOf(f); ok {
			t.Errorf("feature %d is taken for number %d", f, n)
		}
	}
}

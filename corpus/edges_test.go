package corpus

import (
	"maps"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// An edge is one, whatever its count; features behind those of edges are none.
func TestEdgeSet(t *testing.T) {
	s := EdgeSet{}
	s.Add(teasel.NewFeatureSet(1, 8))
	s.Add(teasel.NewFeatureSet(9, 8, 1<<32, 1<<32+1))
	if got, want := slices.Sorted(maps.Keys(s)), []teasel.Feature{0, 1, 1<<29 - 1}; !slices.Equal(got, want) {
		t.Errorf("edges %v, want %v", got, want)
	}
}

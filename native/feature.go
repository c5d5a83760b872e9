package native

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// textFeatures is where the features of comparisons of texts begin, which are no edges.
const textFeatures = 1 << 33

// buckets is how many features a counter has.
const buckets = 8

// featureOf is the feature that the runtime has numbered so: those of edges begin with 1.
func featureOf(n uint32) teasel.Feature {
	if n < sancov.Texts*buckets {
		return textFeatures + teasel.Feature(n)
	}
	return teasel.Feature(n-sancov.Texts*buckets) + 1
}

// numberOf is the runtime's number of a feature; false: it is none of ours.
func numberOf(f teasel.Feature) (uint32, bool) {
	switch {
	case f >= textFeatures && f < textFeatures+sancov.Texts*buckets:
		return uint32(f - textFeatures), true
	case f > 0 && f <= 1<<32-sancov.Texts*buckets:
		return uint32(f-1) + sancov.Texts*buckets, true
	}
	return 0, false
}

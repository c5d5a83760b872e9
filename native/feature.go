package native

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// textFeatures is the first feature that is an outcome of a comparison of texts; those below are edges.
const textFeatures = 1 << 33

// buckets is how many features a counter has, one for each range of hits.
const buckets = 8

// featureOf returns the feature with a number of the runtime's, which begins with comparisons of texts.
func featureOf(n uint32) teasel.Feature {
	if n < sancov.Texts*buckets {
		return textFeatures + teasel.Feature(n)
	}
	return teasel.Feature(n-sancov.Texts*buckets) + 1
}

// numberOf returns the runtime's number of a feature. False: it is no feature of the runtime.
func numberOf(f teasel.Feature) (uint32, bool) {
	switch {
	case f >= textFeatures && f < textFeatures+sancov.Texts*buckets:
		return uint32(f - textFeatures), true
	case f > 0 && f <= 1<<32-sancov.Texts*buckets:
		return uint32(f-1) + sancov.Texts*buckets, true
	}
	return 0, false
}

package native

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/sancov"
)

// textFeatures is the first feature that stands for the result of a string comparison; features below it are edges.
const textFeatures = 1 << 33

// buckets is the number of features of a counter, one for each range of hits.
const buckets = 8

// featureOf returns the feature for a number of the runtime, in which string comparisons come first.
func featureOf(n uint32) teasel.Feature {
	if n < sancov.Texts*buckets {
		return textFeatures + teasel.Feature(n)
	}
	return teasel.Feature(n-sancov.Texts*buckets) + 1
}

// numberOf returns the runtime's number of a feature, and false if the feature is not one of the runtime.
func numberOf(f teasel.Feature) (uint32, bool) {
	switch {
	case f >= textFeatures && f < textFeatures+sancov.Texts*buckets:
		return uint32(f - textFeatures), true
	case f > 0 && f <= 1<<32-sancov.Texts*buckets:
		return uint32(f-1) + sancov.Texts*buckets, true
	}
	return 0, false
}

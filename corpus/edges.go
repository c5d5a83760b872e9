package corpus

import "github.com/teaselfuzz/teasel"

// EdgeSet is a set of edges of an instrumented target, by number. Those are in its features up to 2^32: the number of the edge times 8
// plus the bucket of its count, plus 1.
type EdgeSet map[teasel.Feature]struct{}

// Add adds the edges of features.
func (s EdgeSet) Add(fs teasel.FeatureSet) {
	const buckets, last = 8, 1 << 32
	for f := range fs.All() {
		if f <= last {
			s[(f-1)/buckets] = struct{}{}
		}
	}
}

package corpus

import (
	"cmp"
	"slices"

	"github.com/teaselfuzz/teasel"
)

// Merge puts corpora together. Of entries with the same key the first one that was run is kept, at the place of the
// first; how far work on it has gone is the furthest of all.
func Merge(corpora ...[]teasel.Entry) []teasel.Entry {
	var out []teasel.Entry
	at := map[string]int{}
	for _, c := range corpora {
		for _, e := range c {
			i, dup := at[e.Key]
			if !dup {
				at[e.Key] = len(out)
				out = append(out, e)
				continue
			}
			step, picked := max(out[i].Step, e.Step), max(out[i].Picked, e.Picked)
			if out[i].Runs == 0 {
				out[i] = e
			}
			out[i].Step, out[i].Picked = step, picked
		}
	}
	return out
}

// Minimal returns a part of the entries, in their order, that reaches every feature that all of them reach. No entry
// of it could be left out. For each feature, the rarest first, that no entry chosen so far reaches, the simplest one
// that does is chosen, as afl-cmin does; then entries that later choices made redundant are dropped, the most complex first.
// Entries without features stay: they were never run, or are kept for a measure, so that features do not say whether they are
// needed.
func Minimal(entries []teasel.Entry) []teasel.Entry {
	entries = Merge(entries)
	rank := make([]int, 0, len(entries)) // indices, simplest first
	chosen := make([]bool, len(entries))
	for i := range entries {
		if chosen[i] = entries[i].Features.Len() == 0; !chosen[i] {
			rank = append(rank, i)
		}
	}
	slices.SortFunc(rank, func(i, j int) int {
		a, b := &entries[i], &entries[j]
		return cmp.Or(cmp.Compare(a.Complexity, b.Complexity), cmp.Compare(len(a.Data), len(b.Data)), cmp.Compare(a.Key, b.Key))
	})
	features := rarestFirst(entries, rank)
	covered := make(map[teasel.Feature]int, len(features)) // by how many of those chosen
	for _, f := range features {
		if covered[f.id] > 0 {
			continue
		}
		chosen[f.simplest] = true
		for g := range entries[f.simplest].Features.All() {
			covered[g]++
		}
	}
	for _, i := range slices.Backward(rank) {
		own := entries[i].Features.Append(nil)
		if !chosen[i] || slices.ContainsFunc(own, func(f teasel.Feature) bool { return covered[f] < 2 }) {
			continue
		}
		chosen[i] = false
		for _, f := range own {
			covered[f]--
		}
	}
	var out []teasel.Entry
	for i := range entries {
		if chosen[i] {
			out = append(out, entries[i])
		}
	}
	return out
}

// heldFeature is a feature that entries have.
type heldFeature struct {
	id       teasel.Feature
	simplest int // entry
	holders  int
}

// rarestFirst returns the features of entries, those first that the fewest have. rank has the entries, simplest first.
func rarestFirst(entries []teasel.Entry, rank []int) (features []heldFeature) {
	at := map[teasel.Feature]int{}
	for _, i := range rank {
		for f := range entries[i].Features.All() {
			if k, ok := at[f]; ok {
				features[k].holders++
			} else {
				at[f] = len(features)
				features = append(features, heldFeature{f, i, 1})
			}
		}
	}
	slices.SortStableFunc(features, func(a, b heldFeature) int {
		return cmp.Or(cmp.Compare(a.holders, b.holders), cmp.Compare(a.id, b.id))
	})
	return features
}

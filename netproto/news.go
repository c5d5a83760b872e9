package netproto

import (
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// anyNews reports whether a dialogue has reached anything that is not known from one as simple.
func (e *executor) anyNews(complexity float64) bool {
	for _, f := range e.responses.all {
		if e.known.news(f, complexity) {
			return true
		}
	}
	return e.coverage != nil && e.coverage.news(complexity)
}

// reached appends everything that a dialogue has reached.
func (e *executor) reached(dst []teasel.Feature) []teasel.Feature {
	dst = append(dst, e.responses.all...)
	if e.coverage != nil {
		dst = e.coverage.all(dst)
	}
	return dst
}

// confirm holds a dialogue that seems to have reached something new once more. What does not recur came of what earlier
// dialogues had left behind, or of chance, and may still be news another time, but not for ever.
func (e *executor) confirm(ctx context.Context, in *dialogue.Dialogue, o *teasel.Observation, complexity float64) error {
	first := e.onlyNews(e.reached(nil), complexity)
	if err := e.holdAgain(ctx, in, o); err != nil || o.Evidence != nil {
		return err
	}
	recurring := map[teasel.Feature]bool{}
	for _, f := range e.reached(nil) {
		recurring[f] = true
	}
	for _, f := range first {
		if recurring[f] {
			o.Features = append(o.Features, f)
		} else if !e.known.unsteady(f) {
			continue
		}
		e.Learn([]teasel.Feature{f}, complexity)
	}
	return nil
}

// onlyNews keeps of features those that are not known from a dialogue as simple.
func (e *executor) onlyNews(fs []teasel.Feature, complexity float64) (kept []teasel.Feature) {
	for _, f := range fs {
		if f >= edgeFeatures && !f.IsState() {
			if len(e.coverage.novelty.New([]uint32{uint32(f - edgeFeatures)}, int(complexity))) == 0 {
				continue
			}
		} else if !e.known.news(f, complexity) {
			continue
		}
		kept = append(kept, f)
	}
	return kept
}

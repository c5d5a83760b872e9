package netproto

import (
	"hash/fnv"
	"math"
	"math/bits"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// known are the features of responses that the worker holds, and the lowest complexity of a dialogue that reaches each.
type known struct {
	best         map[teasel.Feature]float64
	unreproduced map[teasel.Feature]uint8
}

// mostUnreproduced is how often something that does not recur may seem to be news, and mostUnsteady of how much it is noted how often that was:
// answers with random bytes never come to an end, four features and 36 bytes each for a dialogue of two messages, a gigabyte in an hour.
const (
	mostUnreproduced = 8
	mostUnsteady     = 1 << 16
)

func newKnown() known {
	return known{map[teasel.Feature]float64{}, map[teasel.Feature]uint8{}}
}

func (k known) news(f teasel.Feature, complexity float64) bool {
	best, ok := k.best[f]
	return !ok || complexity < best
}

func (k known) learn(f teasel.Feature, complexity float64) {
	if k.news(f, complexity) {
		k.best[f] = math.Floor(complexity)
	}
}

// unsteady notes that something has not recurred, and reports whether it has done so too often to be news once more.
func (k known) unsteady(f teasel.Feature) bool {
	n := k.unreproduced[f] + 1
	if len(k.unreproduced) >= mostUnsteady {
		clear(k.unreproduced)
	}
	k.unreproduced[f] = n
	return n > mostUnreproduced
}

// responses are the features that the answers of one dialogue come to: each state, and each step from one to the next.
type responses struct {
	all    []teasel.Feature
	before teasel.Feature
}

func (r *responses) begin() { r.all, r.before = r.all[:0], 0 }

func (r *responses) add(f teasel.Feature) {
	step := teasel.Feature(stir(uint64(r.before)^stir(uint64(f)))>>33) + 1 // below those of edges
	r.put(f)
	r.put(step)
	r.before = f
}

func (r *responses) put(f teasel.Feature) {
	for _, g := range r.all { // a dialogue has few
		if f == g {
			return
		}
	}
	r.all = append(r.all, f)
}

func stir(x uint64) uint64 {
	x *= 0x9e3779b97f4a7c15
	return x ^ x>>29
}

// undeclared is the feature of what tells nothing of the states that the model declares: the low byte is 0, see
// [dialogue.Response.Feature].
func undeclared(n uint64) teasel.Feature { return teasel.State(n << 8) }

// These are features of what is no response.
var (
	silentFeature = undeclared(1)
	closedFeature = undeclared(2)
	// overheardFeature is that of a server that says something to a client because of what another one has sent.
	overheardFeature = undeclared(3)
)

// fingerprint is the feature of a response that no model describes: its code, or else its first bytes with digits left out,
// and how long it is, roughly.
func fingerprint(r *dialogue.Response, data []byte) teasel.Feature {
	if data == nil {
		return silentFeature
	}
	h := fnv.New64a()
	if r.Code != "" {
		h.Write([]byte(r.Code))
		return undeclared(h.Sum64())
	}
	const head = 4
	for _, c := range data[:min(head, len(data))] {
		if c >= '0' && c <= '9' {
			c = '0'
		}
		h.Write([]byte{c})
	}
	h.Write([]byte{byte(bits.Len(uint(len(data))))})
	return undeclared(h.Sum64())
}

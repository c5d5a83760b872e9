package gofunc

import (
	"cmp"
	"slices"
	"unsafe"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
)

// novelty judges which of what an execution has reached is new, beside the counters, so that the engine has nothing to do
// for all that is not.
type novelty struct {
	best     []float32 // for each bucket of each counter: 1 + the complexity of the simplest input; 0: unknown
	states   map[teasel.Feature]float32
	measures map[uint32]float64
	names    map[string]uint32 // of measures, with their ids
	runs     uint64
}

// buckets is how many ranges of counts a counter tells apart, which are those of tests over bytes.
const buckets = agent.Buckets

// simplerEvery is how many executions there are to one that is compared by its complexity too. Measuring it takes about as
// long as a short test.
const simplerEvery = 8

func newNovelty(counters int) *novelty {
	return &novelty{best: make([]float32, counters*buckets), states: map[teasel.Feature]float32{}, measures: map[uint32]float64{}, names: map[string]uint32{}}
}

// state is the feature of a state, one of agent.States as for tests over bytes. It is no [teasel.State]: those are for
// schedulers that pick by state, of which there are few, and these may be many.
func state(n uint64) teasel.Feature {
	return 1<<62 | teasel.Feature(n*0x9e3779b97f4a7c15>>(64-stateBits))
}

const stateBits = 14

// agent.States is the same bound.
var _ [agent.States]struct{} = [1 << stateBits]struct{}{}

// judge appends to o what is asked for. size is called if the complexity of the input matters.
func (n *novelty) judge(counters []byte, r *recorder, o *teasel.Observation, size func() float64) {
	n.runs++
	v := verdict{o: o, all: o.Ask.Features || o.Ask.Trace, least: -1}
	if o.Ask.Quiet && !v.all {
		return
	}
	if n.runs%simplerEvery == 0 && !v.all {
		v.least = float32(size()) + 1
	}
	n.scan(counters, &v)
	for _, s := range r.seen() {
		f := state(s)
		if v.wants(n.states[f]) {
			o.Features = append(o.Features, f)
		}
	}
	if len(o.Features) > 1 && r.count.Load() > 1 {
		o.Features = distinct(o.Features)
	}
	if v.all {
		o.Work = v.work + uint64(r.count.Load())
	}
	n.measured(r, o)
}

// distinct leaves out repetitions of states, which come last.
func distinct(fs []teasel.Feature) []teasel.Feature {
	first := len(fs)
	for first > 0 && fs[first-1] >= 1<<62 {
		first--
	}
	s := fs[first:]
	slices.SortFunc(s, cmp.Compare[teasel.Feature])
	return fs[:first+len(slices.Compact(s))]
}

type verdict struct {
	o     *teasel.Observation
	all   bool
	least float32 // what known features must be more complex than; negative: it does not matter
	work  uint64
}

func (v *verdict) wants(best float32) bool {
	return v.all || best == 0 || v.least >= 0 && v.least < best
}

func (n *novelty) scan(counters []byte, v *verdict) {
	i := 0
	for ; i+64 <= len(counters); i += 64 { // most code does not run
		p := (*[8]uint64)(unsafe.Pointer(&counters[i]))
		if p[0]|p[1]|p[2]|p[3]|p[4]|p[5]|p[6]|p[7] == 0 {
			continue
		}
		for j := i; j < i+64; j++ {
			if c := counters[j]; c != 0 {
				n.hit(j, c, v)
			}
		}
	}
	for ; i < len(counters); i++ {
		if c := counters[i]; c != 0 {
			n.hit(i, c, v)
		}
	}
}

func (n *novelty) hit(i int, c byte, v *verdict) {
	f := i*buckets + agent.Bucket(c)
	v.work += uint64(c)
	if v.wants(n.best[f]) {
		v.o.Features = append(v.o.Features, teasel.Feature(f+1))
	}
}

// measured appends measures that are greater than all before, or all that there are.
func (n *novelty) measured(r *recorder, o *teasel.Observation) {
	if len(r.measures) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	first := len(o.Measures)
	for name, value := range r.measures {
		id := number(name)
		if best, ok := n.measures[id]; o.Ask.Features || !ok || value > best {
			o.Measures = append(o.Measures, teasel.Measure{ID: id, Value: value})
			n.names[name] = id
		}
	}
	slices.SortFunc(o.Measures[first:], func(a, b teasel.Measure) int { return cmp.Compare(a.ID, b.ID) })
}

// learn takes over what the worker holds.
func (n *novelty) learn(fs []teasel.Feature, complexity float64) {
	c := float32(complexity) + 1
	for _, f := range fs {
		if f >= 1<<62 {
			if best := n.states[f]; best == 0 || c < best {
				n.states[f] = c
			}
		} else if i := int(f) - 1; i >= 0 && i < len(n.best) && (n.best[i] == 0 || c < n.best[i]) {
			n.best[i] = c
		}
	}
}

// reached notes a measure, so that only greater ones are news.
func (n *novelty) reached(ms []teasel.Measure) {
	for _, m := range ms {
		if best, ok := n.measures[m.ID]; !ok || m.Value > best {
			n.measures[m.ID] = m.Value
		}
	}
}

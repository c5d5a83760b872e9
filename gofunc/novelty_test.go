package gofunc

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/agent"
)

// A scan looks at many counters at once and misses none, wherever it is.
func TestScanMissesNothing(t *testing.T) {
	const counters = 203 // neither a multiple of 8 nor of 64
	for at := range counters {
		c := make([]byte, counters)
		c[at] = 1
		n, o := newNovelty(counters), &teasel.Observation{}
		n.judge(c, newRecorder(), o, func() float64 { return 1 })
		if want := teasel.Feature(at*buckets + 1); len(o.Features) != 1 || o.Features[0] != want {
			t.Errorf("counter %d: %v reached, want %d", at, o.Features, want)
		}
	}
}

// The ranges of counts are those of AFL.
func TestBuckets(t *testing.T) {
	for bucket, counts := range [...][2]int{{1, 1}, {2, 2}, {3, 3}, {4, 7}, {8, 15}, {16, 31}, {32, 127}, {128, 255}} {
		for count := counts[0]; count <= counts[1]; count++ {
			n, o := newNovelty(1), &teasel.Observation{}
			n.judge([]byte{byte(count)}, newRecorder(), o, func() float64 { return 1 })
			if want := teasel.Feature(bucket + 1); len(o.Features) != 1 || o.Features[0] != want {
				t.Errorf("count %d: %v reached, want %d", count, o.Features, want)
			}
		}
	}
}

func BenchmarkScan(b *testing.B) {
	c := make([]byte, 1<<16)
	n, r, o := newNovelty(len(c)), newRecorder(), &teasel.Observation{}
	for b.Loop() {
		c[100], c[5000], c[40_000] = 1, 1, 1
		o.Features = o.Features[:0]
		n.judge(c, r, o, func() float64 { return 1 })
	}
}

// A test that is in another state for every input does not fill the corpus without end.
func TestStatesAreBounded(t *testing.T) {
	n, r := newNovelty(0), newRecorder()
	kept := 0
	for i := range uint64(200_000) {
		r.states[0] = i * i
		r.count.Store(1)
		o := &teasel.Observation{}
		if n.judge(nil, r, o, func() float64 { return 1 }); len(o.Features) > 0 {
			kept++
			n.learn(o.Features, 1)
		}
	}
	if kept > agent.States || kept < agent.States/2 {
		t.Errorf("%d inputs are news, of %d distinct states", kept, agent.States)
	}
}

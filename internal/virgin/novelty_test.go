package virgin

import (
	"math/rand/v2"
	"slices"
	"testing"
)

func trace(counts map[int]byte) []byte {
	b := make([]byte, 128)
	for i, n := range counts {
		b[i] = n
	}
	return b
}

func TestBuckets(t *testing.T) {
	n := New(128)
	for _, test := range []struct {
		hits byte
		want uint32
	}{{1, 0}, {2, 1}, {3, 2}, {4, 3}, {7, 3}, {8, 4}, {15, 4}, {16, 5}, {31, 5}, {32, 6}, {127, 6}, {128, 7}, {255, 7}} {
		for _, at := range []int{0, 5, 63, 127} {
			if got := n.Features(nil, trace(map[int]byte{at: test.hits})); !slices.Equal(got, []uint32{uint32(at)*8 + test.want}) {
				t.Errorf("%d hits at %d: features %v, want bucket %d", test.hits, at, got, test.want)
			}
		}
	}
}

func TestNews(t *testing.T) {
	n := New(128)
	for i, step := range []struct {
		trace  map[int]byte
		length int
		news   bool
	}{
		{map[int]byte{3: 1, 100: 9}, 10, true},
		{map[int]byte{3: 1, 100: 9}, 10, false},
		{map[int]byte{3: 1}, 11, false},
		{map[int]byte{100: 12}, 10, false}, // the same bucket
		{map[int]byte{100: 17}, 10, true},
		{map[int]byte{3: 1}, 9, true}, // a shorter input
		{map[int]byte{3: 1}, 9, false},
		{map[int]byte{100: 9}, 9, true},
		{map[int]byte{100: 17}, 9, true},
		{map[int]byte{4: 1}, 1 << 20, true},
		{map[int]byte{4: 1}, 1 << 19, false}, // lengths above 65535 count as 65535
		{map[int]byte{4: 1}, 100, true},
		{nil, 0, false},
	} {
		b := trace(step.trace)
		if got := n.News(b, step.length); got != step.news {
			t.Errorf("step %d: news %v, want %v", i, got, step.news)
		}
		fs := n.New(n.Features(nil, b), step.length)
		if len(fs) > 0 != step.news {
			t.Errorf("step %d: new features %v, want some: %v", i, fs, step.news)
		}
		for _, f := range fs {
			n.Learn(f, step.length)
		}
	}
	n.Learn(1<<30, 1) // beyond the map
}

// TestNewsAgree: News is true exactly if New returns a feature, for random traces.
func TestNewsAgree(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	n := New(256)
	b := make([]byte, 256)
	for range 20_000 {
		clear(b)
		for range r.IntN(6) {
			b[r.IntN(len(b))] = byte(r.IntN(256))
		}
		length := r.IntN(50)
		fs := n.New(n.Features(nil, b), length)
		if n.News(b, length) != (len(fs) > 0) {
			t.Fatalf("%v of %d bytes: New returns %v", b, length, fs)
		}
		if len(fs) > 0 && r.IntN(2) == 0 {
			n.Learn(fs[r.IntN(len(fs))], length)
		}
	}
}

func TestHash(t *testing.T) {
	n := New(128)
	a, hits := n.Hash(trace(map[int]byte{3: 5, 100: 1}))
	if b, _ := n.Hash(trace(map[int]byte{3: 6, 100: 1})); a != b {
		t.Error("the same buckets have two hashes")
	}
	if b, _ := n.Hash(trace(map[int]byte{3: 6, 101: 1})); a == b {
		t.Error("two traces have one hash")
	}
	if hits != 6 {
		t.Errorf("%d hits, want 6", hits)
	}
}

func BenchmarkNews(b *testing.B) {
	n := New(49344)
	t := make([]byte, 49344)
	r := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		t[r.IntN(len(t))] = byte(1 + r.IntN(3)) // most counters are small
	}
	for _, f := range n.Features(nil, t) {
		n.Learn(f, 100)
	}
	for b.Loop() {
		if n.News(t, 200) {
			b.Fatal("a known trace is new")
		}
	}
}

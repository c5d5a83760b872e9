package schedule

import (
	"math/rand/v2"
	"testing"

	"github.com/teaselfuzz/teasel/internal/packed"
)

// What is removed is not drawn, and what alone reaches something is drawn more often.
func TestWeighted(t *testing.T) {
	s, r := New(), rand.New(rand.NewPCG(1, 2))
	if id, _, ok := s.Next(r); ok {
		t.Fatalf("%d is drawn from nothing", id)
	}
	for id := range 10 {
		features := []uint64{1, 2}
		if id == 3 {
			features = append(features, 3)
		}
		s.Add(Testcase{ID: id, Complexity: 10, Features: packed.Pack(features)})
	}
	s.Remove(4)
	s.Remove(40)
	drawn := map[int]int{}
	for range 10_000 {
		id, energy, ok := s.Next(r)
		if !ok || energy < 1 || energy > 4 {
			t.Fatalf("energy %v, %v", energy, ok)
		}
		drawn[id]++
	}
	if len(drawn) != 9 || drawn[4] > 0 || drawn[3] < 2*drawn[5] {
		t.Errorf("drawn %v", drawn)
	}
}

// What alone reaches something has its first turn before all else, in the order in which it came.
func TestPending(t *testing.T) {
	s, r := New(), rand.New(rand.NewPCG(1, 2))
	for id := range 20 {
		features, picked := []uint64{1}, uint64(0)
		if id%2 == 0 {
			features = append(features, uint64(10+id))
		}
		if id == 6 {
			picked = 1
		}
		s.Add(Testcase{ID: id, Complexity: 10, Features: packed.Pack(features), Picked: picked})
	}
	s.Remove(4)
	for _, want := range []int{0, 2, 8, 10, 12, 14, 16, 18} {
		if id, _, ok := s.Next(r); id != want || !ok {
			t.Fatalf("%d comes first, want %d", id, want)
		}
	}
}

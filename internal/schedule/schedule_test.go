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

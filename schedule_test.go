package teasel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// A testcase that is much larger than the others does not hold them up.
func TestLargeTestcasesGetLittleEnergy(t *testing.T) {
	s := teasel.NewScheduler()
	for id := range teasel.ID(100) {
		complexity := 10.0
		if id == 50 {
			complexity = 1e6
		}
		s.Add(teasel.Rating{ID: id, Complexity: complexity, Features: []teasel.Feature{teasel.Feature(id + 1)}})
	}
	r := rand.New(rand.NewPCG(1, 2))
	picked := false
	for range 2000 {
		p, ok := s.Next(r)
		if !ok {
			t.Fatal("there is nothing to pick")
		}
		if large := p.ID == 50; large && p.Energy > 1 || !large && p.Energy < 1 {
			t.Errorf("testcase %d gets %v", p.ID, p.Energy)
		} else if large {
			picked = true
		}
	}
	if !picked {
		t.Error("the large one is never picked")
	}
}

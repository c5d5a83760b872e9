package teasel_test

import (
	"math/rand/v2"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// A testcase that is much larger than the others, or much slower, does not hold them up.
func TestLargeTestcasesGetLittleEnergy(t *testing.T) {
	for name, large := range map[string]teasel.Rating{"large": {Complexity: 1e6, Work: 1000}, "slow": {Complexity: 10, Work: 1e8}} {
		t.Run(name, func(t *testing.T) { testLargeGetsLittle(t, large) })
	}
}

func testLargeGetsLittle(t *testing.T, odd teasel.Rating) {
	s := teasel.NewScheduler()
	for id := range teasel.ID(100) {
		rating := teasel.Rating{Complexity: 10, Work: 1000}
		if id == 50 {
			rating = odd
		}
		rating.ID, rating.Features = id, []teasel.Feature{teasel.Feature(id + 1)}
		s.Add(rating)
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

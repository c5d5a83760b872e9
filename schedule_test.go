package teasel_test

import (
	"context"
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
		rating.ID, rating.Features = id, teasel.NewFeatureSet(teasel.Feature(id+1))
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

// outcomes is a scheduler that checks how it is used.
type outcomes struct {
	teasel.Scheduler
	t          *testing.T
	open       bool
	last       teasel.Pick
	executions uint64
	kept       int
	parents    int
	added      int
}

func (s *outcomes) Add(r teasel.Rating) {
	if r.Parent != teasel.Orphan {
		s.parents++
		if int(r.Parent) >= int(r.ID) {
			s.t.Errorf("testcase %d has parent %d", r.ID, r.Parent)
		}
	}
	if len(r.Measures) != 1 {
		s.t.Errorf("testcase %d has measures %v", r.ID, r.Measures)
	}
	s.added++
	s.Scheduler.Add(r)
}

func (s *outcomes) Next(r *teasel.Rand) (p teasel.Pick, ok bool) {
	if s.open {
		s.t.Error("a pick had no outcome before the next one")
	}
	p, ok = s.Scheduler.Next(r)
	s.last, s.open = p, ok
	return p, ok
}

func (s *outcomes) Done(p teasel.Pick, executions uint64, kept int) {
	if !s.open || p != s.last {
		s.t.Errorf("outcome of %+v, picked was %+v", p, s.last)
	}
	s.open = false
	s.executions += executions
	s.kept += kept
	s.Scheduler.Done(p, executions, kept)
}

// byLength is a target whose inputs reach a feature by their length, and a measure.
type byLength struct{}

func (byLength) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return byLength{}, nil
}
func (byLength) Close() error { return nil }

func (byLength) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(len(in)+1))
	o.Measures = append(o.Measures, teasel.Measure{ID: 1, Value: float64(len(in))})
	return nil
}

// Each pick has one outcome, and nearly all that is executed and kept belongs to one.
func TestPicksHaveOutcomes(t *testing.T) {
	s := &outcomes{Scheduler: teasel.NewScheduler(), t: t}
	c := bytesCampaign(byLength{})
	c.NewScheduler = func() teasel.Scheduler { return s }
	c.Runs = 20_000
	sum, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.executions < sum.Executions*9/10 || s.executions > sum.Executions || s.kept == 0 || s.kept > s.added || s.parents == 0 {
		t.Errorf("%d of %d executions, %d of %d testcases, %d with a parent", s.executions, sum.Executions, s.kept, s.added, s.parents)
	}
}

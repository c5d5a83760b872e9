package policy_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/policy"
)

// offer is an offer to a pool, and the expected result.
type offer struct {
	features   []teasel.Feature
	measures   []teasel.Measure
	complexity float64
	added      bool
	evicted    []teasel.ID
}

func m(id uint32, v float64) teasel.Measure { return teasel.Measure{ID: id, Value: v} }

func TestPools(t *testing.T) {
	type F = []teasel.Feature
	type M = []teasel.Measure
	for _, test := range []struct {
		name   string
		pool   teasel.Pool
		offers []offer
	}{
		{"simplest", teasel.NewPool(), []offer{
			{F{1, 2}, nil, 10, true, nil},
			{F{1}, nil, 10, false, nil}, // equal is not simpler
			{F{1}, nil, 9, true, nil},   // the first is still the simplest for 2
			{F{2, 3}, nil, 5, true, []teasel.ID{0}},
			{F{1, 2, 3}, nil, 1, true, []teasel.ID{2, 3}},
			{nil, nil, 0, false, nil},
		}},
		{"simplest, a feature twice", teasel.NewPool(), []offer{{F{1, 1}, nil, 10, true, nil}, {F{1}, nil, 9, true, []teasel.ID{0}}}},
		{"unique", policy.NewUnique(), []offer{
			{nil, M{m(1, 5)}, 10, true, nil},
			{nil, M{m(1, 5)}, 10, false, nil},
			{nil, M{m(1, 6)}, 10, true, nil},
			{nil, M{m(1, 5)}, 9, true, []teasel.ID{0}},
			{nil, M{m(2, 5)}, 10, true, nil},
			{nil, M{m(1, math.NaN())}, 1, false, nil},
		}},
		{"diverse", policy.NewDiverse(2), []offer{
			{F{1}, nil, 1, true, nil},
			{F{1}, nil, 1, false, nil}, // reaches no new feature
			{F{2, 3}, nil, 1, true, nil},
			{F{1, 4, 5}, nil, 1, true, []teasel.ID{0}},
			{F{6}, nil, 1, false, nil}, // reaches fewer new features than any kept testcase
		}},
		{"diverse, of none", policy.NewDiverse(0), []offer{{F{1}, nil, 1, false, nil}, {nil, nil, 1, false, nil}}},
		{"diverse, of fewer", policy.NewDiverse(-1), []offer{{F{1}, nil, 1, false, nil}}},
		{"maximal", policy.NewMaximal(), []offer{
			{nil, M{m(1, 5)}, 10, true, nil},
			{nil, M{m(1, 4)}, 1, false, nil},
			{nil, M{m(1, 5)}, 9, true, []teasel.ID{0}},
			{nil, M{m(1, 6), m(2, 1)}, 99, true, []teasel.ID{2}},
			{nil, M{m(1, 7)}, 99, true, nil}, // the last is still the greatest for 2
		}},
		{"composed", policy.Compose(teasel.NewPool(), policy.NewMaximal()), []offer{
			{F{1}, M{m(1, 5)}, 10, true, nil},
			{F{1}, M{m(1, 4)}, 5, true, nil}, // the first is still the greatest
			{nil, M{m(1, 9)}, 50, true, []teasel.ID{0}},
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			for i, o := range test.offers {
				obs := &teasel.Observation{Exit: teasel.ExitOK, Features: o.features, Measures: o.measures}
				wants := test.pool.Wants(obs, o.complexity)
				d := test.pool.Offer(teasel.ID(i), obs, o.complexity)
				if wants != o.added || d.Added != o.added {
					t.Errorf("offer %d: wants %v, added %v, want %v", i, wants, d.Added, o.added)
				}
				slices.Sort(d.Evicted)
				if !slices.Equal(d.Evicted, o.evicted) {
					t.Errorf("offer %d: evicted %v, want %v", i, d.Evicted, o.evicted)
				}
			}
		})
	}
}

func draws(s teasel.Scheduler, n int) map[teasel.ID]int {
	r := rand.New(rand.NewPCG(1, 2))
	got := map[teasel.ID]int{}
	for range n {
		if p, ok := s.Next(r); ok {
			got[p.ID]++
		}
	}
	return got
}

func TestScheduler(t *testing.T) {
	add := func(rs ...teasel.Rating) teasel.Scheduler {
		s := teasel.NewScheduler()
		for i, r := range rs {
			r.ID = teasel.ID(i)
			s.Add(r)
		}
		return s
	}
	F := teasel.NewFeatureSet
	for _, test := range []struct {
		name   string
		s      teasel.Scheduler
		often  teasel.ID
		seldom teasel.ID
	}{
		{"rare features", add(teasel.Rating{Complexity: 10, Features: F(1, 9)}, teasel.Rating{Complexity: 10, Features: F(1)}, teasel.Rating{Complexity: 10, Features: F(1)}), 0, 1},
		{"simple", add(teasel.Rating{Complexity: 10, Features: F(1)}, teasel.Rating{Complexity: 1000, Features: F(1)}), 0, 1},
		{"little work", add(teasel.Rating{Complexity: 10, Features: F(1), Work: 10}, teasel.Rating{Complexity: 10, Features: F(1), Work: 1000}), 0, 1},
		{"seldom picked", add(teasel.Rating{Complexity: 10, Features: F(1)}, teasel.Rating{Complexity: 10, Features: F(1), Picked: 1 << 20}), 0, 1},
	} {
		if got := draws(test.s, 300); got[test.often] <= got[test.seldom]*5/4 || got[test.seldom] == 0 {
			t.Errorf("%s: drawn %d and %d times", test.name, got[test.often], got[test.seldom])
		}
	}

	s := add(teasel.Rating{Features: F(1)}, teasel.Rating{Features: F(2)}, teasel.Rating{Features: F(3)})
	s.Remove(1)
	s.Remove(1)
	if got := draws(s, 200); got[1] != 0 || got[0] == 0 || got[2] == 0 {
		t.Errorf("after removing 1: %v", got)
	}
	s.Remove(0)
	s.Remove(2)
	if got := draws(s, 10); len(got) != 0 {
		t.Errorf("after removing all: %v", got)
	}
}

func TestStateScheduler(t *testing.T) {
	s := policy.NewStateScheduler()
	common, rare := teasel.State(1), teasel.State(2)
	for i := range 20 {
		s.Add(teasel.Rating{ID: teasel.ID(i), Features: teasel.NewFeatureSet(common, 7, common)})
	}
	s.Add(teasel.Rating{ID: 20, Features: teasel.NewFeatureSet(common, rare)})
	r := rand.New(rand.NewPCG(1, 2))
	focus := map[teasel.Feature]int{}
	for range 400 {
		p, ok := s.Next(r)
		if !ok || !p.Focus.IsState() || p.Focus == rare && p.ID != 20 {
			t.Fatalf("picked %+v, %v", p, ok)
		}
		focus[p.Focus]++
	}
	if focus[rare] < 150 { // one testcase of 21, one state of two
		t.Errorf("picked by state: %v", focus)
	}
	s.Remove(20)
	for range 50 {
		if p, ok := s.Next(r); !ok || p.Focus != common {
			t.Fatalf("picked %+v, %v: its only testcase is gone", p, ok)
		}
	}
}

// TestTurnsWithinState: each testcase of a state is picked before any is picked a third time, and a new one is picked soon.
func TestTurnsWithinState(t *testing.T) {
	s := policy.NewStateScheduler()
	for i := range 50 {
		s.Add(teasel.Rating{ID: teasel.ID(i), Features: teasel.NewFeatureSet(teasel.State(1))})
	}
	if got := draws(s, 100); len(got) != 50 {
		t.Errorf("of 50 testcases %d had a turn in 100 picks", len(got))
	}
	s.Add(teasel.Rating{ID: 50, Features: teasel.NewFeatureSet(teasel.State(1))})
	if got := draws(s, 8); got[50] != 1 {
		t.Errorf("the new testcase had %d of 8 picks", got[50])
	}
}

// TestStatelessTestcases: testcases without a state are picked too, besides any number of states, and not after they were removed.
func TestStatelessTestcases(t *testing.T) {
	s := policy.NewStateScheduler()
	for i := range 3 {
		s.Add(teasel.Rating{ID: teasel.ID(i), Complexity: 1, Features: teasel.NewFeatureSet(7)})
	}
	if got := draws(s, 90); len(got) != 3 {
		t.Errorf("without states: %v", got)
	}
	s.Add(teasel.Rating{ID: 3, Complexity: 1, Features: teasel.NewFeatureSet(teasel.State(1))})
	s.Add(teasel.Rating{ID: 4, Complexity: 1, Features: teasel.NewFeatureSet(teasel.State(2), 7)})
	r := rand.New(rand.NewPCG(1, 2))
	got := map[teasel.ID]int{}
	for range 600 {
		p, ok := s.Next(r)
		if !ok || p.Focus.IsState() != (p.ID > 2) || p.ID <= 2 && p.Focus != 0 {
			t.Fatalf("picked %+v, %v", p, ok)
		}
		got[p.ID]++
	}
	if none := got[0] + got[1] + got[2]; none < 100 || none > 300 || got[0] == 0 || got[1] == 0 || got[2] == 0 {
		t.Errorf("three testcases without a state and one of each of two: %v", got)
	}
	for i := range 3 {
		s.Remove(teasel.ID(i))
	}
	if got := draws(s, 100); len(got) != 2 {
		t.Errorf("after removing those without a state: %v", got)
	}
	s.Remove(3)
	s.Remove(4)
	if got := draws(s, 10); len(got) != 0 {
		t.Errorf("after removing all: %v", got)
	}
}

// TestStatesOfResumed: a resumed campaign prefers the states with few picks.
func TestStatesOfResumed(t *testing.T) {
	s := policy.NewStateScheduler()
	s.Add(teasel.Rating{ID: 0, Features: teasel.NewFeatureSet(teasel.State(1), teasel.State(2)), Picked: 2000})
	s.Add(teasel.Rating{ID: 1, Features: teasel.NewFeatureSet(teasel.State(3))})
	if got := draws(s, 100); got[1] < 80 {
		t.Errorf("a testcase that was picked 2000 times, and a new one: %v", got)
	}
}

func BenchmarkNext(b *testing.B) {
	s := teasel.NewScheduler()
	for i := range 10_000 {
		s.Add(teasel.Rating{ID: teasel.ID(i), Complexity: float64(i), Features: teasel.NewFeatureSet(teasel.Feature(i+1), teasel.Feature(i%100+1))})
	}
	r := rand.New(rand.NewPCG(1, 2))
	for b.Loop() {
		s.Next(r)
	}
}

func ExampleCompose() {
	pool := policy.Compose(teasel.NewPool(), policy.NewMaximal())
	const memory = 1
	slow := &teasel.Observation{Features: []teasel.Feature{7}, Measures: []teasel.Measure{{ID: memory, Value: 900}}}
	simple := &teasel.Observation{Features: []teasel.Feature{7}, Measures: []teasel.Measure{{ID: memory, Value: 1}}}
	fmt.Println(pool.Offer(0, slow, 100))
	fmt.Println(pool.Offer(1, simple, 10)) // simpler, but the first needs more memory: both stay
	// Output:
	// {true []}
	// {true []}
}

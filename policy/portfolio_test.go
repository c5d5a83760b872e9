package policy_test

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/policy"
)

func portfolio() policy.Portfolio {
	return policy.Portfolio{
		{Name: "simplest", Weight: 3},
		{Name: "memory", New: func() teasel.Pool { return policy.Limit(policy.NewMaximal(), 1) }},
		{Name: "total", New: policy.NewTotal, Weight: -1},
	}
}

func TestPortfolio(t *testing.T) {
	type F = []teasel.Feature
	type M = []teasel.Measure
	p := portfolio().Pool()
	for i, o := range []offer{
		{F{1}, M{m(1, 5), m(2, 1)}, 10, true, nil},
		{F{1}, M{m(1, 4)}, 5, true, nil},
		{nil, M{m(2, 9)}, 7, true, nil},
		{F{1}, M{m(1, 4)}, 6, false, nil},
		{nil, M{m(1, 8)}, 7, true, []teasel.ID{0}},
	} {
		obs := &teasel.Observation{Exit: teasel.ExitOK, Features: o.features, Measures: o.measures}
		if got := p.Wants(obs, o.complexity); got != o.added {
			t.Errorf("offer %d: wants %v", i, got)
		}
		d := p.Offer(teasel.ID(i), obs, o.complexity)
		if d.Added != o.added || !slices.Equal(d.Evicted, o.evicted) {
			t.Errorf("offer %d: %+v, want added %v, evicted %v", i, d, o.added, o.evicted)
		}
	}
	want := []policy.PoolStats{{Name: "simplest", Size: 1, Score: 1, Added: 2, Evicted: 1}, {Name: "memory", Size: 1, Score: 8, Added: 2, Evicted: 1},
		{Name: "total", Size: 1, Score: 9, Added: 2, Evicted: 1}}
	if got := p.Stats(); !slices.Equal(got, want) {
		t.Errorf("stats %+v, want %+v", got, want)
	}
}

// forgetful is a pool that keeps the first testcase, and evicts it at the next offer without keeping the new one.
type forgetful struct{ offers int }

func (p *forgetful) Wants(*teasel.Observation, float64) bool { return p.offers == 0 }

func (p *forgetful) Offer(teasel.ID, *teasel.Observation, float64) teasel.Delta {
	if p.offers++; p.offers == 2 {
		return teasel.Delta{Evicted: []teasel.ID{0}}
	}
	return teasel.Delta{Added: p.offers == 1}
}

// TestPortfolioEvictsWithoutAdding: a pool may evict a testcase when it rejects another one.
func TestPortfolioEvictsWithoutAdding(t *testing.T) {
	p := policy.Portfolio{{Name: "forgetful", New: func() teasel.Pool { return &forgetful{} }}}.Pool()
	if d := p.Offer(0, &teasel.Observation{}, 1); !d.Added {
		t.Fatalf("%+v", d)
	}
	if d := p.Offer(1, &teasel.Observation{}, 1); d.Added || !slices.Equal(d.Evicted, []teasel.ID{0}) {
		t.Errorf("%+v, want the first evicted", d)
	}
}

// keep offers a testcase to the pool and adds it to the scheduler, as a worker does.
func keep(p *policy.Combined, r teasel.Rating) {
	d := p.Offer(r.ID, &teasel.Observation{Features: r.Features.Append(nil), Measures: r.Measures}, r.Complexity)
	if d.Added {
		p.Scheduler().Add(r)
	}
	for _, id := range d.Evicted {
		p.Scheduler().Remove(id)
	}
}

// TestPortfolioScheduler: picks are distributed by weight, and parts with a negative weight are used only if no other holds a testcase.
func TestPortfolioScheduler(t *testing.T) {
	p := portfolio().Pool()
	s := p.Scheduler()
	if _, ok := s.Next(rand.New(rand.NewPCG(1, 2))); ok {
		t.Error("something is picked of nothing")
	}
	for i := range 10 { // each reaches a feature of its own
		keep(p, teasel.Rating{ID: teasel.ID(i), Complexity: 1, Features: teasel.NewFeatureSet(teasel.Feature(i + 1))})
	}
	keep(p, teasel.Rating{ID: 10, Complexity: 1, Measures: []teasel.Measure{m(1, 7)}})
	keep(p, teasel.Rating{ID: 11, Complexity: 1, Measures: []teasel.Measure{m(2, 70)}})
	got := draws(s, 4000)
	if share := got[10]; share < 850 || share > 1150 || got[11] != 0 || len(got) != 11 {
		t.Errorf("one of eleven with a quarter of the weight, and one of none: %v", got)
	}
	keep(p, teasel.Rating{ID: 12, Complexity: 1, Measures: []teasel.Measure{m(1, 8)}}) // replaces 10
	if got := draws(s, 400); got[10] != 0 || got[12] == 0 {
		t.Errorf("after something greater: %v", got)
	}
	for i := range 13 {
		if i != 11 {
			s.Remove(teasel.ID(i))
		}
	}
	if got := draws(s, 10); got[11] != 10 {
		t.Errorf("the last one: %v", got)
	}
	s.Done(teasel.Pick{ID: 11}, 100, 0)
	s.Remove(11)
	if got := draws(s, 10); len(got) != 0 {
		t.Errorf("after removing all: %v", got)
	}
}

// TestStateWeightsDoNotSaturate: the weight of a state falls with each pick, even after millions of picks.
func TestStateWeightsDoNotSaturate(t *testing.T) {
	s := policy.NewStateScheduler()
	s.Add(teasel.Rating{ID: 0, Features: teasel.NewFeatureSet(teasel.State(1)), Picked: 4_000_000})
	s.Add(teasel.Rating{ID: 1, Features: teasel.NewFeatureSet(teasel.State(2)), Picked: 1_000_000})
	if got := draws(s, 1000); got[1] < 700 {
		t.Errorf("picked four million times before and one million times before: %v", got)
	}
}

func TestStatistics(t *testing.T) {
	p := portfolio().Pool()
	p.Offer(0, &teasel.Observation{Features: []teasel.Feature{1}, Measures: []teasel.Measure{m(1, 2.5)}}, 1)
	var out bytes.Buffer
	s := policy.NewStatistics(&out, p)
	for i := range 2 {
		if err := s.Write(1500*time.Millisecond*time.Duration(i+1), uint64(7+2*i)); err != nil {
			t.Fatal(err)
		}
	}
	s = policy.NewStatistics(&out, p) // another process continues the file
	s.Headed = true
	if err := s.Write(4*time.Second, 10); err != nil {
		t.Fatal(err)
	}
	want := `seconds,executions,simplest size,simplest score,simplest added,simplest evicted,memory size,memory score,memory added,memory evicted,total size,total score,total added,total evicted
1.5,7,1,1,1,0,1,2.5,1,0,1,2.5,1,0
3.0,9,1,1,1,0,1,2.5,1,0,1,2.5,1,0
4.0,10,1,1,1,0,1,2.5,1,0,1,2.5,1,0
`
	if out.String() != want {
		t.Errorf("wrote\n%s", out.String())
	}
}

func ExamplePortfolio() {
	const memory = 1
	p := policy.Portfolio{
		{Name: "coverage", Weight: 4},
		{Name: "memory", New: policy.NewMaximal},
	}
	pool := p.Pool()
	pool.Offer(0, &teasel.Observation{Features: []teasel.Feature{7}, Measures: []teasel.Measure{{ID: memory, Value: 900}}}, 100)
	pool.Offer(1, &teasel.Observation{Features: []teasel.Feature{7}, Measures: []teasel.Measure{{ID: memory, Value: 1}}}, 10)
	for _, s := range pool.Stats() {
		fmt.Println(s.Name, s.Size, s.Score)
	}
	// Output:
	// coverage 1 1
	// memory 1 900
}

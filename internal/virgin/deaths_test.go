package virgin

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// always runs an input that reaches the same each time.
func always(counts map[int]byte) Again {
	return func() ([]byte, bool, error) { return trace(counts), true, nil }
}

func never(t *testing.T) Again {
	return func() ([]byte, bool, error) {
		t.Helper()
		t.Error("the input is run again")
		return nil, false, nil
	}
}

func judge(t *testing.T, d *Deaths, first map[int]byte, again Again) (Death, bool) {
	t.Helper()
	death, news, err := d.Judge(trace(first), again)
	if err != nil {
		t.Fatal(err)
	}
	return death, news
}

// A crash is news when it gets to where no other did; one that was news is known again; what differs from run to run does
// not count.
func TestDeaths(t *testing.T) {
	var d Deaths
	one := map[int]byte{1: 1, 2: 1, 50: 3}
	a, news := judge(t, &d, one, always(one))
	if !news || !a.Exact {
		t.Errorf("the first: news %v, %+v", news, a)
	}
	if b, news := judge(t, &d, map[int]byte{1: 7, 2: 9, 50: 1}, never(t)); !news || a != b {
		t.Error("the same counters, hit more often, are another crash")
	}
	if _, news := judge(t, &d, map[int]byte{1: 1, 2: 1}, never(t)); news {
		t.Error("a part of it is news")
	}
	c, news := judge(t, &d, map[int]byte{1: 1, 2: 1, 60: 3, 70: 1}, always(map[int]byte{1: 1, 2: 1, 60: 3})) // 70 is left over from before
	if !news || c.Name == a.Name || !c.Exact {
		t.Errorf("another path: news %v, %+v", news, c)
	}
	if e, news := judge(t, &d, map[int]byte{1: 1, 2: 1, 60: 3}, never(t)); !news || e != c {
		t.Error("it is not known without what varies")
	}
	if _, news := judge(t, &d, map[int]byte{1: 1, 70: 1}, never(t)); news {
		t.Error("what varies is news")
	}
	wrong := errors.New("wrong")
	if _, _, err := d.Judge(trace(map[int]byte{90: 1}), func() ([]byte, bool, error) { return nil, false, wrong }); err != wrong {
		t.Errorf("error %v, want %v", err, wrong)
	}
}

// Whoever confirms a crash is given a name, which does not make it news to who fuzzes.
func TestDeathNames(t *testing.T) {
	var d Deaths
	all, part := map[int]byte{1: 1, 2: 1, 50: 3}, map[int]byte{1: 1, 2: 1}
	if _, ok := d.Known(trace(part)); ok {
		t.Error("it is known before it was seen")
	}
	first, _ := judge(t, &d, all, always(all))
	named, err := d.Name(trace(part), always(part))
	if err != nil || named.Name == first.Name || named.Name == 0 || !named.Exact {
		t.Errorf("named %+v, %v; the other is %+v", named, err, first)
	}
	if again, err := d.Name(trace(part), never(t)); err != nil || again != named {
		t.Errorf("named %+v, then %+v, %v", named, again, err)
	}
	if again, ok := d.Known(trace(part)); !ok || again != named {
		t.Errorf("named %+v, known as %+v", named, again)
	}
	if _, news := judge(t, &d, part, never(t)); news {
		t.Error("having a name makes it news")
	}
	next := map[int]byte{80: 1}
	named, err = d.Name(trace(next), always(next))
	if death, news := judge(t, &d, next, always(next)); err != nil || !news || death != named {
		t.Errorf("it is named %+v; judged %+v, news %v, %v", named, death, news, err)
	}
}

// A run that did not end as before tells nothing of what varies, and a name that rests on one run is not exact.
func TestDeathFlaky(t *testing.T) {
	var d Deaths
	one := map[int]byte{1: 1, 2: 1}
	death, news := judge(t, &d, one, func() ([]byte, bool, error) { return trace(map[int]byte{1: 1, 3: 1, 4: 1}), false, nil })
	if !news || death.Exact || len(d.variable) > 0 {
		t.Errorf("news %v, %+v, variable %v", news, death, d.variable)
	}
}

// A crash on whose way there are branches by chance has one name and is news once, and another place has another name; nearly
// always whoever sees them first gives them the same names.
func TestDeathsVary(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const judges = 200
	run := func(place int) []byte {
		counts := map[int]byte{1: 1, place: 1}
		for i := range 8 {
			counts[10+2*i+r.IntN(2)] = 1
		}
		if r.IntN(50) == 0 {
			counts[40] = 1
		}
		return trace(counts)
	}
	var names []Death
	for range judges {
		var d Deaths
		var own []uint64
		for i := range 100 {
			place := 50 + i%2
			death, news, err := d.Judge(run(place), func() ([]byte, bool, error) { return run(place), true, nil })
			if err != nil || news && death.Exact {
				t.Fatalf("%+v, %v", death, err)
			}
			if news && !slices.Contains(own, death.Name) {
				own = append(own, death.Name)
				names = append(names, death)
			}
		}
		if len(own) != 2 {
			t.Errorf("%d names, want 2", len(own))
		}
	}
	count := map[uint64]int{}
	for _, n := range names {
		count[n.Name]++
	}
	most := 0
	for _, n := range count {
		most = max(most, n)
	}
	if most < judges*9/10 {
		t.Errorf("of %d judges %d at most agree on a name", judges, most)
	}
}

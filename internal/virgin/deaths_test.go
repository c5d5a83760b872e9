package virgin

import (
	"errors"
	"math/rand/v2"
	"slices"
	"testing"
)

// always returns a Rerun that reaches the same counters each time.
func always(counts map[int]byte) Rerun {
	return func() ([]byte, bool, error) { return trace(counts), true, nil }
}

// never returns a Rerun that must not be called.
func never(t *testing.T) Rerun {
	return func() ([]byte, bool, error) {
		t.Helper()
		t.Error("the input is run again")
		return nil, false, nil
	}
}

func judge(t *testing.T, d *Deaths, first map[int]byte, rerun Rerun) (Death, bool) {
	t.Helper()
	death, news, err := d.Judge(trace(first), rerun)
	if err != nil {
		t.Fatal(err)
	}
	return death, news
}

// TestDeaths: a crash is new if it reaches a counter that no other has reached; a crash that was new is recognised; variable
// counters are ignored.
func TestDeaths(t *testing.T) {
	var d Deaths
	one := map[int]byte{1: 1, 2: 1, 50: 3}
	a, news := judge(t, &d, one, always(one))
	if !news || !a.Exact {
		t.Errorf("the first: news %v, %+v", news, a)
	}
	if b, news := judge(t, &d, map[int]byte{1: 7, 2: 9, 50: 1}, never(t)); !news || a != b {
		t.Error("a crash that hits the same counters more often is another crash")
	}
	if _, news := judge(t, &d, map[int]byte{1: 1, 2: 1}, never(t)); news {
		t.Error("a subset of the counters is new")
	}
	c, news := judge(t, &d, map[int]byte{1: 1, 2: 1, 60: 3, 70: 1}, always(map[int]byte{1: 1, 2: 1, 60: 3})) // 70 is left over from before
	if !news || c.Name == a.Name || !c.Exact {
		t.Errorf("another crashPath: news %v, %+v", news, c)
	}
	if e, news := judge(t, &d, map[int]byte{1: 1, 2: 1, 60: 3}, never(t)); !news || e != c {
		t.Error("the crash is not recognised without the variable counter")
	}
	if _, news := judge(t, &d, map[int]byte{1: 1, 70: 1}, never(t)); news {
		t.Error("a variable counter is new")
	}
	wrong := errors.New("wrong")
	if _, _, err := d.Judge(trace(map[int]byte{90: 1}), func() ([]byte, bool, error) { return nil, false, wrong }); err != wrong {
		t.Errorf("error %v, want %v", err, wrong)
	}
}

// TestDeathNames: Name gives a crash a name, and does not make it new for Judge.
func TestDeathNames(t *testing.T) {
	var d Deaths
	all, part := map[int]byte{1: 1, 2: 1, 50: 3}, map[int]byte{1: 1, 2: 1}
	if _, ok := d.Known(trace(part)); ok {
		t.Error("the crash is known before it was seen")
	}
	first, _ := judge(t, &d, all, always(all))
	named, err := d.Name(trace(part), always(part))
	if err != nil || named.Name == first.Name || named.Name == 0 || !named.Exact {
		t.Errorf("named %+v, %v; the other is %+v", named, err, first)
	}
	if second, err := d.Name(trace(part), never(t)); err != nil || second != named {
		t.Errorf("named %+v, then %+v, %v", named, second, err)
	}
	if second, ok := d.Known(trace(part)); !ok || second != named {
		t.Errorf("named %+v, known as %+v", named, second)
	}
	if _, news := judge(t, &d, part, never(t)); news {
		t.Error("naming a crash makes it new")
	}
	next := map[int]byte{80: 1}
	named, err = d.Name(trace(next), always(next))
	if death, news := judge(t, &d, next, always(next)); err != nil || !news || death != named {
		t.Errorf("it is named %+v; judged %+v, news %v, %v", named, death, news, err)
	}
}

// TestDeathFlaky: a run that did not end as the first one is not used to find variable counters, and the name of a crash that was
// run only once is not exact.
func TestDeathFlaky(t *testing.T) {
	var d Deaths
	one := map[int]byte{1: 1, 2: 1}
	death, news := judge(t, &d, one, func() ([]byte, bool, error) { return trace(map[int]byte{1: 1, 3: 1, 4: 1}), false, nil })
	if !news || death.Exact || len(d.variable) > 0 {
		t.Errorf("news %v, %+v, variable %v", news, death, d.variable)
	}
}

// TestDeathsVary: a crash whose path has random branches has one name, and another crash has another name. Independent Deaths nearly
// always choose the same names.
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
		t.Errorf("of %d Deaths at most %d agree on a name", judges, most)
	}
}

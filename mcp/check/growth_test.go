package check

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/mcp/script"
)

func TestSuggestedGrowths(t *testing.T) {
	for place, want := range map[string]string{
		"find_jobs /glob": "stars", "check /address/email": "address", "read /filePath": "slashes", "jobs://{status}/x pattern": "stars", "say /message": "",
	} {
		if got := suggestedGrowths(place); want != "" && !slices.Contains(got, want) || want == "" && len(got) > 0 {
			t.Errorf("%s suggests %v, want %q", place, got, want)
		}
	}
	for _, s := range suggested {
		for _, name := range s.growths {
			if !slices.ContainsFunc(Growths, func(g Growth) bool {
				return g.name == name
			}) {
				t.Errorf("no growth is called %s", name)
			}
		}
	}
}

// TestSteepOnBusyMachine measures servers whose time grows in many ways, on a machine that makes everything take up to
// twice as long now and then.
func TestSteepOnBusyMachine(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	measure := func(power, constant float64) *script.Growth {
		g := &script.Growth{What: "time"}
		for n := 1024.0; n <= 1<<18; n *= 2 {
			g.Sizes = append(g.Sizes, n)
			g.Values = append(g.Values, (constant+400e3*math.Pow(n/(1<<18), power))*(1+r.Float64()*r.Float64()))
		}
		return g
	}
	const rounds = 2000
	for _, test := range []struct {
		power, constant float64
		least, most     int
	}{
		{0, 0, 0, 0}, {0.5, 100, 0, 0}, {1, 100, 0, 0}, {1, 50e3, 0, 0}, {1.1, 100, 0, 0},
		{2, 100, rounds * 8 / 10, rounds}, {3, 100, rounds * 9 / 10, rounds}, {2, 2000, rounds / 2, rounds},
	} {
		found := 0
		for range rounds {
			if _, ok := steep(measure(test.power, test.constant)); ok {
				found++
			}
		}
		if found < test.least || found > test.most {
			t.Errorf("power %g and %g µs: found %d times in %d, want %d to %d", test.power, test.constant, found, rounds, test.least, test.most)
		}
	}
}

func TestLeaks(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	measure := func(each, base, ceiling float64) *script.Growth {
		g := &script.Growth{What: "memory"}
		for n := 0.0; n <= 1000; n += 100 {
			g.Sizes = append(g.Sizes, n)
			g.Values = append(g.Values, base+min(ceiling, n*each)+r.Float64()*1e6)
		}
		return g
	}
	for range 1000 {
		if _, ok := leaks(measure(100e3, 30e6, 1e12)); !ok {
			t.Fatal("a leak of 100 KB was not found")
		}
		if _, ok := leaks(measure(1e6, 30e6, 60e6)); ok {
			t.Fatal("a cache of 60 MB is no leak")
		}
		if _, ok := leaks(measure(10e3, 30e6, 1e12)); ok {
			t.Fatal("10 MB are too little to be sure")
		}
		if _, ok := leaks(measure(100e3, 100e6, 1e12)); ok {
			t.Fatal("a heap that has grown to twice its size is no leak")
		}
	}
}

// Each call costs more than the one before, whether or not the machine is busy; what is as expensive from the start, gets used to it, stops to grow, or
// becomes expensive at one moment, does not.
func TestSlows(t *testing.T) {
	r := rand.New(rand.NewPCG(9, 10))
	for _, test := range []struct {
		name string
		cost func(call float64) float64 // microseconds
		want bool
	}{
		{"all are read", func(n float64) float64 { return 200 + 10*n }, true},
		{"some microseconds", func(n float64) float64 { return 20 + 0.5*n }, false},
		{"expensive", func(float64) float64 { return 5000 }, false},
		{"loads at first", func(n float64) float64 { return 5000 / (1 + n) }, false},
		{"the last hundred are read", func(n float64) float64 { return 200 + 20*min(n, 100) }, false},
		{"the last two hundred are read", func(n float64) float64 { return 200 + 20*min(n, 200) }, false},
		{"from an early moment on", func(n float64) float64 { return map[bool]float64{true: 5000, false: 200}[n > 100] }, false},
		{"from a moment on", func(n float64) float64 { return map[bool]float64{true: 5000, false: 200}[n > 300] }, false},
	} {
		const rounds = 1000
		found := 0
		for range rounds {
			g, used, busy := &script.Growth{What: "memory"}, 0.0, 512*r.Float64()
			for n := 0.0; n <= 512; n++ {
				if math.Mod(n, 64) == 0 {
					g.Sizes, g.Values, g.Used = append(g.Sizes, n), append(g.Values, 1e6), append(g.Used, used)
				}
				cost := test.cost(n)
				if n > busy && n < busy+128 {
					cost *= 1 + r.Float64()/2
				}
				used += cost
			}
			if _, _, ok := slows(g); ok {
				found++
			}
		}
		if want := map[bool]int{true: rounds * 3 / 4}[test.want]; found < want || !test.want && found > 0 {
			t.Errorf("%s: found %d times in %d", test.name, found, rounds)
		} else {
			t.Log(test.name, found)
		}
	}
}

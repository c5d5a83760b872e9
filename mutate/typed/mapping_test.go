package typed_test

import (
	"math/rand/v2"
	"testing"

	"github.com/teaselfuzz/teasel/mutate/typed"
)

// The same generator state gives the same values, also for maps in which several keys refer to equal values.
func TestMapWithEqualKeysIsReproducible(t *testing.T) {
	run := func() (out []string) {
		e := editor(t, typed.Of[map[*uint8]int16]())
		v, err := e.Decode([]byte(`[[1,10],[1,20],[1,30],[1,40],[2,1]]`))
		if err != nil {
			t.Fatal(err)
		}
		r := rand.New(rand.NewPCG(1, 2))
		for range 100 {
			v = e.Mutate(r, nil, v)
			out = append(out, text(t, e, v))
		}
		return out
	}
	first := run()
	for range 10 {
		for i, s := range run() {
			if s != first[i] {
				t.Fatalf("change %d came to %s, and before to %s", i, s, first[i])
			}
		}
	}
}

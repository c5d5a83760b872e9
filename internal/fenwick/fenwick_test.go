package fenwick_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/teaselfuzz/teasel/internal/fenwick"
)

func ExampleWeights() {
	var w fenwick.Weights
	w.Set(0, 1)
	w.Set(1, 0)
	w.Set(2, 3)
	r := rand.New(rand.NewPCG(1, 2))
	var drawn [3]int
	for range 4000 {
		i, _ := w.Draw(r)
		drawn[i]++
	}
	fmt.Println(drawn[0] > 900, drawn[1], drawn[2] > 2900)
	// Output: true 0 true
}

// Every index is drawn as often as its weight says, whatever was set before and in whatever order.
func TestDraw(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	for _, n := range []int{1, 2, 3, 7, 8, 9, 64, 100} {
		var w fenwick.Weights
		want := make([]uint64, n)
		for range 5 * n {
			i, x := r.IntN(n), uint64(r.IntN(4))
			w.Set(i, x)
			want[i] = x
		}
		var total uint64
		for _, x := range want {
			total += x
		}
		got := make([]uint64, n)
		const perUnit = 400
		for range total * perUnit {
			i, ok := w.Draw(r)
			if !ok {
				t.Fatalf("n=%d: nothing drawn", n)
			}
			got[i]++
		}
		for i := range want {
			if low, high := want[i]*perUnit*7/10, want[i]*perUnit*13/10; got[i] < low || got[i] > high {
				t.Errorf("n=%d: index %d of weight %d drawn %d times", n, i, want[i], got[i])
			}
		}
		for i := range want {
			w.Set(i, 0)
		}
		if _, ok := w.Draw(r); ok {
			t.Errorf("n=%d: drawn from nothing", n)
		}
	}
	var empty fenwick.Weights
	if _, ok := empty.Draw(r); ok {
		t.Error("drawn from an empty list")
	}
}

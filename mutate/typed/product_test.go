package typed

import (
	"slices"
	"testing"
)

func TestDivisors(t *testing.T) {
	for _, test := range []struct {
		n    uint64
		want []uint64
	}{
		{1, []uint64{1}},
		{2, []uint64{1, 2}},
		{12, []uint64{1, 2, 3, 4, 6, 12}},
		{49, []uint64{1, 7, 49}},
		{127 * 9721, []uint64{1, 127, 9721, 127 * 9721}},
		{1 << 63, nil},
		{4294967291 * 2, []uint64{1, 2, 4294967291, 4294967291 * 2}},
	} {
		got := divisors(test.n)
		slices.Sort(got)
		if test.want != nil && !slices.Equal(got, test.want) {
			t.Errorf("divisors of %d: %d, expected %d", test.n, got, test.want)
		}
		for _, d := range got {
			if test.n%d != 0 {
				t.Errorf("%d does not divide %d", d, test.n)
			}
		}
	}
}

// The divisors lead to a zero of every product of two integers plus other terms.
func TestBilinear(t *testing.T) {
	for _, f := range []func(u, v int64) int64{
		func(u, v int64) int64 { return u*v - 1234567 },
		func(u, v int64) int64 { return 3*u*v - 3*91 },
		func(u, v int64) int64 { return 4*u*v + 8*u + 4*v + 8 - 4*77 }, // (u+1)·(v+2) = 77
		func(u, v int64) int64 { return 54 + u*v - (54 + 640*480) },
	} {
		for _, at := range [][2]int64{{0, 0}, {5, -3}, {1000, 77}} {
			u, v := at[0], at[1]
			e := equation(u, v, [4]int64{f(u, v), f(u+1, v), f(u, v+1), f(u+1, v+1)})
			found := 0
			for _, d := range divisors(magnitude(e.right)) {
				if u, v, ok := e.solution(int64(d)); ok {
					found++
					if f(u, v) != 0 {
						t.Errorf("f(%d, %d) is %d", u, v, f(u, v))
					}
				}
			}
			if found < 2 {
				t.Errorf("%d solutions from %v", found, at)
			}
		}
	}
}

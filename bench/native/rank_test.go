package main

import (
	"math"
	"testing"
)

func TestMannWhitney(t *testing.T) {
	for _, tt := range []struct {
		a, b []float64
		want float64
	}{
		{[]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 2. / 252},
		{[]float64{6, 7, 8, 9, 10}, []float64{1, 2, 3, 4, 5}, 2. / 252},
		{[]float64{1, 2, 3}, []float64{4, 5, 6}, 2. / 20},
		{[]float64{19, 22, 16, 29, 24}, []float64{20, 11, 17, 12}, 14. / 126}, // U is 17: as in R's wilcox.test, exact
		{[]float64{7, 7, 7}, []float64{7, 7, 7}, 1},
		{[]float64{1, 1, 2}, []float64{2, 3, 3}, 4. / 20}, // ranks 1.5 1.5 3.5 and 3.5 5.5 5.5
		{nil, []float64{1}, 1},
	} {
		if got := mannWhitney(tt.a, tt.b); math.Abs(got-tt.want) > 1e-12 {
			t.Errorf("%v and %v: %v, want %v", tt.a, tt.b, got, tt.want)
		}
	}
}

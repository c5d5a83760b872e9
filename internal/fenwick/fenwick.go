// Package fenwick draws from a list of changing weights in logarithmic time.
//
// It is P. M. Fenwick's binary indexed tree ("A new data structure for cumulative frequency tables", 1994) with
// integer weights, so that sums never drift.
package fenwick

import (
	"math/bits"
	"math/rand/v2"
)

// Weights is a list of integer weights. The zero value is empty. It has one owner.
type Weights struct {
	tree   []uint64 // 1-based, shifted by one
	weight []uint64
}

// Set gives index i a weight; indexes up to it that were never set weigh nothing. The sum of all weights must fit
// into 64 bits. It takes O(log n).
func (s *Weights) Set(i int, w uint64) {
	for len(s.weight) <= i {
		n := len(s.weight) + 1
		var sum uint64
		for j := n - 1; j > n-n&-n; j -= j & -j {
			sum += s.tree[j-1]
		}
		s.weight, s.tree = append(s.weight, 0), append(s.tree, sum)
	}
	d := w - s.weight[i] // wraps round; so do the sums, back again
	s.weight[i] = w
	for j := i + 1; j <= len(s.tree); j += j & -j {
		s.tree[j-1] += d
	}
}

func (s *Weights) total() (t uint64) {
	for j := len(s.tree); j > 0; j -= j & -j {
		t += s.tree[j-1]
	}
	return t
}

// Draw returns an index with a chance proportional to its weight, in O(log n). False: no weight is above zero.
func (s *Weights) Draw(r *rand.Rand) (int, bool) {
	t := s.total()
	if t == 0 {
		return 0, false
	}
	x, at := r.Uint64N(t), 0
	for step := 1 << (bits.Len(uint(len(s.tree))) - 1); step > 0; step /= 2 {
		if at+step <= len(s.tree) && s.tree[at+step-1] <= x {
			at += step
			x -= s.tree[at-1]
		}
	}
	return at, true
}

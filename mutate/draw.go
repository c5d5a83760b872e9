package mutate

import "math/rand/v2"

// below draws from 0..n-1. It is IntN without the care for a bias that is below n in 2^32; n must be positive.
func below(r *rand.Rand, n int) int {
	return int(uint64(r.Uint32()) * uint64(n) >> 32)
}

// between draws from lo..hi.
func between(r *rand.Rand, lo, hi int) int { return lo + below(r, hi-lo+1) }

// chance is true n times out of m.
func chance(r *rand.Rand, n, m int) bool { return below(r, m) < n }

// pick draws one of the values.
func pick[T any](r *rand.Rand, values []T) T { return values[below(r, len(values))] }

// wheel draws numbers by weight: each stands in it as often as it weighs.
type wheel []uint8

func (w wheel) add(n uint8, weight int) wheel {
	for range weight {
		w = append(w, n)
	}
	return w
}

// stack draws how many operators to apply one after another: up to 2, 4, 8 or 16 with even odds, but no more than most
// (AFL++ 4.22, havoc stage).
func stack(r *rand.Rand, most int) int {
	bits := r.Uint64()
	limit := min(2<<(bits&3), most)
	return 1 + int(bits>>32*uint64(limit)>>32)
}

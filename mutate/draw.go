package mutate

import "math/rand/v2"

// below returns a random number from 0 to n-1; n must be positive. It is faster than IntN, with a bias of less than n in 2^32.
func below(r *rand.Rand, n int) int {
	return int(uint64(r.Uint32()) * uint64(n) >> 32)
}

// between returns a random number from lo to hi.
func between(r *rand.Rand, lo, hi int) int { return lo + below(r, hi-lo+1) }

// chance returns true with probability n/m.
func chance(r *rand.Rand, n, m int) bool { return below(r, m) < n }

// pick returns a random value.
func pick[T any](r *rand.Rand, values []T) T { return values[below(r, len(values))] }

// wheel draws numbers by weight: it contains each number as often as its weight says.
type wheel []uint8

func (w wheel) add(n uint8, weight int) wheel {
	for range weight {
		w = append(w, n)
	}
	return w
}

// stack returns a random number of operators to stack: up to 2, 4, 8 or 16 with equal probability, but no more than most
// (AFL++ 4.22, havoc stage).
func stack(r *rand.Rand, most int) int {
	bits := r.Uint64()
	limit := min(2<<(bits&3), most)
	return 1 + int(bits>>32*uint64(limit)>>32)
}

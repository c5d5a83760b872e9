package main

import "slices"

// mostRanked is how many runs of two fuzzers are ranked exactly: there are 184,756 ways to part twenty into halves.
const mostRanked = 20

// mannWhitney returns the probability, two-sided, that two samples of one distribution differ by at least as much in their ranks:
// exactly, over all ways to part the values, equal ones sharing their ranks. It is 1 for no or too many values.
func mannWhitney(a, b []float64) float64 {
	all := slices.Concat(a, b)
	if len(a) == 0 || len(b) == 0 || len(all) > mostRanked {
		return 1
	}
	sorted := slices.Sorted(slices.Values(all))
	ranks := make([]int, len(all)) // twice the rank, which may be half a number
	for i, v := range all {
		first, _ := slices.BinarySearch(sorted, v)
		last := first
		for last < len(sorted) && sorted[last] == v {
			last++
		}
		ranks[i] = first + last + 1
	}
	away := func(sum int) int { return max(sum-len(a)*(len(all)+1), len(a)*(len(all)+1)-sum) }
	seen := 0
	for _, r := range ranks[:len(a)] {
		seen += r
	}
	ways, extreme := 0, 0
	var part func(i, left, sum int)
	part = func(i, left, sum int) {
		switch {
		case left == 0:
			if ways++; away(sum) >= away(seen) {
				extreme++
			}
		case len(ranks)-i >= left:
			part(i+1, left-1, sum+ranks[i])
			part(i+1, left, sum)
		}
	}
	part(0, len(a), 0)
	return float64(extreme) / float64(ways)
}

package view

import "time"

// Left estimates how long the rest of total things takes, if done of them have taken elapsed: rounded to what can be known of it. ok is false
// if nothing can be said.
func Left(elapsed time.Duration, done, total uint64) (left time.Duration, ok bool) {
	if done == 0 || done >= total || elapsed <= 0 {
		return 0, false
	}
	left = time.Duration(float64(elapsed) / float64(done) * float64(total-done))
	switch {
	case left >= 10*time.Minute:
		return left.Round(time.Minute), true
	case left >= time.Minute:
		return left.Round(10 * time.Second), true
	}
	return max(left.Round(time.Second), time.Second), true
}

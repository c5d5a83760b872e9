package view

import (
	"time"

	"github.com/teaselfuzz/teasel"
)

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

// Seeding estimates when all seeds of a run of a campaign have run. The zero value is ready to use.
type Seeding struct {
	begun   bool
	elapsed time.Duration // at the first figures: a campaign that is resumed does not begin at 0
	run     int
}

// Left returns the estimate, given the newest figures. ok is false if nothing can be said, or all have run.
func (d *Seeding) Left(s *teasel.Stats) (left time.Duration, ok bool) {
	if !d.begun {
		d.begun, d.elapsed, d.run = true, s.Elapsed, s.SeedsRun
	}
	return Left(s.Elapsed-d.elapsed, uint64(max(0, s.SeedsRun-d.run)), uint64(max(0, s.Seeds-d.run)))
}

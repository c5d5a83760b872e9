package view

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

func TestLeft(t *testing.T) {
	for _, tt := range []struct {
		elapsed     time.Duration
		done, total uint64
		want        time.Duration
		ok          bool
	}{
		{time.Second, 0, 10, 0, false}, {time.Second, 10, 10, 0, false}, {0, 1, 10, 0, false}, {time.Second, 11, 10, 0, false},
		{time.Second, 1, 10, 9 * time.Second, true}, {time.Second, 9, 10, time.Second, true},
		{time.Minute, 10, 31, 130 * time.Second, true}, {time.Minute, 1, 100, 99 * time.Minute, true},
	} {
		if got, ok := Left(tt.elapsed, tt.done, tt.total); got != tt.want || ok != tt.ok {
			t.Errorf("%d of %d in %v: %v %v, want %v %v", tt.done, tt.total, tt.elapsed, got, ok, tt.want, tt.ok)
		}
	}
}

// TestSeeding: what an earlier run of the campaign took does not count.
func TestSeeding(t *testing.T) {
	var d Seeding
	for i, want := range []time.Duration{0, 18 * time.Second, 8 * time.Second, 0} {
		s := teasel.Stats{Elapsed: time.Hour + time.Duration(2*i)*time.Second, Seeds: 12, SeedsRun: []int{2, 3, 4, 12}[i]}
		if i == 2 {
			s.SeedsRun = 5
			s.Elapsed = time.Hour + 3*time.Second + 428*time.Millisecond
		}
		if left, ok := d.Left(&s); left != want || ok != (want > 0) {
			t.Errorf("%d of 12: %v %v, want %v", s.SeedsRun, left, ok, want)
		}
	}
}

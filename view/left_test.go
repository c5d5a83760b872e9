package view

import (
	"testing"
	"time"
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

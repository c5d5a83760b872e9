package clock

import (
	"testing"
	"time"
)

func TestTexts(t *testing.T) {
	for d, want := range map[time.Duration][2]string{
		0:                                     {"0s", "0.0s"},
		3449 * time.Millisecond:               {"3s", "3.4s"},
		90*time.Second + 600*time.Millisecond: {"1m31s", "1m31s"},
		51 * time.Hour:                        {"2d 3h0m0s", "2d 3h0m0s"},
	} {
		if got := [2]string{Seconds(d), Tenths(d)}; got != want {
			t.Errorf("%d: %q, want %q", d, got, want)
		}
	}
}

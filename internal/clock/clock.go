// Package clock writes durations for people.
package clock

import (
	"fmt"
	"time"
)

// Seconds writes a duration to the second, and days apart: "1m30s", "2d 3h0m0s".
func Seconds(d time.Duration) string {
	d = d.Round(time.Second)
	if days := d / (24 * time.Hour); days > 0 {
		return fmt.Sprintf("%dd %s", days, d%(24*time.Hour))
	}
	return d.String()
}

// Tenths is [Seconds], and to a tenth of a second below a minute: "3.4s".
func Tenths(d time.Duration) string {
	if d < time.Minute {
		return fmt.Sprintf("%.1fs", d.Seconds())
	}
	return Seconds(d)
}

package teasel_test

import (
	"context"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// A target that takes long, and does not say so, is not kept running when the campaign is over: neither right from the start, nor
// when it has been quick before.
func TestSlowTargetWithoutElapsed(t *testing.T) {
	for _, test := range []struct{ slow, end int }{{1, 3}, {200, 500}} { // executions from which it is slow, and in which the campaign ends
		ctx, cancel := context.WithCancel(t.Context())
		n := 0
		c := bytesCampaign(execFunc(func(_ []byte, o *teasel.Observation) {
			if n++; n >= test.slow {
				time.Sleep(time.Millisecond) // is what it does
			}
			if o.Exit = teasel.ExitOK; n == test.end {
				cancel()
			}
		}))
		if _, err := c.Run(ctx); err != nil || n != test.end {
			t.Errorf("%d executions, the campaign ended in number %d, %v", n, test.end, err)
		}
		cancel()
	}
}

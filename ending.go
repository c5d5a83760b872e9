package teasel

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// endTime is how long findings are confirmed after a campaign was interrupted or its duration is over. After a duration, those that are
// more than low have a part of it, if that is longer: a hang that was seen last takes a time limit and two starts of the target.
const (
	endTime    = 2 * time.Second
	endPart    = 6
	maxEndTime = 10 * time.Second
)

// longerEnd is how long findings that are more than low are confirmed after the duration of a campaign.
func (c *Campaign[T]) longerEnd() time.Duration {
	return max(endTime, min(c.Duration/endPart, maxEndTime))
}

// jobsEnd is how long jobs have when the campaign ends now; 0: as long as they take.
func (c *Campaign[T]) jobsEnd(ctx context.Context) time.Duration {
	switch {
	case c.Runs > 0 && ctx.Err() == nil:
		return 0
	case errors.Is(context.Cause(ctx), errDuration):
		return c.longerEnd()
	}
	return endTime
}

// ending notes what a campaign waits for that is over and has not ended. A worker's loop ends first, then its jobs, then its executor.
type ending struct {
	workers        int32        // that were started
	looped, worked atomic.Int32 // those whose loop, and whose jobs, have ended
	last           string       // what was waited for a tick ago
	noted          bool         // it was noted
}

// note tells the reporters, once, what has been waited for since the last tick, a second ago. end is how long jobs have; 0: as long as they take.
func (e *ending) note(ctx context.Context, h *Hub, end time.Duration) error {
	what := ""
	switch {
	case e.worked.Load() == e.workers:
		what = "waiting for the target to end"
	case e.looped.Load() == e.workers && end == endTime: // which is soon
	case e.looped.Load() == e.workers:
		what = "reproducing and minimising what was seen last, to the end"
		if end > 0 {
			what = fmt.Sprintf("reproducing and minimising what was seen last, for %v at most", end.Round(time.Second))
		}
	case h.over() || ctx.Err() != nil:
		what = "waiting for executions in flight"
	}
	if what != e.last {
		e.last, e.noted = what, false
		return nil
	}
	if what == "" || e.noted {
		return nil
	}
	e.noted = true
	return h.note("the campaign is ending: " + what)
}

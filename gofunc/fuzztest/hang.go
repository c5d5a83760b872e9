package fuzztest

import (
	"context"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
)

// quickPart is the part of the time limit that an input gets that another execution confirms.
const quickPart = 5

// traceTries is how often an input that hangs runs again until its stack is printed.
const traceTries = 3

// When an input has hung, others are ended after slowFactor times what the slowest that ended by itself has taken lately, which follows how
// busy the machine is, but not before leastLimit; before that, and before any input has ended, after a part of the time limit. A hang is
// confirmed with all of it, by Exec. A slow input counts a little less after each batch without one.
const (
	slowFactor = 8
	leastLimit = 50 * time.Millisecond
	fading     = 256
)

// limit is what each input of the batch may use.
func (e *executor) limit(ask teasel.Ask) time.Duration {
	all := e.target.timeout()
	switch {
	case e.confirms && !ask.Quick:
		return all
	case e.confirms, !e.warm, !e.slow:
		return all / quickPart
	}
	return min(all/quickPart, max(slowFactor*e.slowest, leastLimit))
}

// ended notes how long the slowest input of a batch has taken that came to its end.
func (e *executor) ended(longest time.Duration) {
	e.slowest, e.warm = max(longest, e.slowest-e.slowest/fading), true
}

// hung returns how an input died that has reached a limit of time.
func (e *executor) hung(ctx context.Context, limit time.Duration, slot int, died *death) (_ *death, err error) {
	if judge.Unavailable(died.stderr) {
		if died, err = e.trace(ctx, limit, slot, died); err != nil {
			return nil, err
		}
	}
	if died.cause == judge.CauseTimeout {
		e.slow, died.short = true, limit < e.target.timeout()
	}
	return died, nil
}

// identify returns the ID of the finding that a death comes to.
func (e *executor) identify(d *death) string {
	f := e.finding(d)
	return f.ID()
}

// finding returns what a death comes to.
func (e *executor) finding(d *death) teasel.Finding {
	return judge.Detect(&teasel.Observation{Evidence: e.evidence(d)})[0]
}

// trace runs an input again that did not end, if the runtime did not say where it was, until its stack is printed.
func (e *executor) trace(ctx context.Context, limit time.Duration, slot int, died *death) (*death, error) {
	for range traceTries {
		again, err := e.alone(ctx, limit, slot)
		switch {
		case err != nil:
			return nil, err
		case again == nil: // it depends on what ran before
			e.discard(slot)
			return died, nil
		case again.cause != judge.CauseTimeout:
			return died, nil
		case !judge.Unavailable(again.stderr):
			return again, nil
		}
	}
	return died, nil
}

// alone runs one input of the batch in a process that has run nothing before. What the batch has come to so far stays.
func (e *executor) alone(ctx context.Context, limit time.Duration, slot int) (*death, error) {
	defer e.saved()()
	e.m.From, e.m.Count = uint32(slot), uint32(slot+1)
	_, d, err := e.runFresh(ctx, limit, false)
	return d, err
}

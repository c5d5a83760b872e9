package fuzztest

import (
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/judge"
)

// quickPart is the part of the time limit that an input gets of which another execution has the last word.
const quickPart = 5

// traceTries is how often an input that hangs runs again until its stack is printed.
const traceTries = 3

// limit is what each input of the batch may use. When an input has hung, most that reach the limit are further ones of that kind,
// so that the inputs of a batch get a part of it; see hung.
func (e *executor) limit(ask teasel.Ask) limits {
	l := limits{e.target.timeout()}
	if ask.Quick || e.slow && e.m.Count-e.m.From > 1 {
		l.time /= quickPart
	}
	return l
}

// hung returns how an input died that has reached a limit of time. One that got a part of the time limit, and is not where an earlier
// one hung that had all of it, runs again with all of it: it may only be slow. nil: it does not die.
func (e *executor) hung(ctx context.Context, ask teasel.Ask, limit limits, slot int, died *death) (_ *death, err error) {
	if judge.Unavailable(died.stderr) {
		if died, err = e.trace(ctx, slot, died); err != nil {
			return nil, err
		}
	}
	if ask.Quick {
		return died, nil
	}
	if all := (limits{e.target.timeout()}); limit != all && !e.known[e.identify(died)] {
		if died, err = e.alone(ctx, all, slot); err != nil || died == nil {
			e.discard(slot)
			return nil, err
		}
	}
	if died.cause == judge.CauseTimeout {
		e.known[e.identify(died)], e.slow = true, true
	}
	return died, nil
}

// identify returns the ID of the finding that a death comes to.
func (e *executor) identify(d *death) string {
	o := teasel.Observation{Evidence: e.evidence(d)}
	return judge.Detect(&o)[0].ID()
}

// trace runs an input again that did not end, if the runtime did not say where it was, until its stack is printed.
func (e *executor) trace(ctx context.Context, slot int, died *death) (*death, error) {
	for range traceTries {
		again, err := e.alone(ctx, limits{e.target.timeout() / quickPart}, slot)
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
func (e *executor) alone(ctx context.Context, limit limits, slot int) (*death, error) {
	defer e.saved()()
	e.m.From, e.m.Count = uint32(slot), uint32(slot+1)
	_, d, err := e.runFresh(ctx, limit, false)
	return d, err
}

package run

import (
	"context"
	"slices"
	"time"
)

// A server that dies some time after an answer, in a timer or a promise, does so while it works on something else, and one
// that works on many requests at once may go deaf in any of them. When the scripts run again in turn, each after a short
// rest, it is one of the last few, and only a few processes are needed to know which.
const (
	turnRest     = 2 * time.Millisecond  // after each script
	turnLong     = 50 * time.Millisecond // the same when the last few are run in turn once more
	turnWindow   = 32                    // those
	turnSuspects = 4                     // the last ones before the server died
	maxRiddles   = 8                     // deaths that nobody was found for, after which only those are looked into that come again
)

// begun returns the scripts of which something was said, in the order in which they were.
func begun(lanes []*lane) (sent []*lane) {
	for _, l := range lanes {
		if len(l.t.Sent) > 0 && !l.parked && !l.resumes {
			sent = append(sent, l)
		}
	}
	return sent
}

// inTurn looks for the script that a server has died of among those that it had run, and returns those that are still to
// be run. last is the one at which another server has died, if it takes more than that one; nil: none has.
func (e *executor) inTurn(ctx context.Context, lanes []*lane) (left []*lane, found bool, last *lane, err error) {
	at, err := e.runInTurn(ctx, lanes, turnRest)
	if at < 0 || err != nil {
		return nil, false, nil, err
	}
	last, left, lanes = lanes[at], lanes[at+1:], lanes[:at+1]
	if found, err = e.tryLast(ctx, lanes); !found && err == nil {
		lanes = lanes[max(0, len(lanes)-turnWindow):]
		if at, err = e.runInTurn(ctx, lanes, turnLong); at >= 0 && err == nil {
			found, err = e.tryLast(ctx, lanes[:at+1])
		}
	}
	for _, l := range left {
		l.again(e)
	}
	return left, found, last, err
}

// runInTurn runs scripts, each when the one before it has had its answers and the server has rested, until the server
// dies. It returns the index of the last that was run then; -1: it lives.
func (e *executor) runInTurn(ctx context.Context, lanes []*lane, rest time.Duration) (at int, err error) {
	for i, l := range lanes {
		l.again(e)
		if err := e.solo(ctx, l, false); err != nil {
			return i, err
		}
		died := l.bad()
		if !died {
			if died, err = e.rest(ctx, rest); err != nil {
				return i, err
			}
		}
		if died {
			return i, nil
		}
	}
	return -1, nil
}

// tryLast runs the last scripts, the very last one first, until the server is the worse for one.
func (e *executor) tryLast(ctx context.Context, lanes []*lane) (found bool, err error) {
	suspects := slices.Clone(lanes[max(0, len(lanes)-turnSuspects):])
	slices.Reverse(suspects)
	_, found, err = e.accuse(ctx, suspects, fateEnded)
	return found, err
}

// riddle says who is to be looked into by others when the end of a server came of nobody by himself: the last script that
// ran when another one ended, or all that this one had not answered. After a number of them only the first kind is.
func (e *executor) riddle(f fate, last *lane, lost, heard []*lane) (stillLost, stillHeard []*lane) {
	if f == fateEnded { // whoever looks for the culprit has to wait for the death
		e.lingers = lingerCalls
	}
	e.riddles++
	switch {
	case last != nil:
		return []*lane{last}, nil
	case e.riddles > maxRiddles:
		return nil, nil
	}
	return lost, heard
}

// rest watches a server that has nothing to do, and reports whether it dies.
func (e *executor) rest(ctx context.Context, d time.Duration) (died bool, err error) {
	s := e.live
	f, err := e.watch(ctx, &round{server: s}, d, never)
	if err != nil {
		return false, e.discard(s, err)
	}
	if f == fateFine {
		return false, nil
	}
	e.bury(ctx, f, s)
	e.lose(s)
	return true, nil
}

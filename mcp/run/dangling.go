package run

import (
	"context"
	"slices"
	"time"
)

const (
	dangleTime = 150 * time.Millisecond // for what should not come any more: see dangles
	lateTime   = 500 * time.Millisecond // the same when there is time, or for many scripts at once
)

// dangleLimit is how long to wait for what should not come: long if this execution has the last word, and for as long as
// it took when it came before.
func (e *executor) dangleLimit(l *lane) time.Duration {
	if !l.obs.Ask.Quick {
		return lateTime
	}
	var slowest time.Duration
	for i := range l.plan {
		slowest = max(slowest, e.record(l.plan[i].kind(e)).slowest)
	}
	if !l.cancels {
		return dangleTime / 8
	}
	return min(dangleTime+2*slowest, lateTime)
}

// cleared reports whether every request that the script has cancelled was answered all the same, so that there is no
// more to wait for.
func (l *lane) cleared() bool {
	if !l.cancels {
		return false
	}
	for i := range l.t.Sent {
		if s := &l.t.Sent[i]; s.Answer < 0 && !s.Regular && l.ownID(s) {
			return false
		}
	}
	return true
}

// dangles reports whether something may come that must not: an answer to what was cancelled, progress of what is
// answered and has made some before.
func (l *lane) dangles() bool {
	for i := range l.t.Received {
		if l.t.Received[i].Message.Method == "notifications/progress" {
			return true
		}
	}
	for i := range l.t.Sent {
		if s := &l.t.Sent[i]; l.cancels && s.Answer < 0 && !s.Regular && l.ownID(s) {
			return true
		}
	}
	return false
}

// What must not come to a script is not waited for on the spot: it goes on hearing of the server while others run, and is
// handed back after so many requests, or after so long where those take longer. By count, if possible, so that it is the
// same each time.
const (
	dangleRuns = 8192
	dangleRest = 10 * time.Second
	maxDangle  = 64
)

// dangle sets a script aside at the end of a call.
func (e *executor) dangle(l *lane) {
	l.due = e.runs + dangleRuns
	e.dangling = append(e.dangling, l)
}

// settleDangling hands back the scripts whose time has come, those that there are too many of as well.
func (e *executor) settleDangling(ctx context.Context) error {
	for len(e.dangling) > 0 {
		l := e.dangling[0]
		if e.runs < l.due && time.Since(l.last) < dangleRest && len(e.dangling) <= maxDangle {
			return nil
		}
		if left := lateTime - time.Since(l.last); left > 0 && e.live == l.home {
			r := &round{server: e.live, limit: e.limit(nil)}
			if _, err := e.watch(ctx, r, left, never); err != nil {
				return e.discard(r.server, err)
			}
		}
		e.dangling = slices.Delete(e.dangling, 0, 1)
		l.dangling = false
		e.handBack(l)
	}
	return nil
}

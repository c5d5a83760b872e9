package mcp

import (
	"context"
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

// settleDangling waits once for what must not come to any script of a call, and gives it to whom it belongs.
func (e *executor) settleDangling(ctx context.Context, lanes []*lane) error {
	var last time.Time
	for _, l := range lanes {
		if l.dangling {
			last = later(last, l.last)
		}
	}
	if left := lateTime - time.Since(last); left > 0 && e.live != nil {
		r := &round{server: e.live, limit: e.limit(nil)}
		if _, err := e.watch(ctx, r, left, never); err != nil {
			return e.discard(r.server, err)
		}
	}
	for _, l := range lanes {
		if l.dangling {
			e.retire(l.home, l)
		}
	}
	return nil
}

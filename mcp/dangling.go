package mcp

import (
	"context"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
)

const (
	dangleTime  = 150 * time.Millisecond // for what should not come any more: see dangles
	lateTime    = 500 * time.Millisecond // the same when there is time, or for many scripts at once
	dangleCalls = 1                      // after which all that was kept is settled, for the sake of the same run each time
	dangleWait  = 30 * time.Second       // or this, where calls take long
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

// keepDangling keeps the scripts of a call to which something may come that must not, while the campaign goes on. Their
// observations are handed out later.
func (e *executor) keepDangling(lanes []*lane) {
	for i, l := range lanes {
		if !l.dangling {
			continue
		}
		l.told = l.runs() + l.spent
		l.obs.Exit, l.obs.Runs = teasel.ExitOK, l.told
		l.own()
		e.lanes[i] = &lane{skip: true, concluded: true}
		if e.dangling = append(e.dangling, l); len(e.dangling) == 1 {
			e.dangles = 0
		}
		if l.home != e.live { // it has ended since
			e.releaseDangling(l.home)
		}
	}
}

// settleDangling hands out what was kept when it has been kept for long enough, or when no more can come.
func (e *executor) settleDangling(ctx context.Context) error {
	if len(e.dangling) == 0 {
		return nil
	}
	last := e.dangling[len(e.dangling)-1].last
	if e.dangles++; e.dangles < dangleCalls && time.Since(e.dangling[0].last) < dangleWait {
		return nil
	}
	if left := lateTime - time.Since(last); left > 0 && e.live != nil {
		r := &round{server: e.live, limit: e.limit(nil)}
		if _, err := e.watch(ctx, r, left, never); err != nil {
			return e.discard(r.server, err)
		}
	}
	e.releaseDangling(e.live)
	return nil
}

// releaseDangling hands out the scripts that were kept for a server.
func (e *executor) releaseDangling(s *server) {
	e.dangling = slices.DeleteFunc(e.dangling, func(l *lane) bool {
		if l.home != s {
			return false
		}
		l.dangling = false
		e.retire(s, l)
		e.back = append(e.back, l)
		return true
	})
}

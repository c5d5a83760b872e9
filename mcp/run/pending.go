package run

import (
	"context"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// Talks whose answers take long are suspended: they stay in flight beside the batches that follow, and go on or are judged when
// their answer comes or their time is over. How they end is handed out by Late.
const (
	maxSlow    = 16 // talks that are suspended at a time, of one topic
	maxRetries = 8  // that are tried again by themselves, of those that were pending when their server ended or something came of them
)

// suspend suspends a talk.
func (e *executor) suspend(k *talk) {
	k.state, k.due = suspended, time.Now().Add(e.target.timeout())
	k.t.Past.MarkSlow(k.t.Place - 1)
	if i := k.t.Unanswered(); i >= 0 {
		k.slow = e.record(k.plan[k.t.Sent[i].Step].topic)
		k.slow.slow++
		k.slow.pending++
	}
	e.pending = append(e.pending, k)
}

// unsuspend ends the suspension of a talk.
func (e *executor) unsuspend(k *talk) {
	i := slices.Index(e.pending, k)
	if e.pending = slices.Delete(e.pending, i, i+1); k.slow != nil {
		k.slow.pending--
		k.slow = nil
	}
}

// isSlow reports whether what a talk awaits is known to take long.
func (e *executor) isSlow(k *talk) bool {
	i := k.t.Unanswered()
	if i < 0 || k.open == 0 {
		return false
	}
	r := e.record(k.plan[k.t.Sent[i].Step].topic)
	return r.slow > 1 && 2*r.slow > r.ran
}

// resume lets the talks go on that were suspended and have what they awaited, and ends those whose time is over. What they say
// next is queued.
func (e *executor) resume(ctx context.Context, s *peer) error {
	for _, k := range slices.Clone(e.pending) {
		if k.server != s || k.obs != nil || k.open > 0 && time.Now().Before(k.due) {
			continue
		}
		if e.unsuspend(k); k.open > 0 {
			k.giveUp()
			e.charge(k, hangPrice)
		} else {
			e.pace(k)
			k.state = talking
			if err := e.goOn(ctx, k); err != nil {
				return err
			}
		}
		if k.state == talking {
			e.suspend(k)
			continue
		}
		s.finishTalk(k)
		if k.recheck && !k.failed() && len(e.retries) < maxRetries { // as one of a batch is that is not suspended
			e.retries = append(e.retries, k)
		} else {
			e.finish(k)
		}
	}
	return nil
}

// awaitPending waits until something comes while talks are suspended, or the time of one is over. It is called when nothing of a batch was run:
// the next one would be left out as well, and so on without end, on the processor that the server needs.
func (e *executor) awaitPending(ctx context.Context) error {
	if e.live == nil || len(e.pending) == 0 {
		return nil
	}
	first := slices.MinFunc(e.pending, func(a, b *talk) int { return a.due.Compare(b.due) })
	_ = e.receive(ctx, e.live, first.due) // that the server has ended is seen when it is needed
	return ctx.Err()
}

// forget forgets a server that has ended, and returns the talks that were suspended on it. The first of them are tried again by
// themselves.
func (e *executor) forget(s *peer) (ended []*talk) {
	if e.live == s {
		e.live = nil
	}
	if past := s.past.Before(s.past.Added()); len(e.target.Args) == 0 && e.target.Last != nil && len(past) > 0 {
		e.target.Last.Keep(past[max(0, len(past)-e.target.window()):]) // as much as may have been in flight
	}
	for _, k := range slices.Clone(e.pending) {
		if k.server != s {
			continue
		}
		e.unsuspend(k)
		if ended = append(ended, k); k.obs == nil {
			e.retryAlone(k)
		}
	}
	return ended
}

// retryAlone has a talk tried again by itself whose server has ended, if there are not too many.
func (e *executor) retryAlone(k *talk) {
	if len(e.retries) < maxRetries {
		e.retries = append(e.retries, k)
	} else {
		k.halt()
	}
}

// retry tries one of the talks again that were suspended, on a server which has ended or beside others.
func (e *executor) retry(ctx context.Context) error {
	if len(e.retries) == 0 {
		return nil
	}
	k := e.retries[0]
	e.retries = slices.Delete(e.retries, 0, 1)
	reported := k.reported
	k.obs = &teasel.Observation{}
	k.again()
	k.reported = reported
	if err := e.runAlone(ctx, k, true); err != nil {
		k.halt()
		return err
	}
	k.own()
	e.finish(k)
	return nil
}

// finish keeps a talk that is at its end for who asks for late ones.
func (e *executor) finish(k *talk) {
	k.halt()
	e.finished = append(e.finished, k)
}

// Late implements [teasel.Pipeliner]: it returns a script that was suspended and has come to its end, and what became of it.
func (e *executor) Late(ctx context.Context, obs *teasel.Observation) (script.Script, bool) {
	if s := e.live; s != nil && len(e.pending) > 0 && ctx.Err() == nil {
		e.receive(ctx, s, time.Time{})
		err := e.resume(ctx, s)
		if f, _ := e.flush(ctx, s); f != waitDone || err != nil { // half a line may have been sent
			e.discard(s, nil)
		}
	}
	if len(e.finished) == 0 {
		return script.Script{}, false
	}
	k := e.finished[0]
	e.finished = append(e.finished[:0], e.finished[1:]...)
	k.obs = obs
	k.conclude()
	if obs.Runs -= min(k.reported, obs.Runs); obs.Runs == 0 && k.reported == 0 {
		obs.Runs = 1
	}
	in := *k.in
	return in, true
}

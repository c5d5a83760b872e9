package run

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// Some talks outlive the call that they came from, and are handed out by Late. What is not answered soon is suspended: it stays in flight
// beside the batches that follow, and goes on or is judged when its answer comes or its time is over. What takes long by itself is
// postponed: it runs in the background. All of them are in executor.late, and their state says which is which.

const (
	maxLate = 512 // that are postponed; mutated scripts that come later are not run
	maxOver = 2   // that are handed out next, beside one that the background has: a huge line takes tens of megabytes, and a batch may last
)

// in returns the late talks that are in a state.
func (e *executor) in(state talkState) (talks []*talk) {
	for _, k := range e.late {
		if k.state == state {
			talks = append(talks, k)
		}
	}
	return talks
}

// remove takes a talk out of those that are late.
func (e *executor) remove(k *talk) {
	if i := slices.Index(e.late, k); i >= 0 {
		e.late = slices.Delete(e.late, i, i+1)
	}
}

// suspend suspends a talk.
func (e *executor) suspend(k *talk) {
	k.state, k.due = suspended, time.Now().Add(e.target.timeout())
	k.keepPast()
	if i := k.t.Unanswered(); i >= 0 {
		k.slow = e.record(k.plan[k.t.Sent[i].Step].topic)
		k.slow.slow++
		k.slow.pending++
	}
	e.late = append(e.late, k)
}

// unsuspend ends the suspension of a talk.
func (e *executor) unsuspend(k *talk) {
	if e.remove(k); k.slow != nil {
		k.slow.pending--
		k.slow = nil
	}
}

// isSlow reports whether what a talk awaits is known to take long: it is not even waited for as long as others are. With one tool of 20 that takes
// 200 ms, 170,000 scripts were run in 15 s, and 70,000 to 130,000 without it.
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
	for _, k := range e.in(suspended) {
		if k.server != s || k.obs != nil || k.open > 0 && time.Now().Before(k.due) {
			continue
		}
		if e.unsuspend(k); k.open > 0 {
			k.giveUp()
			e.charge(k, hangPrice)
		} else {
			k.state = talking
			if err := e.goOn(ctx, k); err != nil {
				return err
			}
		}
		switch {
		case k.state == talking:
			e.suspend(k)
		case k.recheck && !k.failed(): // as one of a batch is that is not suspended
			e.postpone(k)
		default:
			s.finishTalk(k)
			e.finish(k)
		}
	}
	return nil
}

// awaitPending waits until something comes while talks are suspended, or the time of one is over. It is called when nothing of a batch was run:
// the next one would be left out as well, and so on without end, on the processor that the server needs.
func (e *executor) awaitPending(ctx context.Context) error {
	pending := e.in(suspended)
	if e.live == nil || len(pending) == 0 {
		return nil
	}
	first := slices.MinFunc(pending, func(a, b *talk) int { return a.due.Compare(b.due) })
	if err := e.receive(ctx, e.live, first.due); err == nil || ctx.Err() != nil {
		return ctx.Err()
	}
	_, err := e.up(ctx) // it has ended, and so have those that wait for it
	return err
}

// forget forgets a server that has ended, and returns the talks that were suspended on it, which are tried again by themselves.
func (e *executor) forget(s *peer) (ended []*talk) {
	if e.live == s {
		e.live = nil
	}
	if past := s.past.Before(s.past.Added()); len(e.target.Args) == 0 && e.target.Last != nil && len(past) > 0 {
		e.target.Last.Keep(past[max(0, len(past)-e.target.window()):], cmp.Or(s.noticed, time.Now())) // as much as may have been in flight
	}
	for _, k := range e.in(suspended) {
		if k.server != s {
			continue
		}
		e.unsuspend(k)
		ended = append(ended, k)
		if k.obs != nil { // its call is not over
			k.state = postponed
		} else {
			e.postpone(k)
		}
	}
	return ended
}

// postpone has a talk run in the background, from its beginning. A mutated script that was suspended is dropped when too many
// wait.
func (e *executor) postpone(k *talk) {
	late := lateness{reported: k.reported, check: k.in.Check != ""}
	runs := k.runs
	if k.server != nil {
		runs += k.t.Executions()
		k.server.finishTalk(k)
		if k.in.Check == "" && len(e.in(postponed)) >= maxLate {
			k.free()
			return
		}
	}
	k.detach()
	k.halt()
	*k = talk{in: k.in, state: postponed, counts: counts{runs: runs}, lateness: late}
	if late.check {
		e.checks.Add(1)
	}
	e.late = append(e.late, k)
}

// Postponed implements [teasel.Postponer].
func (e *executor) Postponed() bool { return e.checks.Load() > 0 }

// finish keeps a talk that is at its end for who asks for late ones.
func (e *executor) finish(k *talk) {
	k.halt()
	e.late = append(e.late, k)
}

// Late implements [teasel.Pipeliner]: it returns a script that was suspended or postponed and has come to its end, and what became of it.
func (e *executor) Late(ctx context.Context, obs *teasel.Observation) (script.Script, bool) {
	if s := e.live; s != nil && ctx.Err() == nil && len(e.in(suspended)) > 0 {
		e.receive(ctx, s, time.Time{})
		err := e.resume(ctx, s)
		if f, _ := e.flush(ctx, s); f != waitDone || err != nil { // half a line may have been sent
			e.discard(s, nil)
		}
	}
	_ = e.advanceBackground(ctx) // the next batch returns its error again
	ended := e.in(over)
	if len(ended) == 0 {
		return script.Script{}, false
	}
	k := ended[0]
	e.remove(k)
	k.obs = obs
	k.conclude()
	if obs.Runs -= min(k.reported, obs.Runs); obs.Runs == 0 && k.reported == 0 {
		obs.Runs = 1
	}
	return *k.in, true
}

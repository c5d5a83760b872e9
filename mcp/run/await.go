package run

import (
	"context"
	"errors"
	"os"
	"time"
)

// maxVain is how many looks at other things than answers say that no answer is among what has come meanwhile.
const maxVain = 16

// await pulls what comes until done, or until it is known that this will not be.
func (e *executor) await(ctx context.Context, r *round, done func() bool) (fate, error) {
	waited := false // and nothing came: that answers are late is the server's doing, not ours
	vain := 0       // looks in a row at which something came, and no answer
	for {
		late := r.late
		n, end := e.pull(r)
		if done() {
			return fateFine, nil
		}
		if end != nil {
			return endFate(end), nil
		}
		if vain++; n == 0 || !r.late.Equal(late) {
			vain = 0
		}
		f, patience := e.judge(r, waited && (n == 0 || vain >= maxVain))
		if f != fateInvalid {
			return f, nil
		}
		patience = r.untilLook(patience)
		if done() {
			return fateFine, nil
		}
		if f, err := e.deliver(ctx, r); f != fateInvalid || err != nil {
			return f, err
		}
		n = r.missing()
		if r.server.Inbox.Expect(n); n > 1 {
			patience = min(patience, graceTime/10)
		}
		waited = true
		switch err := r.server.Wait(ctx, patience); {
		case errors.Is(err, os.ErrProcessDone):
			e.pull(r)
			if done() {
				return fateFine, nil
			}
			return fateEnded, nil
		case err != nil:
			return fateInvalid, err
		}
	}
}

// judge says what it means that the answers have not come yet: how long to wait for them, or that they will not.
func (e *executor) judge(r *round, waited bool) (fate, time.Duration) {
	now := time.Now()
	quiet, limit, grace := now.Sub(r.late), r.limit, r.groups[0].patience()
	if r.broken {
		limit = min(limit, brokenTime)
	}
	if quiet >= graceTime {
		if !waited {
			return fateInvalid, time.Millisecond
		}
		r.spend(now)
	}
	switch {
	case r.mute:
		limit = e.muteTime(r)
		if quiet >= limit {
			if e.starving(r, limit, quiet) {
				return fateInvalid, graceTime
			}
			e.giveUp(r)
		}
		return fateInvalid, max(limit-quiet, time.Millisecond)
	case r.ping != 0 && !r.heard:
		if total := r.server.Inbox.Total.Load(); total != r.bytes && quiet < maxLimits*limit {
			r.bytes, r.asked = total, now // it is in the middle of something long
		}
		quiet = now.Sub(later(r.late, r.asked))
		left := limit - quiet
		if left <= 0 {
			if e.excused(r, quiet) {
				return fateInvalid, graceTime
			}
			return fateDeaf, 0
		}
		return fateInvalid, left
	case !r.canPing() || r.open || r.patient && r.heard || r.heard && !e.canPark():
		if quiet >= limit {
			if e.excused(r, quiet) {
				return fateInvalid, graceTime
			}
			if r.broken {
				return fateDeaf, 0
			}
			e.giveUp(r)
		}
		return fateInvalid, max(limit-quiet, time.Millisecond)
	case !r.heard:
		if quiet >= grace {
			e.appendPing(r)
			return fateInvalid, limit
		}
		return fateInvalid, grace - quiet
	}
	if quiet = now.Sub(later(r.late, r.asked)); quiet < grace {
		return fateInvalid, grace - quiet
	}
	// On a busy machine it may have work to do and no processor to do it on; or it is busy with what it never answers.
	switch {
	case grace < graceTime && quiet < maxGraces*grace && r.server.busy():
		return fateInvalid, grace
	case grace == graceTime && quiet < busyTime && e.mired(r.server) < maxStuck && r.server.busy():
		return fateInvalid, graceTime / 5
	}
	e.park(r)
	return fateInvalid, time.Millisecond
}

// patience is how long nothing has to come before it is asked whether the server is there, and before what is missing is
// no longer waited for.
func (g *group) patience() time.Duration {
	if g.open > 0 && g.open == g.odd {
		return oddGrace
	}
	return graceTime
}

// missing returns how many answers the oldest group waits for.
func (r *round) missing() int {
	if len(r.groups) == 0 || r.alone != nil {
		return 1
	}
	n := r.groups[0].open
	if r.ping != 0 && !r.heard && len(r.groups) == 1 {
		n++
	}
	return n
}

func later(a, b time.Time) time.Time {
	if a.After(b) {
		return a
	}
	return b
}

// giveUp stops waiting for what the oldest group waits for. The scripts concerned do not go on, unless they only tried
// something before the session was initialized.
func (e *executor) giveUp(r *round) {
	g := r.groups[0]
	g.open = 0
	for _, l := range g.lanes {
		if l.parked || l.t.Unanswered() < 0 {
			continue
		}
		l.t.Hung, l.last = true, time.Now()
		l.t.Past.Wait(l.t.Place)
		l.step = len(l.in.Steps)
	}
}

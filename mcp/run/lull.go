package run

import "time"

// A lull is a time in which a server says nothing that somebody waits for. On a busy machine it may have work to do and no
// processor to do it on, which is not its fault.
type lull struct {
	since   time.Time     // the last answer before it
	looked  time.Time     // when the server was last looked at
	spent   time.Duration // of the processor, up to the first look
	used    time.Duration // of the processor, up to the last one
	busy    bool          // then it had work to do
	starved time.Duration // that it had work to do and no processor to do it on
}

// lookShare is the share of a lull after which a server that somebody waits for is looked at again.
const lookShare = 8

// spend notes what a silent server does: at first how much of the processor it has used, and if the time that it takes
// matters, what it does from then on.
func (r *round) spend(now time.Time) {
	u := &r.lull
	if r.limit == 0 || u.since.Equal(r.late) && !r.minds() {
		return
	}
	used := r.server.Proc.CPU()
	if !u.since.Equal(r.late) {
		*u = lull{since: r.late, looked: now, spent: used, used: used}
	}
	if r.minds() {
		u.look(now, used, r.server.busy())
	}
}

// minds reports whether it matters how long an answer takes: a script has the server for itself and is waited for.
func (r *round) minds() bool { return r.alone != nil && r.patient }

// look notes how much of the processor the server has used up to now, and whether it has work to do.
func (u *lull) look(now time.Time, used time.Duration, busy bool) {
	if busy {
		u.starved += max(now.Sub(u.looked)-(used-u.used), 0)
	}
	u.looked, u.used, u.busy = now, used, busy
}

// untilLook is how long it may be until the next look, if there are to be any.
func (r *round) untilLook(patience time.Duration) time.Duration {
	if !r.minds() {
		return patience
	}
	return min(patience, max(time.Since(r.late)/lookShare, graceTime))
}

// starvation returns for how long of the time before the answer that has just come the server had no processor to work on.
func (r *round) starvation(now time.Time) time.Duration {
	if u := &r.lull; u.since.Equal(r.late) && r.minds() {
		u.look(now, r.server.Proc.CPU(), u.busy)
		return u.starved
	}
	return 0
}

// starving reports whether a server is silent because others have the processors: one in the background, or one that has
// only just been started and is loading.
func (e *executor) starving(r *round, limit, quiet time.Duration) bool {
	var most time.Duration
	if e.target.yields > 0 {
		most = starvedFactor * e.target.timeout()
	}
	if r.mute {
		most = max(most, e.target.startTimeout())
	}
	return quiet < most && r.starved(limit)
}

// starved reports whether a silent server has work to do and has not had a processor for as long as it is waited for.
func (r *round) starved(limit time.Duration) bool {
	return r.server.busy() && r.server.Proc.CPU()-r.lull.spent < limit
}

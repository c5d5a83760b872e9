package run

import (
	"time"

	"github.com/teaselfuzz/teasel/mcp/check"
)

// Shares of the time limit after which a server that does nothing counts as deaf or hung when another execution has the
// last word: at first, and once that is known of its kind of script or the execution is one of many. An answer of a
// kind that took long before is waited for so many times as long.
const (
	soonShare     = 5
	quickShare    = 16
	slowestFactor = 4
	starvedFactor = 8 // one in the background that had no processor gets so many times the whole limit
)

// soon is how long a server that was never silent before is given in an execution that will be repeated.
func (e *executor) soon() time.Duration {
	whole := e.target.timeout()
	return min(max(whole/soonShare, 2*graceTime, 2*e.startup), whole)
}

// limit is how long the answers of a script, or of several, are waited for before the server is looked at: all the time
// there is if this execution has the last word, less when it has not. Scripts that measure time or ask for much need
// their time.
func (e *executor) limit(l *lane) time.Duration {
	quick := max(e.target.timeout()/quickShare, 2*graceTime)
	if l == nil {
		return quick
	}
	switch demanding := check.MeasuresTime(l.in.Check) || l.in.Check == check.GrowthMemory || l.in.Check == check.Large; {
	case demanding && l.obs.Ask.Quick:
		return e.soon()
	case demanding || e.whole:
		return e.target.timeout()
	}
	return quick
}

// excused reports whether a server which has been silent for its limit gets more time: it was slower than that before
// and answered all the same, it was never silent before, or it has work to do and had no processor to do it on. What it
// is excused for ends with the whole time limit, but for one in the background.
func (e *executor) excused(r *round, quiet time.Duration) bool {
	whole := e.target.timeout()
	if r.limit >= whole || quiet >= whole {
		return e.starving(r, r.limit, quiet)
	}
	slowest, silent := e.precedent(r)
	once := silent == 0 && (r.alone == nil || !r.alone.obs.Ask.Quick)
	if quiet < slowestFactor*slowest || once && quiet < e.soon() {
		return true
	}
	return r.starved(r.limit)
}

// writeLimit is how long the server may take to read what we write.
func (e *executor) writeLimit(r *round) time.Duration {
	whole, limit, slowest := e.target.timeout(), e.soon(), e.slowest
	if r.alone != nil {
		var silent int
		if slowest, silent = e.precedent(r); silent > 0 || r.alone.obs.Ask.Quick {
			limit = r.limit
		}
	}
	return min(whole, max(r.limit, limit, slowestFactor*slowest))
}

// precedent returns the longest that an answer took which came to a script of the kinds that are waited for, and how
// often one of the kind that is waited for first got none.
func (e *executor) precedent(r *round) (slowest time.Duration, silent int) {
	first := true
	see := func(l *lane, step int) {
		k := e.record(l.plan[step].kind(e))
		slowest = max(slowest, k.slowest)
		if first {
			first, silent = false, k.silent
		}
	}
	for _, g := range r.groups {
		for _, l := range g.lanes {
			if i := l.t.Unanswered(); i >= 0 {
				see(l, l.t.Sent[i].Step)
			}
		}
	}
	if l := r.alone; first && l != nil { // the ping that follows is waited for
		for i := len(l.plan) - 1; i >= 0; i-- {
			see(l, i)
		}
	}
	return slowest, silent
}

// kind is the topic of a line as far as time goes: of large ones it matters to whom they go.
func (p *planned) kind(e *executor) topic {
	if p.topic.method != topicLarge {
		return p.topic
	}
	t := e.topic(&p.message, p.regular)
	return topic{method: topicLarge, name: t.method + " " + t.name}
}

// pace notes how long the answers to a script took that had the server for itself, or had been set aside, and whether
// it got none although it was waited for.
func (e *executor) pace(l *lane) {
	for i := range l.t.Sent {
		s := &l.t.Sent[i]
		if s.Answer < 0 || s.Answer >= len(l.t.Received) {
			continue
		}
		if took := l.t.Received[s.Answer].At - s.At; took > graceTime {
			k := e.record(l.plan[s.Step].kind(e))
			k.slowest = max(k.slowest, took)
			e.slowest = max(e.slowest, took)
		}
	}
	if e.whole && (l.t.Hung || l.t.Deaf) && len(l.plan) > 0 {
		e.record(l.plan[l.guilty()].kind(e)).silent++
	}
}

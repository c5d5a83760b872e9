package run

import (
	"cmp"
	"context"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// takeApart deals with the end of a server that had several scripts in flight, and returns the scripts that are still
// to be run. Most servers work in order, so that the first unanswered script is the first suspect; one that died may
// have done so some time after an answer. When none of the suspects kills a server by itself, all are run again in turn,
// and when that does not tell, what was not answered is lost. Stranded ones are scripts of earlier calls, and tried first.
func (e *executor) takeApart(ctx context.Context, r *round, f fate, stranded, lanes []*lane) ([]*lane, error) {
	end := e.bury(ctx, f, r.server)
	parked := e.lose(r.server)
	if guilty, err := e.rescue(ctx, stranded); guilty || err != nil {
		return e.afresh(lanes), err
	}
	sent := begun(lanes)
	lost, broken, rest, heard := sortOut(lanes)
	if len(lost) == 1 && len(broken)+len(heard)+len(stranded) == 0 {
		lost[0].t.End = end
		lost[0].cutOff(f)
		e.count(lost[0])
		return rest, nil
	}
	// Those that were only waiting for their turn begin once more.
	for _, l := range broken {
		l.again(e)
	}
	rest = append(broken, rest...)
	var suspects []*lane
	if len(lost) > 0 {
		suspects = append(suspects, lost[0])
	}
	if f != fateDeaf {
		suspects = append(suspects, e.late(heard, f)...)
	}
	tried, found, err := e.accuse(ctx, suspects, f)
	if err != nil {
		return nil, err
	}
	rest = without(rest, suspects[:tried])
	if found {
		others := without(slices.Clone(lost), suspects[tried-1:tried])
		for _, o := range others {
			o.again(e)
		}
		return append(others, rest...), nil
	}
	if f != fateFlood {
		suspects = sent
		if f == fateDeaf { // of something that it has not answered
			suspects = slices.Clone(lost)
		}
		left, found, last, err := e.inTurn(ctx, suspects)
		if err != nil {
			return nil, err
		}
		if rest = slices.Concat(left, without(rest, suspects)); found {
			return rest, nil
		}
		lost, heard = e.riddle(f, last, lost, heard)
	}
	for _, l := range lost {
		l.lost = true
	}
	e.blame(parked, end)
	if len(lost) == 0 && len(heard) > 0 { // all was answered, and still it is dead
		heard[0].lost = true
	}
	return rest, nil
}

// afresh returns the scripts that are still to be run when it is known what their server has died of.
func (e *executor) afresh(lanes []*lane) []*lane {
	lost, broken, rest, _ := sortOut(lanes)
	again := append(lost, broken...)
	for _, l := range again {
		l.again(e)
	}
	return append(again, rest...)
}

func without(lanes, some []*lane) []*lane {
	return slices.DeleteFunc(lanes, func(l *lane) bool { return slices.Contains(some, l) })
}

// accuse runs suspects, each with all the time there is, until the server is the worse for one. It reports whether it
// was, and how many were tried.
func (e *executor) accuse(ctx context.Context, suspects []*lane, f fate) (tried int, found bool, err error) {
	for i, l := range suspects {
		l.again(e)
		if f == fateEnded { // perhaps some time after its last answer
			e.lingers = max(e.lingers, 1)
		}
		if err := e.solo(ctx, l, true); err != nil || l.bad() {
			return i + 1, err == nil, err
		}
	}
	return len(suspects), false, nil
}

// knownSuspects is how many scripts are tried about what servers have died of some time after the last answer. All that is
// tried runs on the same server, and what dies after so many requests would look guilty.
const knownSuspects = 4

// late returns those of the scripts that the server is likeliest to have died of after their last answer: those about what
// it has died of so before. Of a server that did not die itself it is the last one.
func (e *executor) late(heard []*lane, f fate) []*lane {
	if f != fateEnded {
		return heard[:min(len(heard), 1)]
	}
	var known []*lane
	for _, l := range heard {
		if e.dying(l) > 0 {
			known = append(known, l)
		}
	}
	return known[:min(len(known), knownSuspects)]
}

// sortOut tells scripts apart after their server has ended: those with requests in flight, the one whose request the
// server must have seen first to begin with; those that are not at their end but had nothing in flight; those that
// have not begun; and those that nothing more was owed to, the one that was answered last to begin with, whatever else
// holds for it.
func sortOut(lanes []*lane) (lost, broken, rest, heard []*lane) {
	last := overtaken(lanes)
	for _, l := range lanes {
		switch {
		case l.skip || l.prepared && l.alone:
			continue
		case len(l.t.Sent) == 0:
			rest = append(rest, l)
			continue
		case l.inFlight(last) > 0:
			lost = append(lost, l)
			continue
		case !l.done():
			broken = append(broken, l)
		}
		heard = append(heard, l)
	}
	slices.Reverse(heard) // of those at the same moment, the one that was sent last
	slices.SortStableFunc(heard, func(a, b *lane) int { return b.last.Compare(a.last) })
	slices.SortStableFunc(lost, func(a, b *lane) int { return cmp.Compare(a.inFlight(last), b.inFlight(last)) })
	return lost, broken, rest, heard
}

// bury ends what is left of a server after a round that has gone wrong.
func (e *executor) bury(ctx context.Context, f fate, s *server) script.End {
	if f == fateEnded {
		return s.Reap(ctx)
	}
	return s.Kill()
}

// cutOff notes whether the script's server said nothing any more, or did not stop: then it took as long as was listened to.
func (l *lane) cutOff(f fate) {
	if l.t.Deaf, l.t.Flood = f == fateDeaf, f == fateFlood; l.t.Deaf || l.t.Flood {
		l.last = time.Now()
	}
}

// bad reports whether the server was the worse for the script.
func (l *lane) bad() bool {
	return l.t.End.Kind != script.EndInvalid && !l.t.End.EOF || l.t.Hung || l.t.Deaf || l.t.Flood
}

// lose forgets a server that has ended, and returns the scripts that were parked on it.
func (e *executor) lose(s *server) []*lane {
	if e.live == s {
		e.live = nil
	}
	return e.abandon(s)
}

// drop ends a server that is no longer wanted.
func (e *executor) drop(s *server) error {
	e.lose(s)
	e.end(s)
	return nil
}

// end ends a server that is no longer wanted. One that does not die in time must not end the campaign: another one takes its
// place, and whether it has died by then is looked at when the executor is closed.
func (e *executor) end(s *server) {
	if s.Close() != nil {
		e.unkilled = append(e.unkilled, s)
	}
}

// discard ends a server in the middle of a conversation that an error of ours has broken off: what would come next
// belongs to nobody.
func (e *executor) discard(s *server, err error) error {
	s.Kill()
	e.lose(s)
	return err
}

// The deaths between calls that are looked into, and how many scripts are tried for each.
const (
	idleDeaths   = 3
	idleSuspects = 16
	lingerCalls  = 4 // executions that are watched for longer after one in the middle of a call: each takes its time
)

// diedIdle looks for the script that a server died of after it had answered it and everything else: the last ones are
// run again, each on its own, and watched for longer.
func (e *executor) diedIdle(ctx context.Context) error {
	s := e.live
	end := s.Reap(ctx)
	parked := e.lose(s)
	if e.idle++; e.idle > idleDeaths || s.past.Added == 0 {
		e.blame(parked, end)
		return nil
	}
	e.lingers = idleSuspects
	defer func() { e.lingers = 0 }()
	past := s.past.Scripts(0)
	for i := range min(len(past), idleSuspects) {
		l := newLane(e, &past[len(past)-1-i])
		if l.skip || l.in.Start == script.Fresh {
			continue
		}
		if err := e.solo(ctx, l, true); err != nil {
			return err
		}
		if l.t.End.Kind != script.EndInvalid {
			l.own()
			e.back = append(e.back, l)
			return nil
		}
	}
	e.blame(parked, end)
	return nil
}

// A record is what was seen of one topic.
type record struct {
	ran, asked int
	deaths     int           // those forgiven left out
	clean      int           // scripts since the last death
	slow, hung int           // requests that were parked; that were never answered
	slowest    time.Duration // that an answer took which came
	heard      time.Time     // when a script of a batch last got all its answers; zero: none has
	dying      time.Duration // the longest that a server took to die after its last answer
	silent     int           // times that all the time there is was waited for one in vain
	parked     int           // now
	orphans    int           // times one was tried again that had lost its server
	blamed     int           // times a parked one was made answerable for a death
}

const (
	deathsFew   = 3 // then only one script in sixteen is run
	deathsMany  = 8 // then one in sixty-four
	forgiveness = 256
	freshFirst  = 32      // mutated scripts that may have a process of their own at once
	freshEvery  = 4096    // executions that earn another one
	bulkFirst   = 4 << 20 // bytes of long lines that mutated scripts may say at once
	bulkEach    = 16      // and what each execution earns: a server reads a long line in the time of thousands of others
)

func (e *executor) record(t topic) *record {
	r := e.records[t]
	if r == nil {
		r = new(record)
		e.records[t] = r
	}
	return r
}

// mayRun reports whether a script of a batch is run at all. What kills the server again and again, or is not answered
// again and again, is run now and then only: it would leave no time for anything else. It goes by counts, so that it
// is the same each time.
func (e *executor) mayRun(l *lane) bool {
	if l.in.Check != "" && l.in.Check != check.Large { // a server that dies of what is large does so in every tool
		return true
	}
	if l.in.Start == script.Fresh {
		if e.fresh >= freshFirst+e.runs/freshEvery {
			return false
		}
		e.fresh++
	}
	if e.sated(l) {
		return false
	}
	if l.in.Check == "" {
		e.bulk += bulkOf(l.in)
	}
	for i := range l.plan {
		r := e.record(l.plan[i].topic)
		if r.asked++; r.asked%r.every() != 0 || r.full() {
			return false
		}
		r.ran++
	}
	return true
}

// sated reports whether mutated scripts have said so much in long lines that this one, which says more, is not run.
func (e *executor) sated(l *lane) bool {
	return e.bulk >= bulkFirst+e.runs*bulkEach && l.in.Check == "" && bulkOf(l.in) > 0
}

// bulkOf returns how many bytes the script says in long lines.
func bulkOf(s *script.Script) (n uint64) {
	for i := range s.Steps {
		if at := &s.Steps[i]; len(at.Line) > maxSharedLine {
			n += uint64(len(at.Line) * max(at.Times, 1))
		}
	}
	return n
}

// every says of how many scripts one is run.
func (r *record) every() int {
	stubborn := r.hung >= 4 && r.hung*8 > r.ran
	switch {
	case r.deaths >= deathsMany || stubborn:
		return 64
	case r.deaths >= deathsFew:
		return 16
	}
	return 1
}

// full reports whether enough scripts of the topic are parked: few when it is slow as a rule.
func (r *record) full() bool {
	return r.parked >= 16 || r.parked >= 4 && r.slow*4 > r.ran
}

// count notes how a script of a batch went for its topics. What is shown again and made simpler dies time after time, and
// that says nothing about what else there is to run.
func (e *executor) count(l *lane) {
	if l.counted {
		return
	}
	l.counted = true
	e.runs += uint64(max(l.runs(), 1))
	if e.deliberate {
		return
	}
	died := l.t.End.Kind != script.EndInvalid && !l.t.End.EOF || l.t.Deaf
	answered := !l.bad() && !l.parked && l.t.Unanswered() < 0
	for i := range l.plan {
		r := e.record(l.plan[i].topic)
		if answered {
			r.heard = l.last
		}
		switch {
		case died && i == l.guilty():
			r.deaths++
			r.clean = 0
		case r.deaths > 0:
			if r.clean++; r.clean >= forgiveness {
				r.clean = 0
				r.deaths--
			}
		}
	}
}

// guilty returns the step that a death is put down to: the first unanswered or else the last that was sent.
func (l *lane) guilty() int {
	if i := l.t.Unanswered(); i >= 0 {
		return l.t.Sent[i].Step
	}
	if n := len(l.t.Sent); n > 0 {
		return l.t.Sent[n-1].Step
	}
	return 0
}

// retire forgets the ids of a script that is at its end.
func (e *executor) retire(s *server, l *lane) {
	if l.parked {
		return
	}
	for _, id := range l.given {
		delete(s.flights, id)
	}
}

// holder returns the lane that was given an id of the server.
func (e *executor) holder(s *server, id int64) *lane {
	for _, lanes := range [][]*lane{e.lanes[:e.active], e.waiting, e.dangling} {
		for _, l := range lanes {
			if l.home != nil && l.home != s {
				continue
			}
			if n := len(l.given); n > 0 && l.given[0] <= id && id <= l.given[n-1] && slices.Contains(l.given, id) {
				return l
			}
		}
	}
	return nil
}

package run

import (
	"bytes"
	"context"
	"maps"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// maxParked is how many scripts may wait for slow answers.
const maxParked = 64

// canPark reports whether there is room for another group.
func (e *executor) canPark() bool { return len(e.waiting) < maxParked }

// park sets aside those scripts of the oldest group whose answers do not come, so that the rest can go on.
func (e *executor) park(r *round) {
	g := r.groups[0]
	g.open = 0
	for _, l := range g.lanes {
		i := l.t.Unanswered()
		if i < 0 || l.parked {
			continue
		}
		l.parked = true
		l.home = r.server
		l.t.Past.Wait(l.t.Place)
		l.topic = e.record(l.plan[l.t.Sent[i].Step].topic)
		l.topic.slow++
		l.topic.parked++
		e.waiting = append(e.waiting, l)
	}
}

// returned is called when an answer to a parked script has come.
func (e *executor) returned(l *lane) {
	if l.owed > 0 {
		return
	}
	e.pace(l)
	e.unpark(l)
	if l.done() {
		e.handBack(l)
		return
	}
	l.resumes = true
	e.resumed = append(e.resumed, l)
}

// unpark takes a script off the list of those that wait.
func (e *executor) unpark(l *lane) {
	i := slices.Index(e.waiting, l)
	if i < 0 {
		return
	}
	e.waiting = slices.Delete(e.waiting, i, i+1)
	l.parked = false
	l.topic.parked--
}

// handBack keeps a script that was parked, and has come to its end, for whoever asks for it.
func (e *executor) handBack(l *lane) {
	if l.parked || l.obs != nil || slices.Contains(e.back, l) {
		return
	}
	l.resumes = false
	e.retire(l.home, l)
	e.back = append(e.back, l)
}

// receiveBack is for scripts that have gone on in a round after they were parked: those at their end are handed back, unless
// they were parked once more. It returns those whose last words the server has left unanswered when it ended: it may be
// their doing. One that was only waiting for its turn then begins once more another time.
func (e *executor) receiveBack(f fate, lanes []*lane) (stranded []*lane) {
	for _, l := range lanes {
		switch {
		case l.parked || l.resumes:
		case f != fateFine && (l.t.Unanswered() >= 0 || l.t.Sent[len(l.t.Sent)-1].Answer < 0):
			stranded = append(stranded, l)
		case f != fateFine && !l.done():
			e.orphan(l)
		default:
			e.handBack(l)
		}
	}
	return stranded
}

// rescue runs scripts by themselves that were in flight when their server ended, and hands them back. It reports whether a
// server was the worse for one again.
func (e *executor) rescue(ctx context.Context, stranded []*lane) (guilty bool, err error) {
	for _, l := range stranded {
		if err := e.rerun(ctx, l, true); err != nil {
			return false, err
		}
		guilty = guilty || l.bad()
	}
	return guilty, nil
}

// own makes a parked lane live on without the memory of the call that it came from.
func (l *lane) own() {
	script := script.Unpack(script.AppendPacked(nil, l.in))
	l.in, l.t.Script = &script, &script
	for i := range l.t.Sent {
		l.t.Sent[i].Raw = bytes.Clone(l.t.Sent[i].Raw)
	}
	l.obs = nil
}

// expire gives up those parked scripts whose time is over.
func (e *executor) expire() {
	now := time.Now()
	for _, l := range slices.Clone(e.waiting) {
		if now.Sub(l.last) < e.target.timeout() || l.obs != nil {
			continue
		}
		e.unpark(l)
		l.t.Hung = true
		l.topic.hung++
		if l.home.stuck == nil {
			l.home.stuck = make(map[*record]int)
		}
		l.home.stuck[l.topic]++
		e.handBack(l)
	}
}

// How many topics a server may leave unanswered before it is replaced: something has locked more than itself, and nothing
// would be learned of the rest. Each time it takes twice as many, for a server may well have so many tools that are slow.
// One that waits for its answer for so long counts half.
const (
	maxStuck  = 3
	stuckTime = time.Second
)

// mired returns twice how many topics a server seems to be stuck in.
func (e *executor) mired(s *server) int {
	waits := make(map[*record]bool)
	for _, l := range e.waiting {
		if _, gone := s.stuck[l.topic]; l.home == s && !gone && time.Since(l.last) >= stuckTime {
			waits[l.topic] = true
		}
	}
	return 2*len(s.stuck) + len(waits)
}

// locked returns one of the scripts that wait on a server if several topics do which were answered before, all longer than
// that ever took, and nothing was answered of them since: what one request has locked stays locked for them, and the next
// server will be locked by the like of it. All of them show the same, so it is that of the first topic by name. nil: the
// server is not locked.
func (e *executor) locked(s *server) *lane {
	lanes := make(map[string]*lane)
	for _, l := range e.waiting {
		r, i := l.topic, l.t.Unanswered()
		if l.home != s || l.obs != nil || i < 0 || r.heard.IsZero() || !r.heard.Before(l.last) || time.Since(l.last) < max(stuckTime, slowestFactor*r.slowest) {
			continue
		}
		t := l.plan[l.t.Sent[i].Step].topic
		if name := t.method + " " + t.name; lanes[name] == nil {
			lanes[name] = l
		}
	}
	if len(lanes) < maxStuck {
		return nil
	}
	return lanes[slices.Min(slices.Collect(maps.Keys(lanes)))]
}

// unstick replaces a server that answers less and less. What has hung is not held against the topics: it was the server.
func (e *executor) unstick() error {
	s := e.live
	if s == nil || len(e.waiting)+len(s.stuck) < maxStuck {
		return nil
	}
	if l := e.locked(s); l != nil {
		e.unpark(l)
		l.t.Hung = true
		e.handBack(l)
	} else if e.mired(s) >= 2*maxStuck<<e.unstuck {
		e.unstuck++
	} else {
		return nil
	}
	for topic, n := range s.stuck {
		topic.hung -= n
	}
	orphans := len(e.orphans)
	e.lose(s)
	e.orphans = e.orphans[:orphans] // each of them would be tried again, alone and with all the time there is
	e.end(s)
	return nil
}

// maxBlame is how often the parked scripts of one topic are made answerable for the death of a server.
const maxBlame = 2

// How often parked scripts of one topic that have lost their server are tried once more, and when at the latest.
const (
	maxOrphans = 2
	orphanTime = 2 * spareTime
)

// abandon gives up all scripts that are parked on a server which has ended, and returns them. As it has not come out
// whether they would have been answered, some are tried again.
func (e *executor) abandon(s *server) (parked []*lane) {
	for _, l := range slices.Clone(e.waiting) {
		if l.home != s {
			continue
		}
		e.unpark(l)
		parked = append(parked, l)
		e.orphan(l)
	}
	e.resumed = slices.DeleteFunc(e.resumed, func(l *lane) bool {
		if l.home != s {
			return false
		}
		l.resumes = false
		e.orphan(l)
		return true
	})
	return parked
}

// orphan keeps a script that has lost its server to be tried again, if not too many about the same were.
func (e *executor) orphan(l *lane) {
	if l.obs == nil && l.topic.orphans < maxOrphans {
		l.topic.orphans++
		e.orphans = append(e.orphans, l)
	}
}

// adopt tries a script again that has lost its server. While servers come and go, as when findings are confirmed, it
// would only lose the next one; where they do so all the time, it has one for itself in the end.
func (e *executor) adopt(ctx context.Context) error {
	if len(e.orphans) == 0 {
		return nil
	}
	l := e.orphans[0]
	restless := time.Since(e.taken) < spareTime
	if restless && time.Since(l.last) < orphanTime {
		return nil
	}
	e.orphans = slices.Delete(e.orphans, 0, 1)
	return e.rerun(ctx, l, restless)
}

// blame is for scripts that were parked on a server which has died of nobody knows what. Any of them may have killed it:
// the first times they are handed out as if they had, and trying them again will tell.
func (e *executor) blame(parked []*lane, end script.End) {
	if end.Kind != script.EndExited && end.Kind != script.EndSignalled {
		return
	}
	for _, l := range parked {
		if l.obs == nil && l.topic.blamed < maxBlame {
			l.topic.blamed++
			l.t.End = end
			e.orphans = slices.DeleteFunc(e.orphans, func(o *lane) bool { return o == l })
			e.back = append(e.back, l)
		}
	}
}

// Late returns a script that was parked and has come to its end, and what became of it.
func (e *executor) Late(obs *teasel.Observation) (script.Script, bool) {
	if e.live != nil && len(e.waiting) > 0 {
		e.pull(&round{server: e.live})
	}
	e.expire()
	if len(e.back) == 0 {
		return script.Script{}, false
	}
	l := e.back[0]
	e.back = append(e.back[:0], e.back[1:]...)
	l.obs = obs
	l.conclude(e)
	if obs.Runs -= min(l.told, obs.Runs); obs.Runs == 0 && l.told == 0 {
		obs.Runs = 1
	}
	return *l.in, true
}

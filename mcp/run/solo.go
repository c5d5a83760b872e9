package run

import (
	"context"
	"time"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
)

const (
	oddGrace     = 3 * time.Millisecond   // for an answer to an odd line after the ping behind it was answered
	patientGrace = 50 * time.Millisecond  // the same when there is time
	maxGraces    = 4                      // for a server that has work to do: it may have no processor to do it on
	quickGrace   = 12 * time.Millisecond  // the same when another execution has the last word
	muteGrace    = 300 * time.Millisecond // for an answer on a session that is not initialized
	lingerTime   = 250 * time.Millisecond // for a server to die after its last answer
	silenceKnown = 8                      // times in a row that odd lines of a sort got no answer
	silenceEvery = 64                     // then one in so many still gets the time for it
)

// solo runs a script that has the server for itself. A patient one is waited for, another may be parked.
func (e *executor) solo(ctx context.Context, l *lane, patient bool) error {
	var s *server
	var err error
	if l.in.Start == script.Fresh {
		s, err = e.takeSpare()
	} else {
		s, err = e.up(ctx)
	}
	if err != nil {
		return err
	}
	alone := l.in.Start == script.Fresh
	r := &round{server: s, todo: []*lane{l}, alone: l, patient: patient || alone, mute: alone, size: 1,
		limit: e.limit(l)}
	_, s.stderr = s.Proc.Stderr(s.Proc.Written())
	f, err := e.run(ctx, r)
	if f == fateEnded && l.t.Unanswered() < 0 && (r.ping == 0 || r.heard) { // it had nothing to do
		e.diedLate(l, time.Since(l.last))
	}
	if f == fateFine && err == nil {
		e.measure(r, l)
		f, err = e.after(ctx, r)
	}
	if err != nil {
		return e.discard(s, err)
	}
	l.cutOff(f)
	switch f {
	case fateDeaf:
		e.explain(l, s)
		l.t.End = s.Kill()
	case fateFlood:
		l.t.End = s.Kill()
	case fateEnded:
		l.t.End = s.Reap(ctx)
	default:
		if l.t.Hung {
			e.explain(l, s)
		}
	}
	e.pace(l)
	if f == fateFine && !alone {
		e.observe(l)
	}
	l.collectStderr(s)
	l.home = s
	if l.dangling = !patient && f == fateFine && l.in.Check != "" && s == e.live && l.dangles(); !l.dangling {
		e.retire(s, l)
	}
	if l.bad() {
		e.count(l)
	}
	if alone {
		s.Close()
		return e.warmUp()
	}
	if f != fateFine {
		e.lose(s)
	}
	return nil
}

// collectStderr gives the script what the server wrote to standard error meanwhile, of which only the end is kept.
func (l *lane) collectStderr(s *server) {
	began := s.stderr
	l.t.Stderr, s.stderr = s.Proc.Stderr(began)
	if missing := int(s.stderr-began) - len(l.t.Stderr); missing > 0 {
		for i := range l.t.Sent {
			l.t.Sent[i].Logged = max(0, l.t.Sent[i].Logged-missing)
		}
	}
}

// after waits for what may still happen when all was said.
func (e *executor) after(ctx context.Context, r *round) (fate, error) {
	s := r.server
	switch {
	case s.EOF && r.alone.obs.Ask.Quick:
		return e.watchEnd(ctx, r, r.limit)
	case s.EOF: // it may still be loading
		return e.watchEnd(ctx, r, max(r.limit, e.soon()))
	case r.patient && r.alone.dangles():
		return e.watch(ctx, r, e.dangleLimit(r.alone), r.alone.cleared)
	case r.patient && r.alone.in.Start == script.Shared && e.mayOutlast(r.alone):
		return e.outlast(ctx, r)
	case r.patient && r.alone.in.Start == script.Shared && r.alone.unheard():
		return e.watch(ctx, r, lingerTime, func() bool { return !r.alone.unheard() })
	case r.patient && !r.alone.obs.Ask.Quick && e.saysPanic(s): // it may be about to die, and no survivor
		return e.outlast(ctx, r)
	}
	return fateFine, nil
}

// unheard reports whether a request with an id of the script's own has no answer. Nobody has waited for one, and a server that
// serves each request by itself may answer the ping that closes the script first.
func (l *lane) unheard() bool {
	for i := range l.t.Sent {
		if s := &l.t.Sent[i]; s.Answer < 0 && !s.Regular && !s.Withdrawn && s.Message.Class == jsonrpc.ClassRequest {
			return true
		}
	}
	return false
}

// watchEnd waits for a server whose input has ended to exit. One that has work to do, and perhaps no processor to do it on, gets
// the limit a few times.
func (e *executor) watchEnd(ctx context.Context, r *round, limit time.Duration) (f fate, err error) {
	for range maxLimits {
		if f, err = e.watch(ctx, r, limit, never); f != fateFine || err != nil || !r.server.busy() {
			break
		}
	}
	return f, err
}

// mayOutlast reports whether the server may still die of a script that it has answered: a server has just died so and the
// culprit is being looked for, or it has died of the same topic before.
func (e *executor) mayOutlast(l *lane) bool {
	if e.lingers > 0 {
		e.lingers--
		return true
	}
	return e.dying(l) > 0
}

// dying returns the longest that a server took to die after its last answer to a script about the same.
func (e *executor) dying(l *lane) (longest time.Duration) {
	for i := range l.plan {
		longest = max(longest, e.record(l.plan[i].topic).dying)
	}
	return longest
}

// outlast watches whether the server dies after its last answer: for as long as that may take, and once one has died so,
// for a few times as long as it took.
func (e *executor) outlast(ctx context.Context, r *round) (fate, error) {
	limit, began := lingerTime, time.Now()
	if dying := e.dying(r.alone); dying > 0 && r.alone.obs.Ask.Quick {
		limit = min(max(4*dying, lingerTime/8), lingerTime)
	}
	f, err := e.watch(ctx, r, limit, never)
	if f == fateEnded {
		e.diedLate(r.alone, time.Since(began))
	}
	return f, err
}

// diedLate notes that a server has died some time after the last answer that was due, which may be the doing of all that
// was answered, or never is.
func (e *executor) diedLate(l *lane, after time.Duration) {
	if after > lingerTime {
		return
	}
	for i := range l.t.Sent {
		if s := &l.t.Sent[i]; s.Answer >= 0 || s.Message.Class == jsonrpc.ClassNotification {
			k := e.record(l.plan[s.Step].topic)
			k.dying = max(k.dying, after)
		}
	}
}

// saysPanic reports whether what the server has just written to standard error is how some programs die.
func (e *executor) saysPanic(s *server) bool {
	text, _ := s.Proc.Stderr(s.stderr)
	return observe.FindFault(text).Kind == observe.FaultPanic
}

func never() bool { return false }

// watch pulls what comes until done, or until the time is up.
func (e *executor) watch(ctx context.Context, r *round, d time.Duration, done func() bool) (fate, error) {
	deadline := time.Now().Add(d)
	for {
		if _, end := e.pull(r); end != nil {
			return endFate(end), nil
		}
		left := time.Until(deadline)
		if left <= 0 || done() {
			return fateFine, nil
		}
		if f, err := e.deliver(ctx, r); f != fateInvalid || err != nil {
			return f, err
		}
		r.server.Inbox.Expect(1)
		if err := r.server.Wait(ctx, left); err != nil {
			if ctx.Err() != nil {
				return fateInvalid, err
			}
			e.pull(r)
			return fateEnded, nil
		}
	}
}

// linger gives the server a little time for an answer to an odd line, which may come after the ping's. Lines of a sort that
// never gets one are given that time now and then only.
func (e *executor) linger(ctx context.Context, r *round) (fate, error) {
	l := r.alone
	i := l.expects()
	if i < 0 || r.server.EOF || r.open && !l.done() {
		return fateFine, nil
	}
	sort := e.sort(&l.plan[l.t.Sent[i].Step])
	sort.method = "" // what is silent is so whatever it asks for, mostly, and to learn it takes time
	grace := oddGrace
	switch {
	case r.mute:
		grace = e.muteTime(r)
	case r.patient && l.done():
		grace = patientGrace
		if l.obs.Ask.Quick {
			grace = quickGrace
		}
	case e.silences[sort] >= silenceKnown:
		if e.silences[sort]++; e.silences[sort]%silenceEvery != 0 {
			return fateFine, nil
		}
	}
	heard := func() bool { return l.expects() < 0 }
	var f fate
	var err error
	for range maxGraces {
		f, err = e.watch(ctx, r, grace, heard)
		if f != fateFine || err != nil || heard() || !r.server.busy() {
			break
		}
	}
	switch {
	case heard():
		e.silences[sort] = 0
	case !l.t.Sent[i].Withdrawn:
		e.silences[sort]++
	}
	return f, err
}

// muteTime is how long to wait for an answer on a session that is not initialized: a process that has only just been
// started may still be loading.
func (e *executor) muteTime(r *round) time.Duration {
	if l := r.alone; l.t.Unanswered() >= 0 {
		if l.t.Sent[l.t.Unanswered()].Message.Method == "initialize" {
			return max(r.limit, min(4*e.startup, e.target.startTimeout()))
		}
	}
	if r.server.Inbox.Total.Load() > 0 { // it is up
		return muteGrace
	}
	return max(muteGrace, 4*e.startup-time.Since(r.server.born))
}

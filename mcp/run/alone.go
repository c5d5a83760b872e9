package run

import (
	"context"
	"time"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// runAlone runs a talk that has the server for itself, and says what became of it. A patient one is waited for; another may be
// suspended until its answer comes.
func (e *executor) runAlone(ctx context.Context, k *talk, patient bool) error {
	var s *peer
	var err error
	own := k.in.Start == script.Fresh
	if own {
		s, err = e.take(ctx)
	} else {
		s, err = e.up(ctx)
	}
	if err != nil {
		return err
	}
	s.alone, s.unrequested = k, 0
	_, s.stderr = s.Stderr(s.Written())
	k.alone = true
	before := s.lines()
	k.begin(s)
	f, err := e.converse(ctx, s, k, patient || own)
	s.alone = nil
	if err == nil {
		err = e.lives(ctx, s, f, []*talk{k})
	}
	if err != nil {
		return e.discard(s, err)
	}
	if f == waitEnded || f == waitRefuses {
		k.retract()
	}
	k.noteEnd(f)
	k.explain()
	if f != waitIdle {
		k.t.End = s.End(f == waitEnded)
	}
	k.collectStderr()
	if !e.wearing { // what is sent so often says nothing of its topic
		if e.learn(k); k.state != suspended {
			e.noteSlow(k)
		}
	}
	if k.state != suspended {
		k.terminate()
		k.state = over
		s.finishTalk(k)
	}
	switch {
	case own:
		err = s.Close()
	case f != waitIdle:
		e.forget(s)
	case check.Collected(k.t.Growth) && len(e.target.Args) > 0: // what is measured next would begin with that
		err = e.discard(s, nil)
	}
	if err != nil {
		return err
	}
	return e.blame(ctx, s, k, before, patient)
}

// blame charges a talk that was alone on a server with what has become of that. It is not to blame for a server that ends after so many lines,
// whatever they are: if that was sent some before, the talk runs again on the next one.
func (e *executor) blame(ctx context.Context, s *peer, k *talk, before int, patient bool) error {
	switch worn, err := e.wears(ctx, &k.t, s.lines()); {
	case err != nil:
		return err
	case worn > 0 && before > 0: // on a server of its own it shows whether it is to blame
		k.again()
		return e.runAlone(ctx, k, patient)
	case worn > 0:
		k.t.Worn = worn
	case k.failed() && !e.wearing: // what is sent so often says nothing of its topic
		e.charge(k, deathPrice)
	}
	return nil
}

// converse lets the talk go on whenever the server has answered or rests, to its end, and then waits until nothing more comes of
// it. waitIdle says that nothing went wrong.
func (e *executor) converse(ctx context.Context, s *peer, k *talk, patient bool) (waitEnd, error) {
	due := e.due(k, patient)
	for k.state == talking {
		if f, err := e.measure(ctx, k); f != waitDone || err != nil {
			return f, err
		}
		if err := e.goOn(ctx, k); err != nil {
			return waitInvalid, err
		}
		if k.state != talking {
			break
		}
		f, err := e.flush(ctx, s)
		switch {
		case f != waitDone || err != nil:
		case e.maySuspend(k, patient) && e.isSlow(k):
			f = waitIdle
		default:
			f, err = e.listen(ctx, s, k, patient, due)
			if f == waitIdle && err == nil {
				if f, err = e.checkAlive(ctx, s); f == waitDone {
					f = waitIdle
				}
			}
		}
		if f == waitIdle && k.open > 0 { // it was waited for in vain
			if patient || e.target.Exact || k.t.Unanswered() < 0 { // else no answer is due, and none need ever come
				k.giveUp()
			} else {
				e.suspend(k)
			}
		}
		if f != waitIdle || err != nil || k.state != talking {
			return f, err
		}
	}
	if f, err := e.measure(ctx, k); f != waitDone || err != nil {
		return f, err
	}
	if f, err := e.flush(ctx, s); f != waitDone || err != nil {
		return f, err
	}
	l := e.afterwards(s, k, patient, due)
	if !patient && k.t.Uncertain() && e.asksSoon(s) {
		ok, f, err := e.alive(ctx, s, l)
		if err != nil || f == waitEnded || f == waitFlood {
			return f, err
		}
		if ok {
			l = limit{}
		}
	}
	f, err := e.await(ctx, s, never, l)
	if f == waitBusy { // whatever it does, nothing is due
		f = waitIdle
	}
	return f, err
}

func never() bool { return false }

// listen waits for the answers to what was sent last. waitIdle says that they have come, or will not. A server that leaves unanswered what it
// need not answer is asked whether it lives: else what is sent next would be to blame.
func (e *executor) listen(ctx context.Context, s *peer, k *talk, patient bool, due time.Duration) (waitEnd, error) {
	until, l := limit{clock: server.WaitTime, work: conn.Slice}, atMost(due)
	if k.open <= 0 && !patient && e.asksSoon(s) {
		until, l = atMost(lookTime), atMost(server.WaitTime+due)
	}
	f, err := e.await(ctx, s, func() bool { return k.open <= 0 && k.expects() < 0 }, until)
	switch {
	case err != nil || f != waitDone && f != waitIdle && f != waitBusy:
		return f, err
	case k.open <= 0 && f != waitBusy && k.expects() < 0:
		return waitIdle, nil
	}
	if s.canPing() && !s.open {
		if ok, f, err := e.alive(ctx, s, l); err != nil || !ok {
			if f == waitIdle {
				f = waitUnresponsive
			}
			return f, err
		}
	}
	if e.maySuspend(k, patient) {
		l.sleep = conn.Slice // then it goes on beside what follows
	}
	f, err = e.await(ctx, s, func() bool { return k.open <= 0 }, l)
	switch {
	case f == waitDone:
		f = waitIdle
	case (f == waitIdle || f == waitBusy) && s.broken:
		f = waitUnresponsive
	case f == waitBusy && !s.Uninitialized:
		f = waitIdle // it answers pings meanwhile
	}
	return f, err
}

// maySuspend reports whether a talk that has the server for itself may go on beside others. What is counted must not be their doing.
func (e *executor) maySuspend(k *talk, patient bool) bool {
	return !patient && !e.target.Exact && !k.meter.Files
}

// asksSoon reports whether a ping tells at once what else is known when the server sleeps: that it has come past what it need not answer. It
// takes what comes over a pipe in order, and many a runtime is long on its feet after its last line: Go's for 10 ms.
func (e *executor) asksSoon(s *peer) bool {
	return s.canPing() && !s.open && !s.OverHTTP() && !e.target.Exact
}

// due returns how long an answer is waited for, and how much of the processor the server may use meanwhile: all the time there is if this
// execution has the last word or the script asks for much, less if it has not.
func (e *executor) due(k *talk, patient bool) time.Duration {
	if e.target.Exact && !patient || (patient || k.meter.Demanding()) && !k.obs.Ask.Quick {
		return e.target.timeout()
	}
	return e.target.soon()
}

// soonShare is the part of the time limit that a server is given in an execution that will be repeated. With all of it, 20 s on the planted
// server have 149 findings of three seeds, and not 163.
const soonShare = 5

// afterwards returns how long the server is watched when all was said and answered: it may end, if its input has ended; it may
// die of what it has answered; it may send what it must not.
func (e *executor) afterwards(s *peer, k *talk, patient bool, due time.Duration) limit {
	switch {
	case s.Closed:
		return atMost(due)
	case patient, e.target.Exact, k.t.Uncertain():
		return limit{clock: server.WaitTime, work: e.target.soon()}
	}
	return limit{}
}

// explain notes what a server does that does not answer: whether it uses the processor or waits for something.
func (k *talk) explain() {
	if !k.t.Unresponsive && !k.t.Hung {
		return
	}
	running, all := k.server.Threads()
	if all == 0 {
		return
	}
	k.t.Busy, k.t.Idle, k.t.Waits = running > 0, running == 0, k.server.WaitsFor()
}

// collectStderr gives the talk what the server wrote to standard error meanwhile, of which only the end is kept.
func (k *talk) collectStderr() {
	s := k.server
	began := s.stderr
	k.t.Stderr, s.stderr = s.Stderr(began)
	if missing := int(s.stderr-began) - len(k.t.Stderr); missing > 0 {
		for i := range k.t.Sent {
			k.t.Sent[i].Logged = max(0, k.t.Sent[i].Logged-missing)
		}
	}
}

// finishTalk forgets the ids of a talk that is at its end, and gives up what it still has in flight.
func (s *peer) finishTalk(k *talk) {
	s.endSessions(k)
	for _, x := range k.mem.exchanges {
		if t := s.exchanges[x]; t == nil || t.answered {
			s.Release(x)
		} else { // it would keep its connection for ever
			s.Drop(x)
		}
		delete(s.exchanges, x)
	}
	for _, id := range k.mem.given {
		delete(s.flights, id)
	}
}

// measure is called when the server has answered: before the talk says something, and at its end. A waitEnd other than waitDone says that
// the server has ended. Before its files are counted it has to rest, since it may not have seen yet that clients have gone.
func (e *executor) measure(ctx context.Context, k *talk) (waitEnd, error) {
	if k.meter.Files {
		if f, err := e.await(ctx, k.server, never, limit{clock: server.WaitTime, work: e.target.timeout()}); f != waitIdle && f != waitBusy || err != nil {
			return f, err
		}
	}
	step, repeated := k.step, k.times
	if k.state != talking {
		step, repeated = len(k.in.Steps), 0
	}
	if k.e.read < maxRepeatBytes || k.meter.Time { // else the rest was left out
		k.meter.Measure(k.server, &k.t, step, repeated)
	}
	return waitDone, nil
}

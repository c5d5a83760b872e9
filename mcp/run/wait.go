package run

import (
	"context"
	"errors"
	"time"

	"github.com/teaselfuzz/teasel/mcp/conn"
	"github.com/teaselfuzz/teasel/mcp/server"
)

// waitEnd is how a wait went.
type waitEnd uint8

const (
	waitInvalid      waitEnd = iota
	waitDone                 // what was waited for has come
	waitIdle                 // nothing more comes by itself, or not soon: the server sleeps
	waitBusy                 // the server works and has used all the processor time that it may
	waitUnresponsive         // it answers nothing any more, not even a ping
	waitRefuses              // over HTTP: it answers, and refuses everything, a new client too
	waitEnded                // it has ended or has closed its output
	waitFlood                // it has written too much
)

// limit is how long a server is waited for that does not answer.
type limit struct {
	sleep time.Duration // while it sleeps until something comes
	clock time.Duration // while it lets time pass, or does not read
	work  time.Duration // of the processor, while it works
}

// atMost is a limit that is the same whatever the server does.
func atMost(d time.Duration) limit { return limit{sleep: d, clock: d, work: d} }

const (
	// lookTime is how long nothing comes before we look at what the server does: it has mostly answered by then. To look at once takes 8 %
	// more of the processor for 20,000 executions on the planted server without its bugs.
	lookTime = 50 * time.Microsecond
	// patience is how many times the limit may pass on the clock while the server gets less processor time than that: the
	// machine may be busy. Without it, at a load of 11 to 17, TestBulk took 2 of 12 long lines for a hang.
	patience = 20
)

// await receives until done, or until it is known that this will not be. Whether the server is done with what it was sent is
// seen by whether it sleeps, and not by the clock.
func (e *executor) await(ctx context.Context, s *peer, done func() bool, l limit) (waitEnd, error) {
	if ctx.Err() != nil {
		return waitInvalid, ctx.Err()
	}
	if l == (limit{}) {
		return waitIdle, nil
	}
	s.Heard()
	s.active = time.Now()
	until, rested := s.active.Add(lookTime), false
	if s.asleep && l.sleep == 0 {
		until, rested = s.active, true
	}
	for {
		before := s.Received()
		err := e.receive(ctx, s, until)
		switch {
		case done():
			return waitDone, nil
		case ctx.Err() != nil:
			return waitInvalid, ctx.Err()
		case err != nil:
			return waitEndOf(err)
		}
		if f, err := e.flush(ctx, s); f != waitDone || err != nil { // replies to the server
			return f, err
		}
		now := time.Now()
		quiet := now.Sub(s.active)
		switch came := s.Received() > before; {
		case came && quiet < patience*l.work: // perhaps it is in the middle of something long
			until, rested = now.Add(lookTime), false
			continue
		case rested && !came:
			return waitIdle, nil
		}
		state := s.Look(quiet)
		var most time.Duration
		switch {
		case state == server.Asleep:
			most = l.sleep
		case state == server.Waiting:
			most = l.clock
		case s.Worked() >= l.work, quiet >= patience*l.work:
			return waitBusy, nil
		default:
			until, rested = now.Add(s.step()), false
			continue
		}
		if quiet < most {
			until, rested = now.Add(min(s.step(), most-quiet)), false
			continue
		}
		if l.clock > 0 && quiet >= l.clock {
			s.WaitedInVain()
		}
		until, rested, s.asleep = now, true, state == server.Asleep // what it has said before that is in the pipe
	}
}

// step is how long to wait for the next message before the server is looked at again.
func (s *peer) step() time.Duration {
	return min(max(time.Since(s.active)/4, lookTime), conn.Slice)
}

// waitEndOf says what an error of the connection, or the server's end, means for a wait. The error that it returns is ours.
func waitEndOf(err error) (waitEnd, error) {
	switch {
	case errors.Is(err, conn.ErrLocal):
		return waitInvalid, err
	case errors.Is(err, conn.ErrFlood):
		return waitFlood, nil
	}
	return waitEnded, nil
}

// flush writes what is queued. A waitEnd other than waitDone says that the server does not take it.
func (e *executor) flush(ctx context.Context, s *peer) (waitEnd, error) {
	limit := e.target.soon()
	if k := s.alone; k != nil && !k.obs.Ask.Quick { // a long line may take its time
		limit = e.target.timeout()
	}
	err := s.Flush(ctx, limit)
	for began := time.Now(); errors.Is(err, conn.ErrBlocked) && ctx.Err() == nil && s.lacksProcessor(limit, began); {
		err = s.Flush(ctx, limit)
	}
	switch {
	case ctx.Err() != nil:
		return waitInvalid, ctx.Err()
	case errors.Is(err, conn.ErrBlocked):
		return waitUnresponsive, nil
	case err != nil: // what comes next, or its end, says why
		s.broken = true
	}
	if s.Closed {
		s.CloseSend()
	}
	return waitDone, nil
}

// lacksProcessor reports whether a server that does not read works, and has had less than the limit of the processor since a time that
// is not too long ago: others may have it.
func (s *peer) lacksProcessor(limit time.Duration, began time.Time) bool {
	silent := time.Since(began)
	return s.Look(max(silent, limit)) == server.Working && s.Worked() < limit && silent < patience*limit
}

// alive reports whether the server answers a ping.
func (e *executor) alive(ctx context.Context, s *peer, l limit) (bool, waitEnd, error) {
	ping := s.sendPing()
	if f, err := e.flush(ctx, s); f != waitDone || err != nil {
		return false, f, err
	}
	f, err := e.await(ctx, s, func() bool { return ping.answered || s.ended }, l)
	return f == waitDone && !s.ended, f, err
}

// checkAlive says whether the server goes on since a response had no message, or did not come: waitDone if it does, or nobody can tell.
func (e *executor) checkAlive(ctx context.Context, s *peer) (waitEnd, error) {
	mute := s.ended || s.Uninitialized                 // there is no session in which it could answer a ping
	atStake := s.OverHTTP() && len(e.target.Args) == 0 // of a server that is not ours: nothing could be confirmed
	if !s.maybeGone || !s.canPing() && !(mute && atStake) {
		return waitDone, nil
	}
	s.maybeGone, s.refused = false, false
	if !mute {
		ok, f, err := e.alive(ctx, s, atMost(e.target.soon()))
		if err != nil || f == waitEnded || f == waitFlood || ok && !s.refused {
			return f, err
		}
	}
	if s.OverHTTP() {
		why, err := e.target.command().Refuses(ctx, s.Server)
		s.beside += server.ClientRequests
		if why != nil {
			s.refusal = why.What
		}
		if why != nil || err != nil {
			return waitRefuses, err
		}
	}
	if mute || s.refused { // only this session is over, or nobody is answered a ping
		return waitDone, nil
	}
	return waitUnresponsive, nil
}

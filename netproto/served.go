package netproto

import (
	"context"
	"errors"
	"os"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/history"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server may sleep, with its port open and connections taken by the kernel, and answer nobody any more: a lock is not released, a thread
// waits for a client that has gone, a pool of workers is used up. A fresh client that was served before shows that.

// How many dialogues without a byte of an answer are a reason to have fresh clients ask: at first, and at most after that was in vain. Where
// no client is known that is served, a fresh server has to show one, which takes a start.
const (
	silentDialogues     = 1
	mostSilentDialogues = 512
	unknownDialogues    = 8
)

// freshClients is how many clients ask a server of ours, one after the other: one that deals out its clients to several processes or threads
// may leave some of them without an answer.
const freshClients = 8

// served is a client that is served: a dialogue that the server has answered.
type served struct {
	in     *dialogue.Dialogue // nil: none is known
	sought bool               // the seeds were asked
	proven bool               // each of several fresh clients of a fresh server was answered
	silent int                // dialogues that were not answered since a fresh client has asked
	slept  bool               // in the last dialogue the server let all of the time limit pass, so that asking costs little
	due    int                // how many of them are a reason to ask
	shown  teasel.Observation // how the dialogue of a fresh client has ended that was shown a fault
}

// service says which fresh clients of a server are answered that it has answered before.
type service uint8

const (
	serviceAll service = iota
	serviceSome
	serviceNone
	serviceFault // the server has a fault of another kind, which one of them was shown
)

// String says what is wrong.
func (s service) String() string {
	if s == serviceSome {
		return "some fresh clients get an answer as before, and others get none"
	}
	return "a fresh client that it has answered before gets no answer"
}

// answered reports whether the server has sent anything in the last dialogue.
func (e *executor) answered() bool {
	return slices.ContainsFunc(e.evidence.Talk, func(t judge.Turn) bool { return len(t.Received) > 0 })
}

// noteAnswer notes whether a dialogue was answered. The first one that was, and has shown no fault, is what a fresh client asks.
func (e *executor) noteAnswer(o *teasel.Observation) {
	s := &e.served
	if !e.answered() {
		s.silent++
		return
	}
	if s.slept = false; s.in == nil && o.Evidence == nil { // and had an answer all the same
		s.in = dialogue.Codec{Model: e.target.Model}.Unpack(e.packed)
	}
}

// seekServed looks for a seed that the server answers, before something is confirmed for which it may be needed.
func (e *executor) seekServed(ctx context.Context) error {
	s := &e.served
	if s.in != nil || s.sought || !e.servesClients() {
		return nil
	}
	s.sought = true
	for _, seed := range e.target.Seeds() {
		if e.down {
			if err := e.renew(ctx); err != nil {
				return err
			}
		}
		var o teasel.Observation
		if err := e.hold(ctx, seed.Input, &o); err != nil {
			return err
		}
		if o.Exit <= teasel.ExitRejected && o.Evidence == nil && e.answered() {
			s.in = seed.Input
			return nil
		}
	}
	return nil
}

// servesClients reports whether clients of the server can be served one after the other, on connections of their own.
func (e *executor) servesClients() bool {
	return e.server == nil || e.address.Network != conn.Stdio && !e.once
}

// checkServed looks whether fresh clients are served after a dialogue, if something is to be confirmed or some were not answered lately. The
// word of one that is confirmed is last: whether a fresh server serves them is looked at too. If others were held for that, looked is true.
func (e *executor) checkServed(ctx context.Context, o *teasel.Observation, confirming bool) (looked bool, err error) {
	s := &e.served
	if s.due = max(s.due, silentDialogues); s.in == nil {
		s.due = max(s.due, unknownDialogues)
	}
	if !e.servesClients() || e.thorough == 0 && s.silent < s.due && !(s.slept && s.in != nil) {
		return false, nil
	}
	if s.in == nil && (s.sought || e.server == nil) {
		return false, nil
	}
	back := e.aside()
	now, err := e.askFresh(ctx, confirming, confirming || o.Ask.Full)
	if err == nil && now == serviceFault {
		return true, e.shownToFresh(o, back)
	}
	kind, text := judge.FaultUnanswered, now.String()
	if e.server != nil {
		text = "it sleeps, and " + text
	} else if e.evidence.Fault == judge.FaultClosed { // it did not even take the client's connection
		kind, text = judge.FaultClosed, e.evidence.Text
	}
	back()
	if err != nil || now == serviceAll {
		return true, err
	}
	e.evidence.Some, e.down = now == serviceSome, true
	if e.server == nil {
		e.evidence.Gone = e.gone()
	}
	e.fault(o, kind, text)
	return true, e.hangUpAll()
}

// shownToFresh makes the fault that a fresh client was shown one of the dialogue before it, of which back brings back the evidence: the
// conversation of the fresh client is what a dialogue would have that connects once more.
func (e *executor) shownToFresh(o *teasel.Observation, back func()) error {
	v, shown := e.evidence, &e.served.shown
	back()
	v.At += e.said
	v.Talk = slices.Concat(e.evidence.Talk, v.Talk)
	e.evidence = v
	if shown.Exit > teasel.ExitRejected {
		o.Exit, o.Expensive, e.down = shown.Exit, true, true
		o.Short = shown.Exit == teasel.ExitHang && (shown.Short || shown.Ask.Quick)
	}
	e.accuse(o)
	return e.hangUpAll()
}

// askFresh has fresh clients ask whether they are served, with the whole time limit for each message if full is set. All are, as far as it may
// have another cause that they are not, or that one is shown a fault.
func (e *executor) askFresh(ctx context.Context, confirming, full bool) (now service, err error) {
	s := &e.served
	slept := s.slept
	s.silent, s.slept = 0, false
	if s.in == nil { // the first dialogue may have silenced the server: a fresh one shows whom it serves, for the next time
		if err := e.renew(ctx); err != nil {
			return now, err
		}
		return now, e.seekServed(ctx)
	}
	now, err = e.serves(ctx, full)
	if now == serviceAll && !slept {
		s.due = min(2*s.due, mostSilentDialogues)
	}
	if err != nil || now == serviceAll || e.server == nil || s.proven || now != serviceSome && !confirming {
		return now, err
	}
	past := e.past // what the server has had before may be needed to reproduce it
	e.past = history.Ring{}
	shown, back := s.shown, e.aside()
	defer func() {
		e.past, s.shown = past, shown
		back()
	}()
	if err := e.renew(ctx); err != nil {
		return now, err
	}
	if fresh, err := e.serves(ctx, full); err != nil || fresh != serviceAll { // it depends on something else
		s.in = nil
		return serviceAll, err
	}
	s.proven = true
	return now, nil
}

// serves holds the dialogue of the client that is known to be served with fresh clients, one after the other, as many as there is time for.
// What counts are those behind the first that has got no answer: a server that takes a client at a time may have been busy with some that had
// gone.
func (e *executor) serves(ctx context.Context, full bool) (now service, err error) {
	keep, patience := e.target.Keep, e.patience
	e.target.Keep, e.patience.mean = true, e.target.Timeout
	defer func() { e.target.Keep, e.patience = keep, patience }()
	clients := freshClients
	if e.server == nil {
		clients = 1
	}
	answered, missed, again := 0, 0, false
	for began := time.Now(); answered+missed < clients && (answered+missed == 0 || missed > 0 || time.Since(began) < e.target.Timeout); {
		ok, faulty, err := e.serve(ctx, full)
		switch {
		case err != nil:
			return now, err
		case faulty:
			return serviceFault, nil
		case ok:
			answered++
		case again:
			missed++
		default:
			again, answered, began = true, 0, time.Now()
		}
		if missed == 2 || missed > 0 && answered > 0 {
			break
		}
	}
	switch {
	case missed == 0:
		return serviceAll, nil
	case answered == 0:
		return serviceNone, nil
	}
	return serviceSome, nil
}

// serve reports whether one fresh client is served, or was shown a fault of another kind than that it is not.
func (e *executor) serve(ctx context.Context, full bool) (ok, faulty bool, err error) {
	if err := e.hangUpAll(); err != nil {
		return false, false, err
	}
	o := &e.served.shown
	*o = teasel.Observation{Ask: teasel.Ask{Quick: !full, Full: full}} // the rest of the time limit comes behind
	if err := e.hold(ctx, e.served.in, o); err != nil {
		return false, false, err
	}
	if faulty = o.Evidence != nil && (e.server != nil || e.evidence.Fault != judge.FaultClosed); faulty || o.Exit > teasel.ExitRejected {
		return false, faulty, nil
	}
	if ok = e.answered(); !ok && e.link != nil && e.link.End() == conn.EndOpen {
		if err = e.link.Await(ctx, e.target.Timeout); err == nil {
			e.buffer, _, err = e.link.Receive(e.buffer)
			ok = len(e.buffer) > 0
		} else if errors.Is(err, os.ErrDeadlineExceeded) {
			err = nil
		}
	}
	if err = errors.Join(err, e.hangUpAll()); err == nil && ok {
		err = e.rest(ctx)
	}
	return ok, false, err
}

package netproto

import (
	"context"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server may sleep, with its port open and connections taken by the kernel, and answer nobody any more: a lock is not released, a thread
// waits for a client that has gone, a pool of workers is used up. A fresh client that was served before shows that.

// How many dialogues in a row without a byte of an answer are a reason to ask: at first, and at most after it was in vain.
const (
	silentDialogues     = 8
	mostSilentDialogues = 512
)

// served is a client that is served: a dialogue that the server has answered.
type served struct {
	in     *dialogue.Dialogue // nil: none is known
	sought bool               // the seeds were asked
	silent int                // dialogues in a row that were not answered
	due    int                // how many of them are a reason to ask
}

// unserved says how a server is that answers nobody any more.
const unserved = "a fresh client that it has answered before gets no answer"

// answered reports whether the server has sent anything in the last dialogue.
func (e *executor) answered() bool {
	return slices.ContainsFunc(e.evidence.Talk, func(t judge.Turn) bool { return len(t.Received) > 0 })
}

// noteAnswer notes whether a dialogue was answered. The first one that was is what a fresh client asks.
func (e *executor) noteAnswer() {
	s := &e.served
	if !e.answered() {
		s.silent++
		return
	}
	if s.silent = 0; s.in == nil {
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
		if o.Exit <= teasel.ExitRejected && e.answered() {
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

// checkServed looks whether a fresh client is served after a dialogue, if something is to be confirmed or nobody was answered lately. The
// word of one that is confirmed is last: whether a fresh server serves that client is looked at too. If others were held for that, looked is true.
func (e *executor) checkServed(ctx context.Context, o *teasel.Observation, confirming bool) (looked bool, err error) {
	s := &e.served
	s.due = max(s.due, silentDialogues)
	if !e.servesClients() || e.thorough == 0 && s.silent < s.due {
		return false, nil
	}
	if s.in == nil && (s.sought || e.server == nil) {
		return false, nil
	}
	evidence, reached, packed := e.evidence, e.responses, e.packed
	e.evidence.Talk, e.written, e.responses, e.packed = nil, nil, responses{}, nil
	defer func() { e.evidence, e.responses, e.packed = evidence, reached, packed }()
	if s.in == nil { // the first dialogue may have silenced the server: a fresh one shows whom it serves, for the next time
		s.silent = 0
		if err := e.renew(ctx); err != nil {
			return true, err
		}
		return true, e.seekServed(ctx)
	}
	ok, err := e.serves(ctx)
	if err == nil && !ok { // one that takes a client at a time may still serve those that have gone
		select {
		case <-ctx.Done():
			return true, ctx.Err()
		case <-time.After(e.target.Timeout):
		}
		ok, err = e.serves(ctx)
	}
	if err != nil || ok {
		s.silent, s.due = 0, min(2*s.due, mostSilentDialogues)
		return true, err
	}
	if confirming && e.server != nil {
		if err := e.renew(ctx); err != nil {
			return true, err
		}
		if ok, err = e.serves(ctx); err != nil || !ok { // it depends on something else
			s.in = nil
			return true, err
		}
	}
	s.silent = 0
	e.evidence, e.down = evidence, true
	text := unserved
	if e.server == nil {
		e.evidence.Gone = e.gone()
	} else {
		text = "it sleeps, and " + unserved
	}
	e.fault(o, judge.FaultUnanswered, text)
	evidence = e.evidence
	return true, e.hangUpAll()
}

// serves holds the dialogue of the client that is known to be served. True: it was, or the server has a fault of another kind.
func (e *executor) serves(ctx context.Context) (bool, error) {
	keep, patience := e.target.Keep, e.patience
	e.target.Keep, e.patience.mean = false, e.target.Timeout
	defer func() { e.target.Keep, e.patience = keep, patience }()
	if err := e.hangUpAll(); err != nil {
		return true, err
	}
	var o teasel.Observation
	err := e.hold(ctx, e.served.in, &o)
	return o.Exit > teasel.ExitRejected || e.answered(), err
}

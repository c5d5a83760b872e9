package netproto

import (
	"bytes"
	"context"
	"errors"
	"fmt"
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
// may leave some of them without an answer, and a lock may be needed for some of what they ask.
const freshClients = 8

// served is what is known of clients that are served.
type served struct {
	clients []servedClient     // that a fresh client does as, one after the other; empty: none is known
	missed  *servedClient      // the one of them that got no answer last
	told    []byte             // what the server has said to it all the same, as one does that has no place for it
	strange bool               // clients come from another address
	sought  bool               // the seeds were asked
	proven  bool               // fresh clients of a fresh server were all answered
	silent  int                // dialogues of which no message was answered since a fresh client has asked
	slept   bool               // in the last dialogue the server let all of the time limit pass, so that asking costs little
	due     int                // how many of them are a reason to ask
	shown   teasel.Observation // how the dialogue of a fresh client has ended that was shown a fault
}

// servedClient is a client that the server has answered.
type servedClient struct {
	in       *dialogue.Dialogue
	answered int    // messages up to the last one that was answered; 0: only the server has spoken
	heard    []byte // all that the server has said
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

// answered returns how many messages of the last dialogue there were up to the last one that was answered, and whether anything came at all.
func (e *executor) answered() (messages int, any bool) {
	sent := 0
	for i := range e.evidence.Talk {
		t := &e.evidence.Talk[i]
		if t.Sent != nil {
			sent++
		}
		if len(t.Received) > 0 {
			messages, any = sent, true
		}
	}
	return messages, any
}

// heard returns all that the server has said in the last dialogue.
func (e *executor) heard() (text []byte) {
	for i := range e.evidence.Talk {
		text = append(text, e.evidence.Talk[i].Received...)
	}
	return text
}

// heardFirst returns what the server has said first in the last dialogue.
func (e *executor) heardFirst() []byte {
	for i := range e.evidence.Talk {
		if said := e.evidence.Talk[i].Received; len(said) > 0 {
			return slices.Clone(said)
		}
	}
	return nil
}

// noteAnswer notes whether a dialogue was answered. The first ones that were, and have shown no fault, are what fresh clients ask, if their answers
// differ. What a server says before it is asked anything may be that it has no place for the client, and is no answer.
func (e *executor) noteAnswer(o *teasel.Observation) {
	s := &e.served
	n, any := e.answered()
	if n == 0 {
		s.silent++
	}
	if !any {
		return
	}
	if s.slept = false; len(s.clients) == freshClients || s.proven || o.Evidence != nil || n == 0 && len(s.clients) > 0 {
		return
	}
	if text := e.heard(); !slices.ContainsFunc(s.clients, func(k servedClient) bool { return bytes.Equal(k.heard, text) }) {
		s.clients = append(s.clients, servedClient{in: dialogue.Codec{Model: e.target.Model}.Unpack(e.packed), answered: n, heard: text})
	}
}

// seekServed looks for seeds that the server answers, before something is confirmed for which they may be needed.
func (e *executor) seekServed(ctx context.Context) error {
	s := &e.served
	if len(s.clients) > 0 || s.sought || !e.servesClients() {
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
		if err := e.ask(ctx, seed.Input, &o); err != nil {
			return err
		}
		if o.Exit <= teasel.ExitRejected {
			e.noteAnswer(&o)
		}
		if len(s.clients) == freshClients {
			break
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
	if s.due = max(s.due, silentDialogues); len(s.clients) == 0 {
		s.due = max(s.due, unknownDialogues)
	}
	if !e.servesClients() || e.thorough == 0 && s.silent < s.due && !(s.slept && len(s.clients) > 0) {
		return false, nil
	}
	if len(s.clients) == 0 && (s.sought || e.server == nil) {
		return false, nil
	}
	back := e.aside()
	now, err := e.askFresh(ctx, confirming, confirming || o.Ask.Full)
	if err == nil && (now == serviceNone || now == serviceSome) {
		var banned bool
		if banned, err = e.banned(ctx); banned { // the next dialogue needs a fresh server
			now, e.down = serviceAll, true
			err = e.hangUpAll()
		}
	}
	if err == nil && now == serviceFault {
		return true, e.shownToFresh(o, back)
	}
	kind, text := judge.FaultUnanswered, now.String()
	if len(s.told) > 0 {
		text += fmt.Sprintf(", but only %.80q", s.told)
	}
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
	if len(s.clients) == 0 { // the first dialogue may have silenced the server: a fresh one shows whom it serves, for the next time
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
	fresh, err := e.prove(ctx, full)
	if err != nil || !fresh { // it depends on something else
		return serviceAll, err
	}
	return now, nil
}

// banned reports whether it is only our address that a server does not serve any more, as one does that bans those who err too often: strangers are
// served then, each time, and we are not.
func (e *executor) banned(ctx context.Context) (bool, error) {
	s := &e.served
	if e.server == nil || !e.server.HasStrangers() || s.missed == nil {
		return false, nil
	}
	defer func() { s.strange = false }()
	for _, s.strange = range [...]bool{true, true, false, true} {
		if ok, _, err := e.serve(ctx, s.missed, true); err != nil || ok != s.strange {
			return false, err
		}
	}
	return true, nil
}

// prove reports whether a fresh server serves all that fresh clients are known to ask. If it does not, those remain after whom it still does: what was
// answered may have been the last thing that ever is.
func (e *executor) prove(ctx context.Context, full bool) (all bool, err error) {
	s, past := &e.served, e.past // what the server has had before may be needed to reproduce it
	e.past = history.Ring{}
	shown, back := s.shown, e.aside()
	defer func() {
		e.past, s.shown = past, shown
		back()
	}()
	try := func(clients []servedClient) (bool, error) {
		if err := e.renew(ctx); err != nil {
			return false, err
		}
		s.clients = clients
		now, err := e.serves(ctx, full)
		return now == serviceAll, err
	}
	known := s.clients
	if all, err = try(known); err != nil || all {
		s.proven = all
		return all, err
	}
	var kept []servedClient
	for _, c := range known {
		if ok, err := try(append([]servedClient{c}, kept...)); err != nil {
			return false, err
		} else if ok {
			kept = append(kept, c)
		}
	}
	s.clients, s.proven = kept, len(kept) > 0
	return false, e.renew(ctx) // the last of them may have silenced the server
}

// serves has fresh clients say what was answered before, one after the other, as many as there is time for. The one that gets no answer comes again.
// What counts are those behind the first: a server that takes a client at a time may have been busy with some that had gone. On a server of ours that
// has had nobody yet, the first that gets no answer is enough.
func (e *executor) serves(ctx context.Context, full bool) (now service, err error) {
	keep, patience := e.target.Keep, e.patience
	e.target.Keep, e.patience.mean = true, e.target.Timeout
	defer func() { e.target.Keep, e.patience = keep, patience }()
	clients, known := freshClients, e.served.clients
	if e.server == nil {
		clients = 1
	}
	fresh := e.server != nil && e.clean
	answered, missed, again := 0, 0, fresh
	for i, began := 0, time.Now(); answered+missed < clients && (answered+missed < len(known) || missed > 0 || time.Since(began) < e.target.Timeout); {
		client := &known[i%len(known)]
		ok, faulty, err := e.serve(ctx, client, full)
		switch {
		case err != nil:
			return now, err
		case faulty:
			return serviceFault, nil
		case ok:
			answered++
		case again:
			missed++
			e.served.missed, e.served.told = client, e.heardFirst()
		default:
			again, answered, began = true, 0, time.Now()
		}
		if missed == 2 || missed > 0 && (fresh || answered > 0) {
			break
		}
		if fresh || !again {
			i++
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

// serve reports whether a fresh client is served as another one was, or is shown a fault of another kind than that it is not.
func (e *executor) serve(ctx context.Context, client *servedClient, full bool) (ok, faulty bool, err error) {
	if err := e.hangUpAll(); err != nil {
		return false, false, err
	}
	o := &e.served.shown
	*o = teasel.Observation{Ask: teasel.Ask{Full: full}} // never Quick: a server that sleeps for longer than that would seem to sleep in vain
	if err := e.ask(ctx, client.in, o); err != nil {
		return false, false, err
	}
	if faulty = o.Evidence != nil && (e.server != nil || e.evidence.Fault != judge.FaultClosed); faulty || o.Exit > teasel.ExitRejected {
		return false, faulty, nil
	}
	n, ok := e.answered()
	if ok = ok && n >= client.answered; !ok && e.link != nil && e.link.End() == conn.EndOpen {
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

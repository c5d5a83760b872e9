package netproto

import (
	"context"
	"errors"

	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// client is one client of the server: its connection, and what was said on it.
type client struct {
	number  int
	link    *conn.Connection // nil: there is none
	session *dialogue.Session
	buffer  []byte // what has come on this connection and was not yet taken apart
	ends    []int  // of the datagrams in it
}

// turnTo makes client n the one that sends and hears.
func (e *executor) turnTo(n int) {
	for len(e.clients) <= n {
		e.clients = append(e.clients, &client{number: len(e.clients), session: dialogue.NewSession(e.target.Model)})
	}
	e.client = e.clients[n]
}

// hangUp closes the connection of the client whose turn it is, if there is one.
func (e *executor) hangUp() error {
	e.buffer, e.ends = e.buffer[:0], e.ends[:0]
	if e.link == nil {
		return nil
	}
	err := e.link.Close()
	e.link = nil
	return err
}

// hangUpAll closes the connections of all clients. It is the turn of the first one then.
func (e *executor) hangUpAll() (err error) {
	for n := len(e.clients) - 1; n >= 0; n-- {
		e.turnTo(n)
		err = errors.Join(err, e.hangUp())
	}
	return err
}

// turnTo makes client n the one that sends and hears. It connects if it has not done so yet.
func (t *talk) turnTo(ctx context.Context, n int) error {
	if t.e.number == n {
		return nil
	}
	t.e.turnTo(n)
	if t.e.link != nil {
		t.e.session.Begin(t.in)
		return nil
	}
	return t.connect(ctx)
}

// overhear takes in what the server has said to the other clients meanwhile.
func (t *talk) overhear() error {
	e, own := t.e, t.e.number
	if t.clients < 2 {
		return nil
	}
	answered := false
	if turns := e.evidence.Talk; len(turns) > 0 {
		last := &turns[len(turns)-1]
		answered = last.Client == own && len(last.Received) > 0
	}
	defer e.turnTo(own)
	for n := range t.clients {
		if e.turnTo(n); n == own || e.link == nil || t.over {
			continue
		}
		had := e.link.End()
		if err := t.receive(); err != nil {
			return err
		}
		if answered && n < own && e.link.End() == conn.EndOpen { // the one that came first is still there
			e.abreast = true
		}
		if len(e.buffer) > 0 || e.link.End() != had {
			e.responses.put(overheardFeature)
			t.asked = ""
			t.understand(-1)
		}
	}
	return nil
}

// finishOthers ends the conversations of the clients beside the first one, the last one first.
func (t *talk) finishOthers(ctx context.Context) error {
	e := t.e
	for n := t.clients - 1; n > 0; n-- {
		if e.turnTo(n); e.link == nil {
			continue
		}
		if e.link.End() == conn.EndOpen {
			if err := t.sendFixed(ctx, e.session.Teardown()); err != nil || t.over {
				return err
			}
		}
		t.note(judge.Turn{Closed: true})
		if err := e.hangUp(); err != nil {
			return err
		}
		if err := t.rest(ctx); err != nil || t.over {
			return err
		}
		if err := t.overhear(); err != nil || t.over {
			return err
		}
	}
	e.turnTo(0)
	return nil
}

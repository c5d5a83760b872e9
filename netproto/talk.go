package netproto

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// talk is one dialogue under way.
type talk struct {
	e       *executor
	in      *dialogue.Dialogue
	limit   time.Duration // how long the server may let time pass
	work    time.Duration // processor time that it may use for a message
	at      int           // message that was sent last; -1: none
	fresh   bool          // the connection was made for this dialogue, or within it
	cut     bool          // the server has ended the connection before all was sent
	slept   bool          // the server has let all of the time pass that it may
	refused bool          // some response was not the expected one
	over    bool          // nothing more can be said: the server has faulted
	name    string        // of the message that was sent last
	asked   string        // what the answer is to: name, or a message that is not fuzzed; "": the server speaks first
	fixed   bool          // it is a message that is not fuzzed
	unready *model.Step   // whose answer was not the expected one; nil: none
	clients int           // that the dialogue has
	heard   string        // name of the response that came last; "": none came, or none that the model knows
}

// run says everything there is to say, as long as the server listens.
func (t *talk) run(ctx context.Context) error {
	e := t.e
	t.at, t.clients = -1, t.in.Clients()
	e.turnTo(0)
	if e.link != nil && (e.link.End() != conn.EndOpen || !e.target.Keep) {
		if err := e.hangUp(); err != nil {
			return err
		}
		if err := t.succeed(ctx); err != nil || t.over {
			return err
		}
	}
	if e.coverage != nil && !e.target.Keep {
		e.coverage.clear()
	}
	if e.link == nil {
		if err := t.connect(ctx); err != nil || t.over {
			return err
		}
	}
	if e.coverage != nil && e.target.Keep { // what it takes to connect is not what the dialogue has reached
		e.coverage.clear()
	}
	if err := t.heartbeat(ctx); err != nil || t.over {
		return err
	}
	e.session.Begin(t.in)
	for i := range t.in.Messages {
		if err := t.message(ctx, i); err != nil || t.over {
			return err
		}
	}
	return t.finish(ctx)
}

// message sends one message and hears what there is to hear.
func (t *talk) message(ctx context.Context, i int) error {
	e, m := t.e, &t.in.Messages[i]
	had := e.number == int(m.Client) || int(m.Client) < len(e.clients) && e.clients[m.Client].link != nil
	if err := t.turnTo(ctx, int(m.Client)); err != nil || t.over {
		return err
	}
	if m.Reconnect && i > 0 && had {
		if err := t.reconnect(ctx); err != nil || t.over {
			return err
		}
		e.session.Begin(t.in)
	}
	if e.link.End() != conn.EndOpen {
		t.cut = true
		return nil
	}
	t.at, t.name, t.asked = i, m.Name, m.Name
	if err := t.send(ctx, e.session.Render(i), m.Name); err != nil || t.over {
		return err
	}
	if m.NoWait && i+1 < len(t.in.Messages) {
		return nil
	}
	if err := t.hear(ctx, i); err != nil || t.over {
		return err
	}
	return t.overhear()
}

// dialTries is how often a server of ours is given the time limit to take a connection. Of a server whose queue of connections
// is full the kernel drops the first packet and sends it again after a second, which is no sign that it will never take one.
const dialTries = 3

// connect makes a connection and says what has to be said on each.
func (t *talk) connect(ctx context.Context) error {
	e := t.e
	c, err := e.dial(ctx)
	for try := 1; e.server != nil && late(err) && try < dialTries; try++ {
		if err := t.rest(ctx); err != nil || t.over {
			return err
		}
		c, err = e.dial(ctx)
	}
	if err != nil {
		return t.unreachable(ctx, err)
	}
	e.link, t.fresh, t.asked = c, true, ""
	e.connections++
	e.session.Reset()
	e.session.Begin(t.in)
	t.note(judge.Turn{Reconnect: true})
	if e.server != nil || e.target.Model != nil && e.target.Model.Connection.Greeting {
		if err := t.hear(ctx, -1); err != nil || t.over {
			return err
		}
	}
	return t.bootstrap(ctx)
}

// late reports whether an error says that the time for a connection, with its TLS handshake, was over.
func late(err error) bool {
	return errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, context.DeadlineExceeded)
}

func (t *talk) reconnect(ctx context.Context) error {
	t.note(judge.Turn{Closed: true})
	if err := t.e.hangUp(); err != nil {
		return err
	}
	if err := t.rest(ctx); err != nil || t.over {
		return err
	}
	return t.connect(ctx)
}

// finish says what ends a conversation, and waits until the server has taken note of the end.
func (t *talk) finish(ctx context.Context) error {
	e := t.e
	if err := t.finishOthers(ctx); err != nil || t.over || e.link == nil {
		return err
	}
	if e.target.Keep && e.link.End() == conn.EndOpen {
		return nil
	}
	if e.link.End() == conn.EndOpen {
		if err := t.sendFixed(ctx, e.session.Teardown()); err != nil || t.over {
			return err
		}
	}
	if e.server == nil && e.datagrams && e.link.End() == conn.EndReset {
		t.closed("nobody receives datagrams there")
	}
	if err := e.hangUp(); err != nil || t.over {
		return err
	}
	e.evidence.Closed = true
	err := t.rest(ctx)
	e.evidence.Closed = t.over
	return err
}

// rest waits until the server sleeps, without anything to hear.
func (t *talk) rest(ctx context.Context) error {
	if t.e.server == nil {
		return nil
	}
	state, err := t.e.server.Settle(ctx, nil, t.work, t.limit)
	if err != nil {
		return err
	}
	return t.record(state)
}

// mostUnread is how much the server may answer to one message.
const mostUnread = 16 << 20

// send sends a message, as much of it as the server reads.
func (t *talk) send(ctx context.Context, b []byte, name string) error {
	e := t.e
	t.note(judge.Turn{Name: name, Sent: e.keepText(b)})
	for stalled := false; ; {
		n, err := e.link.Send(b)
		if err != nil {
			return err
		}
		b = b[n:]
		if len(b) == 0 || e.link.End() != conn.EndOpen || e.datagrams {
			return nil
		}
		if n == 0 && stalled { // it neither reads nor answers
			return nil
		}
		if err := t.makeRoom(ctx); err != nil || t.over {
			return err
		}
		had := len(e.buffer)
		if err := t.receive(); err != nil || t.over {
			return err
		}
		stalled = len(e.buffer) == had
	}
}

// makeRoom waits until the server has read what it reads of a message that is too long for the kernel's buffers.
func (t *talk) makeRoom(ctx context.Context) error {
	if t.e.server != nil {
		return t.settle(ctx)
	}
	err := t.e.link.AwaitRoom(ctx, t.limit)
	if errors.Is(err, os.ErrDeadlineExceeded) {
		return nil
	}
	return err
}

// hear waits until the server is done with message i, and takes in what it has answered.
func (t *talk) hear(ctx context.Context, i int) error {
	e := t.e
	if e.server == nil {
		return t.hearRemote(ctx, i)
	}
	for got := -1; got < len(e.buffer); {
		got = len(e.buffer)
		if err := t.settle(ctx); err != nil {
			return err
		}
		if t.over {
			_ = t.receive() // what it said last
			break
		}
		if err := t.receive(); err != nil || t.over {
			return err
		}
	}
	t.understand(i)
	return nil
}

// settle waits until the server sleeps.
func (t *talk) settle(ctx context.Context) error {
	if t.e.server == nil {
		return nil
	}
	state, err := t.e.server.Settle(ctx, t.e.link, t.work, t.limit)
	if err != nil {
		return err
	}
	return t.record(state)
}

// receive takes what has come.
func (t *talk) receive() (err error) {
	e := t.e
	e.buffer, _, err = e.link.Receive(e.buffer)
	e.ends = append(e.ends, e.link.Ends()...)
	if len(e.buffer) >= mostUnread {
		t.blame(judge.FaultFlood, fmt.Sprintf("%d bytes have come", len(e.buffer)))
	}
	return err
}

// understand takes the answers to message i apart and has the session make sense of them.
func (t *talk) understand(i int) {
	e := t.e
	data, ends := e.buffer, e.ends
	e.buffer, e.ends = e.buffer[:0], e.ends[:0] // the data is good until something is received
	turn := judge.Turn{Received: e.keepText(data)}
	if i >= 0 && len(data) > 0 {
		e.target.Answers.add(data)
	}
	if len(data) == 0 {
		if i >= 0 {
			t.response(e.session.Silent(i), nil)
			t.closing()
		}
		return
	}
	for taken := 0; len(data) > 0; {
		n := len(data)
		if len(ends) > 0 { // each datagram is a response
			n, ends = ends[0]-taken, ends[1:]
		} else if !e.datagrams {
			if m, complete := e.session.Frame(data, e.link.End() != conn.EndOpen); complete && m > 0 {
				n = m
			}
		}
		t.response(e.session.Receive(i, data[:n]), data[:n])
		data, taken = data[n:], taken+n
	}
	turn.State = e.session.State()
	t.note(turn)
	t.closing()
}

// closing takes in that the server has ended the connection, which is an answer too.
func (t *talk) closing() {
	if t.e.link.End() != conn.EndOpen {
		t.e.responses.add(closedFeature)
	}
}

// response takes in one response; nil data: there was none.
func (t *talk) response(r dialogue.Response, data []byte) {
	e := t.e
	t.heard = r.Name
	switch {
	case e.target.Model == nil || data == nil && r.To == "":
		e.responses.add(fingerprint(&r, data))
	default:
		e.responses.add(r.Feature())
	}
	if n := e.target.Understood; n != nil && r.Expected && r.Name != "" {
		n.Add(1)
	}
	if r.From != "" && t.asked != "" {
		e.responses.put(stepFeature(r.From, t.asked, r.To))
	}
	if t.fixed || r.Expected && r.Problem == "" {
		return
	}
	t.refused = true
	if e.target.Strict && !r.Doubtful && e.evidence.Fault == judge.FaultNone && t.at >= 0 {
		v := &e.evidence
		v.Fault, v.At, v.Message, v.Text, v.Key = judge.FaultResponse, t.at, t.name, r.Problem, r.From+" "+r.Name
	}
}

// mostKept is how many bytes of a dialogue are kept to be written down.
const mostKept = 64 << 10

// keepText copies a part of the dialogue for the evidence.
func (e *executor) keepText(b []byte) []byte {
	b = b[:min(len(b), max(0, mostKept-len(e.written)))]
	at := len(e.written)
	e.written = append(e.written, b...)
	return slices.Clip(e.written[at:])
}

func (t *talk) note(turn judge.Turn) {
	turn.Client = t.e.number
	t.e.evidence.Talk = append(t.e.evidence.Talk, turn)
}

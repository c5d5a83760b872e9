package netproto

import (
	"context"
	"fmt"

	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/judge"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// unreachable says what it means that the server takes no connection.
func (t *talk) unreachable(ctx context.Context, cause error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	if !unavailable(cause) {
		return cause // a [StartError] where a server over standard input and output is a process for each conversation
	}
	if err := t.rest(ctx); err != nil || t.over {
		return err
	}
	if t.e.number > 0 && !t.e.abreast && late(cause) {
		if err := t.tryAlone(ctx); err != nil || t.over {
			return err
		}
	}
	t.closed(cause.Error())
	return nil
}

// tryAlone looks whether the server takes a connection once the other clients have gone. Then it has one conversation at a time, and the
// dialogue cannot be held.
func (t *talk) tryAlone(ctx context.Context) error {
	e := t.e
	if err := e.hangUpAll(); err != nil {
		return err
	}
	if err := t.rest(ctx); err != nil || t.over {
		return err
	}
	c, err := e.dial(ctx)
	if err != nil {
		return ctx.Err() // it takes nobody
	}
	e.serial, t.over, t.cut = true, true, true
	return c.Close()
}

// closed blames the server for taking no connections any more.
func (t *talk) closed(text string) {
	t.blame(judge.FaultClosed, text)
	if t.e.server == nil {
		t.e.evidence.Gone = t.e.gone()
	}
}

// record records a crash, hang or stall as evidence.
func (t *talk) record(state conn.State) error {
	switch state {
	case conn.Ended:
		if err := t.e.server.Stop(); err != nil {
			return err
		}
		d := t.e.server.Death()
		t.e.evidence.Signal, t.e.evidence.Status = d.Signal, d.Code
		if t.e.once && d.Signal == 0 && d.Code == 0 {
			t.e.down, t.over, t.cut = true, true, t.e.link != nil
			return nil
		}
		// Over standard input and output each conversation is a process, which ends when we have closed its input. What a program's
		// status says then is its own affair.
		if t.e.address.Network == conn.Stdio && d.Signal == 0 && (t.e.link == nil || d.Code == 0) {
			t.over, t.cut = t.e.link != nil, t.cut || t.e.link != nil
			return nil
		}
		if d.Signal != 0 {
			_, stack := t.e.imaged(t.e.server.Cores())
			t.e.evidence.Stack, t.e.evidence.Guessed = stack, true
		}
		t.blame(judge.FaultDeath, "")
	case conn.Spinning:
		t.blame(judge.FaultHang, fmt.Sprintf("it has used %v since that was sent", t.work))
	case conn.Stuck:
		t.blame(judge.FaultStuck, fmt.Sprintf("it has used less than %v of processor time meanwhile", t.work))
	case conn.Waiting:
		t.slept = true
	}
	return nil
}

// blame notes a fault after which there is nothing more to say.
func (t *talk) blame(f judge.Fault, text string) {
	v := &t.e.evidence
	if f > v.Fault {
		v.Fault, v.At, v.Message, v.Text = f, t.at, t.called(), text
	}
	t.over = true
}

// called is what the model calls the message that was sent last. What the dialogue calls it was true before it was changed, and
// the server has never heard of that.
func (t *talk) called() string {
	m := t.e.target.Model
	if m == nil {
		return t.name
	}
	turns := t.e.evidence.Talk
	for i := len(turns) - 1; i >= 0; i-- {
		if turns[i].Sent == nil {
			continue
		}
		var tree model.Tree
		if found, _ := m.Find(&tree, turns[i].Sent); found != nil {
			return found.Name
		}
		break
	}
	return ""
}

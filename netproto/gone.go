package netproto

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server that somebody else has started cannot be watched: it may have ended, be stopped, or hang. What can be seen is that it takes no
// connections, or answers nobody. Whoever has started it, or the user's command, may start it again. Where nobody does, there is nothing
// left to fuzz, and which of the last dialogues was to blame cannot be tried.

const (
	reviveTime = 10 * time.Second       // that it may take to serve again, if the user does not say how long
	reviveLook = 100 * time.Millisecond // between two looks whether it does
	lastTalks  = 16                     // dialogues that a finding shows
)

// GoneError is the error of a campaign against a server that is not ours and serves nobody any more. A finding of [judge.RuleGone] was
// reported before.
type GoneError struct {
	Reason string // one sentence without a full stop
}

func (e *GoneError) Error() string { return e.Reason }

// Finding returns the finding that the error is, of which no more is known.
func (e *GoneError) Finding() teasel.Finding {
	return judge.Detect(&teasel.Observation{Exit: teasel.ExitCrash, Evidence: &judge.Evidence{Fault: judge.FaultClosed, At: -1, Text: e.Reason, Gone: &judge.Gone{}}})[0]
}

// gone returns what is known of a server that is not ours and has a fault: the dialogues that it had.
func (e *executor) gone() *judge.Gone {
	past := e.past.Before(e.past.Added())
	g := &judge.Gone{Held: e.past.Added()}
	codec, session := dialogue.Codec{Model: e.target.Model}, dialogue.NewSession(e.target.Model)
	for _, packed := range past[max(0, len(past)-lastTalks):] {
		d := codec.Unpack(packed)
		session.Reset()
		session.Begin(d)
		g.Last = append(g.Last, judge.Turn{Reconnect: true})
		for i := range d.Messages {
			m := &d.Messages[i]
			g.Last = append(g.Last, judge.Turn{Name: m.Name, Sent: slices.Clone(session.Render(i)), Reconnect: m.Reconnect && i > 0, Client: int(m.Client)})
		}
	}
	return g
}

// revive waits until a server that somebody else has started serves again after a fault.
func (e *executor) revive(ctx context.Context) error {
	if !e.down {
		return nil
	}
	limit := e.target.Start
	if limit == 0 {
		limit = reviveTime
	}
	for deadline := time.Now().Add(limit); ; {
		why, err := e.absent(ctx)
		switch {
		case err != nil:
			return err
		case why == "":
			e.down = false
			return nil
		case time.Now().After(deadline):
			return &GoneError{Reason: fmt.Sprintf("the server at %v has not served anybody for %v since a fault: %s", e.address, limit, why)}
		}
		if err := wait(ctx, reviveLook); err != nil {
			return err
		}
	}
}

// unavailable reports whether an error of a connection says that the server would not take it.
func unavailable(err error) bool {
	var handshake *conn.HandshakeError
	return conn.Refused(err) || errors.Is(err, os.ErrDeadlineExceeded) || errors.As(err, &handshake)
}

// absent says why a server that somebody else has started does not serve; "": it does.
func (e *executor) absent(ctx context.Context) (why string, err error) {
	c, err := e.dial(ctx)
	switch {
	case ctx.Err() != nil:
		return "", ctx.Err()
	case unavailable(err):
		return err.Error(), nil
	case err != nil:
		return "", err
	}
	if e.datagrams { // only what is sent is refused
		if _, err = c.Send(nil); err == nil && c.Await(ctx, reviveLook) == nil {
			_, _, err = c.Receive(nil)
		}
	}
	refused := c.End() == conn.EndReset
	if err := errors.Join(err, c.Close()); err != nil || refused || len(e.served.clients) == 0 {
		if refused {
			why = "nobody receives datagrams there"
		}
		return why, err
	}
	if now, err := e.serves(ctx, false); err != nil || now != serviceNone {
		return "", err
	}
	return serviceNone.String(), nil
}

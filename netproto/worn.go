package netproto

import (
	"context"
	"syscall"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/history"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server may end after so many messages or connections, whatever they are: it counts them, or runs out of something. Whichever message
// comes then is not to blame, and each would be a finding of its own where nothing says in which function the server ended. Whether that is
// so is tried once for each way to end: a client that the server has answered comes again and again.

const (
	leastWear = 8    // messages or connections that are many
	firstWear = 512  // dialogues that are tried at first
	mostWear  = 8192 // dialogues that are tried at most
)

// ending is how a server ends, as far as can be told of one that does not say where.
type ending struct {
	signal syscall.Signal
	status int
}

// wear is how much a server takes until it ends.
type wear struct {
	messages, connections int // 0: it does not end of what it is sent many times
	tried                 int // dialogues of which that is known
}

// wears reports whether a server that has had so much has had about as much as w.
func (w wear) wears(messages, connections int) bool {
	const tolerance = 16 // one part of so many
	return w.messages > 0 && (messages >= w.messages-w.messages/tolerance || connections >= w.connections-w.connections/tolerance)
}

// checkWorn looks whether a server has ended of how much it was sent, and not of what.
func (e *executor) checkWorn(ctx context.Context, o *teasel.Observation) error {
	v := &e.evidence
	if o.Evidence != any(v) || v.Fault != judge.FaultDeath || v.Forked || e.once || e.server == nil || e.address.Network == conn.Stdio {
		return nil
	}
	if v.Repeated == 0 && e.connections < leastWear && e.sent < leastWear {
		return nil
	}
	if fs := judge.Detect(o); len(fs) == 0 || fs[0].Fault != "" { // where it ended tells it from others
		return nil
	}
	how := ending{v.Signal, v.Status}
	w := e.worn[how]
	if sent, connections := e.sent, e.connections; w.messages == 0 && w.tried < min(max(connections, 1), mostWear) {
		var err error
		switch w, err = e.wearOut(ctx, how, min(max(2*connections, firstWear), mostWear)); {
		case ctx.Err() != nil: // it was seen to end all the same
			w = wear{}
		case err != nil:
			return err
		default:
			e.worn[how] = w
		}
		e.sent, e.connections = sent, connections
	}
	if w.messages > 0 && v.Repeated > 0 || w.wears(e.sent, e.connections) {
		v.Worn, v.Repeated = e.sent, 0
	}
	v.Used = true
	o.Detail = judge.Detect(o)[0].Message
	return nil
}

// wearOut has a client that the server answers come so many times at most, and returns after how much of it the server ends in such a way.
func (e *executor) wearOut(ctx context.Context, how ending, times int) (w wear, err error) {
	evidence, reached, packed, past := e.evidence, e.responses, e.packed, e.past
	e.evidence, e.written, e.responses, e.packed, e.past = judge.Evidence{}, nil, responses{}, nil, history.Ring{}
	defer func() {
		e.evidence, e.responses, e.packed, e.past, e.down = evidence, reached, packed, past, true
	}()
	w.tried = times
	if err := e.seekServed(ctx); err != nil || e.served.in == nil {
		return w, err
	}
	if err := e.renew(ctx); err != nil {
		return w, err
	}
	for n := 1; n <= times; n++ {
		var o teasel.Observation
		if err := e.hold(ctx, e.served.in, &o); err != nil {
			return w, err
		}
		if o.Exit <= teasel.ExitRejected {
			continue
		}
		if v := &e.evidence; n >= leastWear && v.Fault == judge.FaultDeath && (ending{v.Signal, v.Status}) == how {
			w.messages, w.connections = e.sent, e.connections
		}
		break
	}
	return w, e.hangUpAll()
}

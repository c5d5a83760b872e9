package netproto

import (
	"context"
	"syscall"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/history"
	"github.com/teaselfuzz/teasel/internal/wear"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server may end after so many messages or connections, whatever they are: it counts them, or runs out of something. Whichever message
// comes then is not to blame, and each would be a finding of its own where nothing says in which function the server ended. Whether that is
// so is tried once for each way to end: a client that the server has answered comes again and again.

// ending is how a server ends, where nothing says in which function.
type ending struct {
	signal syscall.Signal
	status int
}

// wears reports whether a server that has had so much has had about as much as it ends of.
func wears(after wear.Amount, messages, connections int) bool {
	const tolerance = 16 // one part of so many
	return after.Messages > 0 && (messages >= after.Messages-after.Messages/tolerance || connections >= after.Connections-after.Connections/tolerance)
}

// checkWorn looks whether a server has ended of how much it was sent, and not of what.
func (e *executor) checkWorn(ctx context.Context, o *teasel.Observation) error {
	v := &e.evidence
	if o.Evidence != any(v) || v.Fault != judge.FaultDeath || v.Forked || e.once || e.server == nil || e.address.Network == conn.Stdio {
		return nil
	}
	if v.Repeated == 0 && e.connections < wear.Least && e.sent < wear.Least {
		return nil
	}
	if fs := judge.Detect(o); len(fs) == 0 || fs[0].Fault != "" { // where it ended tells it from others
		return nil
	}
	how := ending{v.Signal, v.Status}
	sent, connections := e.sent, e.connections
	after, err := e.worn.After(ctx, how, connections, func(times int) (wear.Amount, error) { return e.wearOut(ctx, how, times) })
	if err != nil {
		return err
	}
	e.sent, e.connections = sent, connections
	if after.Messages > 0 && v.Repeated > 0 || wears(after, sent, connections) {
		v.Worn, v.Repeated = e.sent, 0
	}
	v.Used = true
	o.Detail = judge.Detect(o)[0].Message
	return nil
}

// wearOut has a client that the server answers come so many times at most, and returns after how much of it the server ends in such a way.
func (e *executor) wearOut(ctx context.Context, how ending, times int) (after wear.Amount, err error) {
	back, past, keep := e.aside(), e.past, e.target.Keep
	e.past = history.Ring{}
	e.target.Keep = false // the server may count connections
	defer func() {
		back()
		e.past, e.down, e.target.Keep = past, true, keep
	}()
	if err := e.seekServed(ctx); err != nil || len(e.served.clients) == 0 {
		return after, err
	}
	if err := e.renew(ctx); err != nil {
		return after, err
	}
	for n := 1; n <= times; n++ {
		var o teasel.Observation
		if err := e.ask(ctx, e.served.clients[0].in, &o); err != nil {
			return after, err
		}
		if o.Exit <= teasel.ExitRejected {
			continue
		}
		if v := &e.evidence; n >= wear.Least && v.Fault == judge.FaultDeath && (ending{v.Signal, v.Status}) == how {
			after = wear.Amount{Messages: e.sent, Connections: e.connections}
		}
		break
	}
	return after, e.hangUpAll()
}

package netproto

import (
	"context"

	"github.com/teaselfuzz/teasel/netproto/conn"
)

// Some servers, such as the examples and tests of a library, have one conversation and end with status 0 when the client closes
// the connection. That is no fault of theirs: they are started anew for the next conversation.

// noteOnce looks whether the server has ended so after its first connection, on which nothing was sent. One that does not come to rest
// after it is started anew before the first dialogue.
func (e *executor) noteOnce(ctx context.Context) error {
	if e.server == nil || e.address.Network == conn.Stdio {
		return e.rest(ctx)
	}
	state, err := e.server.Settle(ctx, nil, e.early(e.target.Timeout), e.target.Timeout)
	if state == conn.Spinning || state == conn.Stuck { // a dialogue without messages shows that; it is no fault of the ones that come next
		e.down = true
	}
	if err != nil || state != conn.Ended {
		return err
	}
	if err := e.server.Stop(); err != nil {
		return err
	}
	d := e.server.Death()
	e.once, e.down = d.Signal == 0 && d.Code == 0, true
	return nil
}

// succeed puts another server in the place of one that has ended with the conversation before.
func (t *talk) succeed(ctx context.Context) error {
	if !t.e.once {
		return nil
	}
	if err := t.rest(ctx); err != nil || !t.e.down {
		return err
	}
	t.over, t.cut = false, false
	return t.e.renew(ctx)
}

package session

import (
	"context"

	"github.com/teaselfuzz/teasel"
)

// Exchange returns the exchange of a worker in another process that takes turns with the executors of other campaigns: it
// waits for its turn where it calls the hub. close gives up the turn.
func (l *Share) Exchange(x teasel.Exchange) (waiting teasel.Exchange, close func()) {
	t := &turn{share: l}
	return &exchange{x, t}, t.leave
}

type exchange struct {
	x    teasel.Exchange
	turn *turn
}

// Sync implements [teasel.Exchange]. The news does not wait.
func (e *exchange) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	leaving := n.Leaving || n.Died
	r, err := e.x.Sync(ctx, n)
	if err != nil || leaving {
		return r, err
	}
	return r, e.turn.enter(ctx)
}

package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/teaselfuzz/teasel"
)

var _ teasel.Exchange = (*Client)(nil)

// Client is the worker's end of a connection. One goroutine at a time uses it.
type Client struct {
	l *line

	owed   int          // replies that are still to come
	back   teasel.Reply // what has come and was not returned yet, from calls that were given up
	unsent teasel.News  // news of calls that were given up before it was sent
}

// Dial greets the parent at the other end of rw, whose Close must end reads and writes in progress, as that of a [net.Conn]
// or of [Inherit] does. ctx is for the greeting alone: the last news of a worker is sent when its context has ended. The
// connection ends with Close, or when the parent is gone or hung. rw is closed then, and if Dial fails.
func Dial(ctx context.Context, rw io.ReadWriteCloser, c Config) (*Client, error) {
	r, err := greet(ctx, rw, &c, true)
	if err != nil {
		rw.Close()
		return nil, fmt.Errorf("connecting to the parent: %w", err)
	}
	return &Client{l: open(context.WithoutCancel(ctx), rw, r, c.silence())}, nil
}

// Sync implements [teasel.Exchange]. When ctx ends before the reply is there, the connection stays usable, and the next
// call returns what that reply brought. News that was not sent then goes with the next call.
func (c *Client) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	after(&n, &c.unsent)
	c.unsent = teasel.News{}
	select {
	case c.l.out <- message{News: &n}:
		c.owed++
	case <-ctx.Done():
		c.unsent = n
		return teasel.Reply{}, fmt.Errorf("calling the hub: %w", ctx.Err())
	case <-c.l.mute:
		c.l.end(c.l.lost)
		return teasel.Reply{}, fmt.Errorf("calling the hub: %w", c.l.err)
	case <-c.l.done:
		return teasel.Reply{}, fmt.Errorf("calling the hub: %w", c.l.err)
	}
	var last *reply
	for c.owed > 0 {
		select {
		case m := <-c.l.in:
			if c.owed--; m.Reply == nil {
				return teasel.Reply{}, errors.New("calling the hub: expected a reply, got news")
			}
			last = m.Reply
			c.back.Entries = append(c.back.Entries, last.Entries...)
			c.back.Errands = append(c.back.Errands, last.Errands...)
			c.back.Unstable = append(c.back.Unstable, last.Unstable...)
		case <-ctx.Done():
			return teasel.Reply{}, fmt.Errorf("calling the hub: %w", ctx.Err())
		case <-c.l.done:
			return teasel.Reply{}, fmt.Errorf("calling the hub: %w", c.l.err)
		}
	}
	back := c.back
	back.Stopped, back.Wait = last.Stopped, last.Wait
	c.back = teasel.Reply{}
	switch {
	case last.Stop:
		return back, teasel.ErrStop
	case last.Err != "":
		return back, fmt.Errorf("calling the hub: %s", last.Err)
	}
	return back, nil
}

// after puts what has happened since earlier news behind it.
func after(n, earlier *teasel.News) {
	n.Entries = append(earlier.Entries, n.Entries...)
	n.Findings = append(earlier.Findings, n.Findings...)
	n.Unconfirmed = append(earlier.Unconfirmed, n.Unconfirmed...)
	n.Sightings = append(earlier.Sightings, n.Sightings...)
	n.Advances = append(earlier.Advances, n.Advances...)
	n.Unstable = append(earlier.Unstable, n.Unstable...)
	n.Finished = append(earlier.Finished, n.Finished...)
	n.Stages = append(earlier.Stages, n.Stages...)
	n.Notes = append(earlier.Notes, n.Notes...)
	n.Seeds = append(earlier.Seeds, n.Seeds...)
	n.Executions += earlier.Executions
	n.Messages += earlier.Messages
}

// Close ends the connection.
func (c *Client) Close() error {
	c.l.close(errClosed)
	return nil
}

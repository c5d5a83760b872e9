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

	owed int          // replies that are still to come
	back teasel.Reply // what has come and was not returned yet, from calls that were given up
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
// call returns what that reply brought.
func (c *Client) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	select {
	case c.l.out <- message{News: &n}:
		c.owed++
	case <-ctx.Done():
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
	back.Stopped = last.Stopped
	c.back = teasel.Reply{}
	switch {
	case last.Stop:
		return back, teasel.ErrStop
	case last.Err != "":
		return back, fmt.Errorf("calling the hub: %s", last.Err)
	}
	return back, nil
}

// Close ends the connection.
func (c *Client) Close() error {
	c.l.close(errClosed)
	return nil
}

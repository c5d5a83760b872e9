package pipe

import (
	"context"
	"errors"
	"fmt"
	"io"
	"time"

	"github.com/teaselfuzz/teasel"
)

// Serve passes the calls of the worker at the other end of rw to x until the worker leaves, and returns nil when it has closed the
// connection, or [Config].Silence after that. rw's Close
// must end reads and writes in progress, as that of a [net.Conn] or of the ends of [os.Pipe] does; rw is closed when Serve
// returns. The error says that the worker has died (it wraps [io.ErrUnexpectedEOF]), is hung, does not fit
// ([ErrVersion]), that ctx has ended, or what x failed with. In each of these cases x has learned that the worker is gone,
// and the caller ends its process if that is still running.
//
// The end of ctx ends the connection at once, without the worker's last news. To end a campaign, stop its hub, and workers
// leave by themselves.
func Serve(ctx context.Context, rw io.ReadWriteCloser, x teasel.Exchange, c Config) error {
	left, err := serve(ctx, rw, x, &c)
	if left {
		return nil
	}
	var last teasel.News
	ended := ctx.Err() != nil
	if !ended && c.Died != nil {
		last = c.Died()
	}
	last.Leaving, last.Died, last.Pending = ended, !ended, true
	if _, e := x.Sync(context.WithoutCancel(ctx), last); e != nil && !errors.Is(e, teasel.ErrStop) {
		err = errors.Join(err, e)
	}
	return fmt.Errorf("serving a worker: %w", err)
}

func serve(ctx context.Context, rw io.ReadWriteCloser, x teasel.Exchange, c *Config) (left bool, err error) {
	r, err := greet(ctx, rw, c, false)
	if err != nil {
		rw.Close()
		return false, err
	}
	l := open(ctx, rw, r, c.silence())
	defer l.close(errClosed)
	var limit <-chan time.Time // for a worker that has left to close the connection
	for {
		var m message
		select {
		case m = <-l.in:
		case <-limit:
			return left, nil
		case <-l.done:
			return left, died(l.err)
		}
		if m.News == nil {
			return false, errors.New("expected news, got a reply")
		}
		got, err := x.Sync(ctx, *m.News)
		left = left || err == nil && m.News.Leaving
		if errors.Is(err, teasel.ErrStop) {
			left = left || m.News.Leaving
		}
		back := &reply{Reply: got}
		switch {
		case errors.Is(err, teasel.ErrStop):
			back.Stop = true
		case err != nil:
			back.Err = err.Error()
		}
		select {
		case l.out <- message{Reply: back}:
		case <-l.mute:
			return left, l.lost
		case <-l.done:
			return left, died(l.err)
		}
		if left && limit == nil {
			limit = time.After(c.silence())
		}
	}
}

// died returns the error for a connection that the worker has ended.
func died(err error) error {
	if errors.Is(err, io.EOF) {
		return io.ErrUnexpectedEOF
	}
	return err
}

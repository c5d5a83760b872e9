package conn

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"slices"
	"strings"
	"syscall"
	"time"
)

// A link is one connection of an [HTTP] after the other, and the goroutine that writes requests to it and reads the responses.
type link struct {
	http *HTTP
	work chan job

	conn   *socket          // nil: there is none
	source io.LimitedReader // conn
	reader *bufio.Reader    // of source
	stream *bufio.Reader    // of a response that is an event stream; nil: there was none
	held   bool             // what is read now has a place in [HTTP.large]
	used   bool             // conn has carried a request and its response
	mute   bool             // nothing came of conn in the place of a response
	keep   func() bool      // has conn not be closed by the end of a job
}

// A job is a request to a link, and the context that ends when it is given up.
type job struct {
	ctx context.Context
	*request
}

const (
	dialEvery = 20 * time.Millisecond  // a server that does not listen yet is tried again
	maxHead   = 1 << 18                // bytes, of the head of a response and of all that come before it
	endTime   = 500 * time.Millisecond // the most that a process takes to end after its connections, or a server to end a session
)

var errCut = errors.New("the connection was cut")

// run takes requests until the connection is closed.
func (l *link) run() {
	defer l.hangUp()
	for {
		select {
		case j := <-l.work:
			if !l.exchange(j.ctx, j.request) || j.apart {
				return
			}
		case <-l.http.closing:
			return
		}
	}
}

// exchange writes a request and passes on what comes of it. False: nobody listens any more.
func (l *link) exchange(ctx context.Context, r *request) bool {
	defer r.cancel()
	res, err := l.respond(ctx, r)
	if err == nil {
		err = l.pass(ctx, r, res)
		if r.once || res.Close || err != nil || !l.keep() || l.http.habit.closes() {
			l.hangUp()
		}
		if err == nil {
			l.used = true
			return true
		}
	}
	l.forget()
	f := Frame{Status: NoResponse, Err: err}
	if res == nil && l.used && l.mute {
		f.Status = MaybeUnread
	}
	l.hangUp()
	var end error
	switch {
	case errors.Is(err, ErrFlood):
		end = ErrFlood
	case isLocal(err):
		end = fmt.Errorf("%w: %w", ErrLocal, err)
	case ctx.Err() == nil:
		end = l.end(ctx, err)
	}
	if end != nil {
		return l.http.say(event{ended: end})
	}
	return l.last(r, f)
}

// respond writes a request and reads the head of the response. A connection that the server has closed meanwhile, as it may when nothing
// was on it for a while, is no reason for the request to fail. A request of which anything was written is not written again, as in
// net/http: the server might carry it out twice.
func (l *link) respond(ctx context.Context, r *request) (*http.Response, error) {
	sent := false
	defer func() {
		if !sent {
			l.http.unsent.Add(-1)
		}
	}()
	switch {
	case l.conn == nil:
	case l.reader.Buffered() > 0 || l.conn.stale():
		l.http.habit.closed.Add(1)
		l.hangUp()
	case r.cut || r.fresh: // what waits on a connection would be lost with one that is cut
		l.hangUp()
	}
	for {
		used := l.conn != nil
		if !used {
			if err := l.connect(ctx); err != nil {
				return nil, err
			}
		}
		conn := l.conn
		l.keep = context.AfterFunc(ctx, func() { conn.Close() })
		r.wrote = time.Now()
		n, err := conn.Write(r.bytes)
		r.conn.Store(conn)
		if !sent {
			sent = true
			l.http.unsent.Add(-1)
		}
		switch {
		case err == nil && r.cut:
			return nil, errCut
		case err == nil:
			res, err := l.head(r)
			if used && err == nil {
				l.http.habit.kept.Add(1)
			}
			return res, err
		case n > 0:
			return l.refusal(r, err)
		case !used, ctx.Err() != nil:
			return nil, err
		}
		l.hangUp()
	}
}

// refusal reads the head of the response to a request that the server has not read to its end: it may have answered that its head or body
// is too large, and closed the connection, which failed what was still to be written. That one is closed says that the read does not wait.
func (l *link) refusal(r *request, err error) (*http.Response, error) {
	res, none := l.head(r)
	if none != nil {
		return nil, err
	}
	r.once = true
	return res, nil
}

// head reads the head of the response to a request.
func (l *link) head(r *request) (*http.Response, error) {
	l.source.N = maxHead
	defer func() { l.source.N = math.MaxInt64 }()
	for {
		res, err := http.ReadResponse(l.reader, &http.Request{Method: r.method})
		l.mute = err != nil && l.source.N == maxHead
		if err != nil && l.source.N <= 0 {
			err = ErrFlood
		}
		if err != nil || res.StatusCode >= 200 || res.StatusCode == http.StatusSwitchingProtocols {
			return res, err
		}
	}
}

// connect connects to the server. One that was never reached may be about to listen.
func (l *link) connect(ctx context.Context) error {
	c := l.http
	for began := time.Now(); ; {
		conn, err := dial(ctx, &c.cfg)
		if err == nil {
			c.heard.Store(true)
			l.used, l.mute = false, false
			l.conn = &socket{Conn: conn}
			l.source.R = l.conn
			l.reader = bufio.NewReaderSize(&l.source, 1<<14)
			return nil
		}
		if c.heard.Load() || time.Since(began) >= c.cfg.Start || c.cfg.hasEnded() {
			return err
		}
		select {
		case <-time.After(dialEvery):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isLocal reports whether a connection has failed for want of something on this machine.
func isLocal(err error) bool {
	return slices.ContainsFunc([]error{syscall.EMFILE, syscall.ENFILE, syscall.EADDRNOTAVAIL, syscall.ENOBUFS, syscall.ENOMEM}, func(why error) bool { return errors.Is(err, why) })
}

// hangUp closes the connection.
func (l *link) hangUp() {
	if l.conn != nil {
		l.conn.Close()
		l.conn = nil
	}
}

// end returns why nothing more comes of a server, one of whose connections has failed; nil: something may. One whose process is ours and
// that is about to exit has closed them before.
func (l *link) end(ctx context.Context, err error) error {
	if l.http.cfg.Ended != nil {
		var conn net.Conn
		if conn, err = dial(ctx, &l.http.cfg); err == nil {
			conn.Close()
			return nil
		}
		select {
		case <-l.http.cfg.Ended:
			return io.EOF
		case <-time.After(endTime):
		case <-ctx.Done():
		}
	}
	if errors.Is(err, syscall.ECONNREFUSED) {
		return ErrRefused
	}
	return nil
}

// pass passes on what a response has. Without an error its body was read to the end; with one the connection is of no more use. To close the
// body would read the rest, which may have no end.
func (l *link) pass(ctx context.Context, r *request, res *http.Response) error {
	kind, _, _ := strings.Cut(res.Header.Get("Content-Type"), ";")
	if strings.EqualFold(strings.TrimSpace(kind), "text/event-stream") && res.StatusCode < 300 {
		return l.events(ctx, r, res)
	}
	var body bytes.Buffer
	_, err := body.ReadFrom(io.LimitReader(res.Body, smallSize+1))
	if body.Len() > smallSize {
		if err = l.hold(ctx); err != nil {
			return err
		}
		_, err = body.ReadFrom(io.LimitReader(res.Body, maxLine-smallSize))
	}
	switch {
	case body.Len() > maxLine:
		return ErrFlood
	case err != nil && body.Len() == 0:
		return err
	}
	r.once = r.once || err != nil
	if !l.last(r, Frame{Body: trimmed(body.Bytes()), Status: res.StatusCode, Header: res.Header, Err: err}) {
		return net.ErrClosed
	}
	return nil
}

// events passes on the events of a stream. What has another type than a message is none, as to every client.
func (l *link) events(ctx context.Context, r *request, res *http.Response) error {
	if l.stream == nil {
		l.stream = bufio.NewReader(nil)
	}
	l.stream.Reset(res.Body)
	events := eventReader{r: l.stream, hold: func() error { return l.hold(ctx) }}
	for {
		v, err := events.next()
		switch {
		case err == io.EOF:
			if !l.last(r, Frame{Status: res.StatusCode, Header: res.Header}) {
				return net.ErrClosed
			}
			return nil
		case err != nil:
			return err
		case v.name != "" && v.name != "message" && !(v.name == "endpoint" && l.http.cfg.Events):
			v.data = nil
		}
		if len(v.data)+len(v.id) == 0 {
			l.forget()
		} else if !l.say(event{name: v.name, frame: Frame{Body: v.data, EventID: v.id, Wrote: r.wrote, Exchange: r.exchange, Status: res.StatusCode, Header: res.Header}}) {
			return net.ErrClosed
		}
	}
}

// hold takes a place for a large frame.
func (l *link) hold(ctx context.Context) error {
	if l.held {
		return nil
	}
	l.http.starved.Add(1)
	defer l.http.starved.Add(-1)
	select {
	case l.http.large <- struct{}{}:
		l.held = true
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// forget gives up the place of what is read no further.
func (l *link) forget() {
	if l.held {
		<-l.http.large
		l.held = false
	}
}

// say passes an event on, with the place that its frame has.
func (l *link) say(e event) bool {
	e.large, l.held = l.held, false
	return l.http.say(e)
}

// last passes on the last frame of an exchange.
func (l *link) last(r *request, f Frame) bool {
	f.Exchange, f.Last, f.Wrote = r.exchange, true, r.wrote
	e := event{frame: f, link: l}
	if r.apart {
		e.link = nil
	}
	return l.say(e)
}

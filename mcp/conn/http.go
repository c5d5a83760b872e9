package conn

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// HTTPConfig is how a server is reached over HTTP.
type HTTPConfig struct {
	URL         *url.URL
	Header      []string                         // lines of every request's head, "Name: value"
	TLS         *tls.Config                      // of https; nil: the defaults
	Connections int                              // in use at a time, those apart left out; 0: 64
	Ended       <-chan struct{}                  // is closed when the server's process has ended; nil: it is not ours
	Events      bool                             // HTTP+SSE of 2024-11-05: what the server says comes on one stream, which names where to post
	Dial        func(connect func() error) error // calls connect on a thread that is in the server's network; nil: that is ours
	Start       time.Duration                    // how long a server is waited for that does not listen yet
}

const defaultConnections = 64

// hasEnded reports whether the process of the server, if that is ours, has ended.
func (c *HTTPConfig) hasEnded() bool {
	select {
	case <-c.Ended:
		return true
	default:
		return false
	}
}

// HTTP is a connection over Streamable HTTP. A message is a POST, and each event of its response is a frame; so is a response that is
// one JSON text. The session id that the server gives is in the head of each request from then on.
//
// A message's Head is what of a request's head is different, one change a line. A first line without a colon is the method, and the
// target after a space: "DELETE" or "GET /other". "Name: value" stands in the place of the line of that name, or beside the others if
// there is none; "Name:" leaves it out. What begins with "+" is added behind the others as it stands, whatever it is. The connection of
// such a request is not used for another one.
type HTTP struct {
	cfg     HTTPConfig
	context func() (context.Context, context.CancelFunc) // of a request; it ends with the connection
	cancel  context.CancelFunc                           // of all
	closing <-chan struct{}
	links   sync.WaitGroup
	events  chan event
	bounds
	timer *time.Timer

	agreed
	stream
	places
	body    []byte // of a message that goes on
	unsent  atomic.Int32
	heard   atomic.Bool // the server has been reached
	habit   habit
	numbers int64 // of exchanges that were given out
	total   int64
	ended   error    // why nothing more comes; nil: something may
	ending  bool     // it is about to be closed
	others  []string // sessions that began while it was
}

// agreed is what the head of each request says of the session.
type agreed struct {
	session string // Mcp-Session-Id
	version string // MCP-Protocol-Version
}

// stream is what is known of the one on which a server says all with [HTTPConfig.Events].
type stream struct {
	posts string // the target of requests; "": the stream has not named it yet
	asked bool   // for the stream
}

var _ Conn = (*HTTP)(nil)

// bounds are what keeps the memory for frames that were not received bounded: a large one takes a place before it is read.
type bounds struct {
	large    chan struct{}
	starved  atomic.Int32 // links that wait for a place
	returned int          // places of frames that the next Recv forgets
}

const (
	maxLarge  = 4       // frames
	smallSize = 1 << 18 // bytes, of those that are not large
)

// A request is a message on its way.
type request struct {
	exchange  int64
	method    string
	bytes     []byte // as they go on the wire
	once      bool   // no other request may follow on the same connection
	apart     bool
	abandoned bool                   // it was released before it had a link
	cut       bool                   // the connection is closed as soon as it is written
	fresh     bool                   // the connection is a new one
	released  time.Time              // when it was, if it has a link, or was given one; zero: it was not
	cancel    context.CancelFunc     // gives it up; nil: it has no link
	wrote     time.Time              // when
	conn      atomic.Pointer[socket] // on which it was written; nil: it was not
}

// An event is what a link has to say.
type event struct {
	frame Frame
	name  string // of a server-sent event
	large bool   // its frame has a place in [HTTP.large]
	link  *link  // that takes the next request; nil: it does not
	ended error  // nothing more comes from this server
}

// NewHTTP returns a connection to a server, which is reached when the first message is flushed.
func NewHTTP(c HTTPConfig) *HTTP {
	if c.Connections == 0 {
		c.Connections = defaultConnections
	}
	if c.Events { // what comes says nothing about order
		c.Connections = 1
	}
	ctx, cancel := context.WithCancel(context.Background())
	h := &HTTP{cfg: c, cancel: cancel, closing: ctx.Done(), places: places{busy: make(map[int64]*request)}, events: make(chan event, 256), bounds: bounds{large: make(chan struct{}, maxLarge)}, timer: time.NewTimer(time.Hour)}
	h.context = func() (context.Context, context.CancelFunc) { return context.WithCancel(ctx) }
	return h
}

// dial connects to the server.
func dial(ctx context.Context, c *HTTPConfig) (net.Conn, error) {
	port := c.URL.Port()
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[c.URL.Scheme]
	}
	if c.Dial != nil {
		return dialInside(ctx, c, port)
	}
	address := net.JoinHostPort(c.URL.Hostname(), port)
	if c.URL.Scheme != "https" {
		return new(net.Dialer).DialContext(ctx, "tcp", address)
	}
	return (&tls.Dialer{Config: c.TLS}).DialContext(ctx, "tcp", address)
}

// dialInside connects to a server in a network of its own. A socket belongs to the network of the thread that makes it, so that the
// addresses of a name are tried one after the other, all on that thread.
func dialInside(ctx context.Context, c *HTTPConfig, port string) (found net.Conn, err error) {
	addresses, err := net.DefaultResolver.LookupHost(ctx, c.URL.Hostname())
	if err != nil {
		return nil, err
	}
	err = c.Dial(func() (err error) {
		for _, a := range addresses {
			if found, err = new(net.Dialer).DialContext(ctx, "tcp", net.JoinHostPort(a, port)); err == nil {
				return nil
			}
		}
		return err
	})
	if err != nil || c.URL.Scheme != "https" {
		return found, err
	}
	config := c.TLS.Clone()
	if config == nil {
		config = new(tls.Config)
	}
	if config.ServerName == "" {
		config.ServerName = c.URL.Hostname()
	}
	secure := tls.Client(found, config)
	if err := secure.HandshakeContext(ctx); err != nil {
		return nil, errors.Join(err, found.Close())
	}
	return secure, nil
}

// SetVersion has each request from now on name the protocol version that was agreed on.
func (c *HTTP) SetVersion(version string) { c.version = version }

// Session returns the id of the session; "": the server has given none.
func (c *HTTP) Session() string { return c.session }

func (c *HTTP) Send(m Message) (exchange int64) {
	if c.body = append(c.body, m.Body...); m.More {
		return 0
	}
	r := c.request(&m)
	c.body = c.body[:0]
	c.numbers++
	r.exchange = c.numbers
	c.busy[r.exchange] = r
	if r.apart {
		c.apart = append(c.apart, r)
		c.unawaited++
	} else {
		c.queue = append(c.queue, r)
	}
	return r.exchange
}

// Flush hands what is queued to connections. It never waits: what finds none goes when an exchange is over.
func (c *HTTP) Flush(context.Context, time.Duration) error {
	if c.ended != nil {
		c.queue, c.apart, c.abandoned = nil, nil, nil
		return ErrBroken
	}
	if c.cfg.Events && !c.asked {
		c.asked = true
		c.start(c.request(&Message{Head: "GET"}), c.link())
	}
	c.assign()
	return nil
}

func (c *HTTP) Recv(ctx context.Context, until time.Time, frames []Frame) ([]Frame, error) {
	for ; c.returned > 0; c.returned-- {
		<-c.large
	}
	for {
		for range len(c.events) {
			frames = c.take(<-c.events, frames)
		}
		switch {
		case len(frames) > 0:
			return frames, nil
		case c.ended != nil:
			return frames, c.ended
		}
		c.assign()
		now := time.Now()
		wait := min(until.Sub(now), Slice)
		if wait <= 0 && c.unsent.Load() > 0 { // a link is about to write
			wait = time.Until(until.Add(Slice))
		}
		switch {
		case ctx.Err() != nil:
			return frames, ctx.Err()
		case wait <= 0:
			return frames, nil
		}
		c.timer.Reset(wait)
		select {
		case e := <-c.events:
			frames = c.take(e, frames)
		case <-c.timer.C:
			if c.cfg.hasEnded() && len(c.events) == 0 { // a little later, so that what it has said last has come
				c.ended = io.EOF
			}
		case <-ctx.Done():
		}
	}
}

// take notes what a link has said.
func (c *HTTP) take(e event, frames []Frame) []Frame {
	if e.ended != nil {
		c.ended = e.ended
		return frames
	}
	f := e.frame
	if e.large {
		c.returned++
	}
	c.total += int64(len(f.Body))
	c.noteSession(&f)
	if f.Last {
		c.over(f.Exchange)
	}
	if f.Last && e.link != nil {
		c.idle = append(c.idle, e.link)
		c.assign()
	}
	if c.cfg.Events {
		return c.takeEvent(e, frames)
	}
	return append(frames, f)
}

// Unread takes an exchange that was released for one that goes on, as long as its response mostly takes to end: something may follow the
// answer. What has a connection of its own goes on while anything is on its way there.
func (c *HTTP) Unread() bool {
	if len(c.busy) > c.unawaited {
		return true
	}
	for _, r := range c.busy {
		switch conn := r.conn.Load(); {
		case !r.apart && time.Since(r.released) < graceTime:
			return true
		case r.apart && r.cancel != nil && (conn == nil || conn.moves()):
			return true
		}
	}
	return false
}

// noteSession notes the session that a response gives, and when the connection is about to end those that others give: nobody else will end them.
func (c *HTTP) noteSession(f *Frame) {
	id := f.Header.Get("Mcp-Session-Id")
	switch r := c.busy[f.Exchange]; {
	case id == "" || id == c.session:
	case c.session == "":
		c.session = id
	case c.ending && f.Last && r != nil && !bytes.Contains(r.bytes, []byte(id)): // else the request has named it
		c.others = append(c.others, id)
	}
}

// CloseSend ends the session, if the server has given it an id, and waits for that and for what nobody waits for, but not for long. What is on
// its way may begin a session, so that it waits for that first.
func (c *HTTP) CloseSend() error {
	if c.ended != nil || c.cfg.Events {
		return nil
	}
	c.ending = true
	c.awaitWhile(func() bool { return len(c.busy) > c.unawaited })
	var ends []int64
	if c.session != "" {
		ends = append(ends, c.Send(Message{Head: "DELETE", Apart: true}))
	}
	for _, id := range c.others {
		ends = append(ends, c.Send(Message{Head: "DELETE\nMcp-Session-Id: " + id, Apart: true}))
	}
	c.awaitWhile(func() bool {
		return len(c.abandoned)+c.begun > 0 || slices.ContainsFunc(ends, func(x int64) bool { return c.busy[x] != nil })
	})
	return nil
}

// awaitWhile receives while exchanges are not over that are waited for, but not for long after one was.
func (c *HTTP) awaitWhile(any func() bool) {
	ctx, until := context.Background(), time.Now().Add(endTime)
	if c.Flush(ctx, endTime) != nil {
		return // the server is gone, and its sessions with it
	}
	for any() && time.Now().Before(until) {
		frames, err := c.Recv(ctx, until, nil)
		switch {
		case err != nil:
			return
		case slices.ContainsFunc(frames, func(f Frame) bool { return f.Last }):
			until = time.Now().Add(endTime)
		}
	}
}

func (c *HTTP) Received() int64 { return c.total }

// Close ends all connections, and waits for what reads them.
func (c *HTTP) Close() error {
	if c.cancel == nil {
		return nil
	}
	c.cancel()
	c.cancel = nil
	c.links.Wait()
	c.timer.Stop()
	return nil
}

// say passes an event on, unless nobody listens any more.
func (c *HTTP) say(e event) bool {
	select {
	case c.events <- e:
		return true
	case <-c.closing:
		return false
	}
}

// trimmed returns a text that may be a message without the space around it.
func trimmed(b []byte) []byte { return bytes.Trim(b, " \t\r\n") }

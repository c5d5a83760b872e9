package conn

import (
	"slices"
	"time"
)

// places is which requests have a connection, and which wait for one.
type places struct {
	queue     []*request
	apart     []*request // that have not begun
	abandoned []*request // of those, the ones that nobody waits for
	idle      []*link
	open      int                // links that take one request after the other
	busy      map[int64]*request // the exchanges that are not over
	unawaited int                // of those, how many are apart or released
	begun     int                // of those, how many were abandoned before they began, and have
}

const (
	maxApart  = 64                     // connections of messages that have one of their own and that nobody waits for
	graceTime = 100 * time.Millisecond // how long an exchange that nobody waits for keeps its place: mostly its response is at its end
	writeTime = 2 * time.Second        // the same while its request is still to be written, as one has to be that ends a session
)

// assign gives queued requests to links.
func (c *HTTP) assign() {
	if c.cfg.Events && c.posts == "" {
		return
	}
	for _, r := range c.apart {
		c.start(r, c.link())
	}
	c.apart = c.apart[:0]
	for ; len(c.abandoned) > 0 && c.begun < maxApart; c.begun++ {
		c.start(c.abandoned[0], c.link())
		c.abandoned = slices.Delete(c.abandoned, 0, 1)
	}
	for l := c.place(); l != nil; l = c.place() {
		c.start(c.queue[0], l)
		c.queue = slices.Delete(c.queue, 0, 1)
	}
	if len(c.queue)+len(c.abandoned) > 0 || c.starved.Load() > 0 {
		c.makeRoom()
	}
}

// place returns a link for the next request in the queue; nil: there is none, or no request.
func (c *HTTP) place() (l *link) {
	switch last := len(c.idle) - 1; {
	case len(c.queue) == 0:
	case last >= 0:
		l, c.idle = c.idle[last], c.idle[:last]
	case c.open < c.cfg.Connections:
		c.open++
		l = c.link()
	}
	return l
}

// makeRoom cuts the connections of exchanges that nobody waits for, where others wait for theirs.
func (c *HTTP) makeRoom() {
	if c.unawaited == 0 {
		return
	}
	for _, r := range c.busy {
		grace := graceTime
		if r.conn.Load() == nil {
			grace = writeTime
		}
		waits := len(c.queue) > 0 && !r.apart || len(c.abandoned) > 0 && r.abandoned || c.starved.Load() > 0
		if waits && r.cancel != nil && !r.released.IsZero() && time.Since(r.released) > grace {
			r.cancel()
		}
	}
}

// start has a link send a request.
func (c *HTTP) start(r *request, l *link) {
	if !r.released.IsZero() {
		r.released = time.Now()
	}
	if c.posts != "" {
		r.bytes = c.retarget(r)
	}
	c.unsent.Add(1)
	j := job{request: r}
	j.ctx, r.cancel = c.context()
	l.work <- j
}

// Drop cuts the connection of an exchange.
func (c *HTTP) Drop(exchange int64) {
	switch r := c.busy[exchange]; {
	case r == nil:
	case r.cancel != nil:
		r.cancel()
	default:
		for _, queue := range []*[]*request{&c.queue, &c.apart, &c.abandoned} {
			*queue = slices.DeleteFunc(*queue, func(q *request) bool { return q == r })
		}
		c.over(exchange)
	}
}

func (c *HTTP) Release(exchange int64) {
	r := c.busy[exchange]
	if r == nil || !r.released.IsZero() {
		return
	}
	if r.released = time.Now(); !r.apart {
		c.unawaited++
	} else if r.cancel == nil {
		r.abandoned = true
		c.apart = slices.DeleteFunc(c.apart, func(q *request) bool { return q == r })
		c.abandoned = append(c.abandoned, r)
	}
}

func (c *HTTP) Queued(exchange int64) bool {
	return c.busy[exchange] != nil && c.busy[exchange].cancel == nil
}

// over notes that an exchange is.
func (c *HTTP) over(exchange int64) {
	r := c.busy[exchange]
	if r != nil && (r.apart || !r.released.IsZero()) {
		c.unawaited--
	}
	if r != nil && r.abandoned && r.cancel != nil {
		c.begun--
	}
	delete(c.busy, exchange)
}

// link starts a link.
func (c *HTTP) link() *link {
	l := &link{http: c, work: make(chan job, 1)}
	c.links.Go(l.run)
	return l
}

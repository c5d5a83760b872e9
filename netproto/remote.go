package netproto

import (
	"context"
	"errors"
	"os"
	"time"

	"github.com/teaselfuzz/teasel/netproto/conn"
)

// patience is how long to wait for an answer of a server that cannot be asked whether it is done: it follows how long answers
// take, as TCP's retransmission timer does (RFC 6298).
type patience struct {
	mean, deviation time.Duration
}

const (
	leastPatience = 2 * time.Millisecond
	firstPatience = 200 * time.Millisecond
	// mostPatience is how many times the limit a server may take for one answer that goes on and on. What comes later is taken for
	// part of the next one.
	mostPatience = 10
)

// limit is how long an answer may take to begin, or to go on.
func (p *patience) limit(most time.Duration) time.Duration {
	if p.mean == 0 {
		return min(firstPatience, most)
	}
	return min(max(p.mean+4*p.deviation, leastPatience), most)
}

// learn takes in how long an answer took.
func (p *patience) learn(took time.Duration) {
	if p.mean == 0 {
		p.mean, p.deviation = took, took/2
		return
	}
	p.deviation += ((took - p.mean).Abs() - p.deviation) / 4
	p.mean += (took - p.mean) / 8
}

// hearRemote takes in the answer to message i of a server that somebody else has started. It ends where the model says that a
// response does, or when nothing more comes.
func (t *talk) hearRemote(ctx context.Context, i int) error {
	e := t.e
	began, first := time.Now(), len(e.buffer) == 0
	for e.link.End() == conn.EndOpen && time.Since(began) < mostPatience*t.limit {
		if t.complete() {
			break
		}
		err := e.link.Await(ctx, e.patience.limit(t.limit))
		if errors.Is(err, os.ErrDeadlineExceeded) {
			break
		}
		if err != nil {
			return err
		}
		if first {
			e.patience.learn(time.Since(began))
		}
		if err := t.receive(); err != nil || t.over {
			return err
		}
		first = false
	}
	t.understand(i)
	return nil
}

// complete reports whether the model says that the whole of an answer has come.
func (t *talk) complete() bool {
	e := t.e
	if e.target.Model == nil || len(e.buffer) == 0 {
		return false
	}
	_, complete := e.session.Frame(e.buffer, false)
	return complete || e.datagrams
}

// dial makes a connection.
func (e *executor) dial(ctx context.Context) (*conn.Connection, error) {
	limit := max(e.target.Timeout, firstPatience)
	if e.served.strange {
		return e.server.ConnectAsStranger(ctx, limit)
	}
	if e.server != nil {
		return e.server.Connect(ctx, limit)
	}
	return conn.Dial(ctx, e.address, limit)
}

// rest waits until the server sleeps.
func (e *executor) rest(ctx context.Context) error {
	if e.server == nil || !e.server.Running() {
		return nil
	}
	_, err := e.server.Settle(ctx, nil, e.target.Timeout, e.target.Timeout)
	return err
}

func (e *executor) usage() (u conn.Usage) {
	if e.server != nil && e.server.Running() {
		u = e.server.Usage()
	}
	return u
}

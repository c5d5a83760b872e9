package run

import (
	"context"
	"time"
)

const alwaysRun = 16 // requests of a script that is run whatever the limit

// tooMany reports whether the limit of requests makes the script take longer than an answer may.
func (k *talk) tooMany() bool {
	r := k.e.target.Rate
	if r == nil {
		return false
	}
	n := 0
	for i := range k.in.Steps {
		n += k.meter.Least(max(k.in.Steps[i].Times, 1))
	}
	return n > alwaysRun && float64(n) > float64(r.Limit())*k.e.target.timeout().Seconds()
}

// slot takes the next turn to send a line, after a turn for each other request that the server was sent since, and yields until it comes. False:
// the talk is at its end.
func (k *talk) slot() bool {
	r := k.e.target.Rate
	if r == nil {
		return true
	}
	now := time.Now()
	for range k.server.uncounted() {
		r.ReserveN(now, 1)
	}
	wait := r.ReserveN(now, 1).DelayFrom(now)
	if wait == 0 {
		return true
	}
	k.paced = now.Add(wait)
	ok := k.yield(struct{}{})
	k.paced = time.Time{}
	return ok && k.state == talking
}

// goOn lets a talk go on until it awaits an answer. While it waits for its turn to send, what comes is received.
func (e *executor) goOn(ctx context.Context, k *talk) error {
	for k.next(); !k.paced.IsZero(); k.next() {
		if _, err := e.flush(ctx, k.server); err != nil {
			return err
		}
		for now := time.Now(); now.Before(k.paced); now = time.Now() {
			if e.receive(ctx, k.server, k.paced) == nil {
				continue
			}
			select { // the server has ended, which the next wait will see
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(k.paced.Sub(now)):
			}
		}
	}
	return nil
}

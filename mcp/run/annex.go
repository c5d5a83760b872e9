package run

import (
	"context"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel/mcp/script"
)

const (
	expensiveLooks = 3               // at a spare process at rest, after which nobody else wants it
	expensiveTime  = 3 * time.Second // without one, after which a script does not wait for it
	maxExpensive   = 128             // scripts that wait
	maxQueued      = 32              // of these, beyond which no mutated one joins them
)

// annex runs scripts that need a process of their own, one at a time, while its executor goes on: they mostly wait.
type annex struct {
	e      *executor     // knows what the server is, and learns for itself; nil: nothing was run yet
	back   chan struct{} // closed when a script is through; nil: none is run
	cancel context.CancelFunc
	err    error
}

// postpone sets aside a script that needs a process of its own until there is one that has loaded, and reports whether it
// has. Its observation is handed out later: when depends on the clock, and it may be never. A mutated one that would wait
// for long is not run at all.
func (e *executor) postpone(i int) bool {
	l := e.lanes[i]
	if l.in.Start != script.Fresh || e.quick || e.target.Exact {
		return false
	}
	mutated, room := l.in.Check == "", maxExpensive
	if mutated {
		room = maxQueued
	}
	if len(e.expensive) >= room {
		l.skip = mutated
		return mutated
	}
	e.lanes[i] = &lane{in: l.in, obs: l.obs, skip: true}
	l.own()
	e.expensive = append(e.expensive, l)
	return true
}

// catchUp takes back a script from the annex, and gives it another one when its time has come.
func (e *executor) catchUp(ctx context.Context) error {
	a := &e.annex
	if a.back != nil {
		select {
		case <-a.back:
			if err := e.takeBack(); err != nil {
				return err
			}
		default:
			return nil
		}
	}
	if len(e.expensive) == 0 {
		return nil
	}
	if a.e == nil {
		a.e = newExecutor(e.target.aside(pettyNiceness), e.session)
		a.e.annexed = true
		a.e.learn()
	}
	a.e.startup, a.e.slowest, a.e.queued = e.startup, e.slowest, len(e.expensive)
	if err := a.e.warmUp(); err != nil {
		return err
	}
	if !a.e.rested(expensiveLooks) && time.Since(a.e.spares[0].born) < expensiveTime {
		return nil
	}
	l := e.expensive[0]
	e.expensive = slices.Delete(e.expensive, 0, 1)
	a.e.queued = len(e.expensive)
	ctx, a.cancel = context.WithCancel(ctx)
	a.back = make(chan struct{})
	go func() {
		defer close(a.back)
		if a.err = a.e.rerun(ctx, l, false); ctx.Err() != nil {
			a.err = nil
		}
	}()
	return nil
}

// takeBack waits for the annex and takes over what it was given.
func (e *executor) takeBack() error {
	a := &e.annex
	<-a.back
	a.cancel()
	a.back = nil
	e.back = append(e.back, a.e.back...)
	a.e.back = nil
	return a.err
}

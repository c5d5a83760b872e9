package process

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// Campaign is one run over a typed test. Test must be set. It is read only while it runs.
type Campaign struct {
	Test      *Test
	Seeds     [][]byte      // encoded, see [Test.Describe]
	Workers   int           // 0: 1
	Duration  time.Duration // time that is paused not counted; 0: no limit
	Pause     *teasel.Pause // holds the campaign up; nil: nothing does
	Reporters []teasel.Reporter
	Source    teasel.Source // of what others know while it runs, its inputs encoded as Seeds are; nil: none
	// Exchange wraps the hub's exchange for one worker process; nil: it is not wrapped. It is called once per process; close,
	// if it is not nil, is called when that process has ended.
	Exchange func(x teasel.Exchange) (wrapped teasel.Exchange, close func())
}

// endTime is how long workers have to leave when the campaign ends, after which their processes are killed.
const endTime = 4 * time.Second

// Run fuzzes until ctx ends, a limit is reached, or something of ours fails. Everything it starts has ended when it returns.
// The summary is valid with an error too.
func (c *Campaign) Run(ctx context.Context) (teasel.Summary, error) {
	h := &teasel.Hub{Pool: NewPool(), Reporters: c.Reporters, Pause: c.Pause}
	for _, s := range c.Seeds {
		h.Seed(s)
	}
	// Workers leave when the hub tells them to, with what they have found last.
	working, kill := context.WithCancel(context.WithoutCancel(ctx))
	defer kill()
	end := func(cause string) {
		h.Stop(cause)
		time.AfterFunc(endTime, kill)
	}
	defer context.AfterFunc(ctx, func() { end("interrupted") })()
	if c.Duration > 0 {
		defer c.Pause.AfterFunc(c.Duration, func() { end("duration") })()
	}
	err := c.run(working, h)
	cause := "runs" // unless something else has stopped it
	if runs := c.Test.Runs; runs == 0 || h.Summary().Executions < runs {
		cause = "values" // the workers have left by themselves
	}
	h.Stop(cause)
	err = errors.Join(err, h.Progress(proc.Held()))
	return h.Summary(), err
}

// run starts the workers and the clock and waits for all of them.
func (c *Campaign) run(ctx context.Context, h *teasel.Hub) error {
	n := max(1, c.Workers)
	errs := make([]error, n+2)
	beside, stop := context.WithCancel(ctx)
	var workers, others sync.WaitGroup
	errands := make(chan teasel.Errand, errandsHeld)
	others.Go(func() {
		if errs[n] = c.tick(beside, h, errands); errs[n] != nil {
			h.Stop("failed")
		}
	})
	others.Go(func() {
		if errs[n+1] = c.confirm(beside, h, n, errands); errs[n+1] != nil {
			h.Stop("failed")
		}
	})
	for i := range n {
		t := *c.Test
		if t.Runs = c.Test.Runs / uint64(n); uint64(i) < c.Test.Runs%uint64(n) {
			t.Runs++
		}
		if c.Test.Runs > 0 && t.Runs == 0 {
			continue
		}
		workers.Go(func() {
			if errs[i] = t.work(ctx, h, i, c.Exchange); errs[i] != nil {
				h.Stop("failed")
			}
		})
	}
	workers.Wait()
	stop()
	others.Wait()
	return errors.Join(errs...)
}

// tick reports once a second where the campaign stands, and brings what the source has when the workers have run all that it brought before. It
// hands on what errands there is room for.
func (c *Campaign) tick(ctx context.Context, h *teasel.Hub, errands chan<- teasel.Errand) error {
	t := time.NewTicker(time.Second)
	defer t.Stop()
	var waiting []teasel.Errand
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-t.C:
		}
		waiting = handOn(errands, waiting)
		if err := h.Progress(proc.Held()); err != nil {
			return err
		}
		if c.Source == nil || h.Summary().Waiting > 0 {
			continue
		}
		s, err := c.Source.Pull(ctx)
		if err != nil && ctx.Err() != nil {
			return nil
		}
		waiting = handOn(errands, append(waiting, s.Errands...))
		s.Errands = nil // no worker takes them
		if err == nil {
			err = h.Take(s)
		}
		if err != nil {
			return fmt.Errorf("pulling from the source: %w", err)
		}
	}
}

// handOn hands on what there is room for, and returns the rest: this machine has taken it, so that no other does.
func handOn(errands chan<- teasel.Errand, waiting []teasel.Errand) []teasel.Errand {
	for len(waiting) > 0 {
		select {
		case errands <- waiting[0]:
			waiting = waiting[1:]
		default:
			return waiting
		}
	}
	return nil
}

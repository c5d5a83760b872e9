package process

import (
	"context"
	"errors"
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/exchange/pipe"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/policy"
)

// NewPool returns the pool that the hub of a campaign over a typed test has to have: its workers have the same.
func NewPool() teasel.Pool { return policy.Compose(teasel.NewPool(), policy.NewMaximal()) }

// Work is one worker of the hub's campaign, in as many processes one after another as it takes. It returns when the hub
// says stop, ctx ends, or the worker has made its Runs. number tells workers apart. Seeds are the caller's to give to the
// hub; see [Test.Describe].
func (t *Test) Work(ctx context.Context, h *teasel.Hub, number int) error {
	return t.work(ctx, h, number, nil)
}

func (t *Test) work(ctx context.Context, h *teasel.Hub, number int, between func(teasel.Exchange) (teasel.Exchange, func())) error {
	w := &worker{t: t, h: h, number: number, between: between, deaths: map[string]int{}}
	for {
		more, err := w.run(ctx)
		if err != nil || !more {
			return err
		}
	}
}

// worker is one worker of a campaign.
type worker struct {
	t      *Test
	h      *teasel.Hub
	number int
	draws  uint64
	deaths map[string]int // attempts to reproduce a finding
	idle   int            // processes in a row that ended before they ran anything

	between func(teasel.Exchange) (teasel.Exchange, func()) // see [Campaign]
}

// The settings are a variable of the environment, which has little room.
const (
	mostConstants    = 128
	longestConstants = 16 << 10 // bytes
)

// constants returns as many as there is room for.
func (t *Test) constants() (out [][]byte) {
	size := 0
	for _, c := range t.Constants {
		if size += len(c); len(out) == mostConstants || size > longestConstants {
			break
		}
		out = append(out, []byte(c))
	}
	return out
}

// join returns an exchange of the campaign, and what has to be called when it is not used any more.
func (w *worker) join() (teasel.Exchange, func()) {
	if w.between == nil {
		return w.h.Join(), func() {}
	}
	return w.between(w.h.Join())
}

// idleLimit is how many processes may end without having run an input before the worker gives up.
const idleLimit = 3

// run runs one process to its end and reports whether there is to be another one.
func (w *worker) run(ctx context.Context) (more bool, err error) {
	runs := w.t.Runs
	if runs > 0 {
		if runs -= min(runs, w.draws); runs == 0 {
			return false, nil
		}
	}
	c, err := w.t.start(ctx, link.Settings{Mode: link.Work, Worker: w.number, Seed: w.t.Seed, Draws: w.draws, Runs: runs, Tries: w.t.Tries, Constants: w.t.constants()})
	if err != nil {
		return false, err
	}
	x, over := w.join()
	served := pipe.Serve(ctx, pipe.Files(c.answers, c.requests), x, pipe.Config{})
	status := c.wait()
	over()
	defer func() { err = errors.Join(err, c.page.Close()) }()
	w.draws += c.page.Draws()
	switch _, running := c.page.Phase(); {
	case c.page.Finished():
		return false, served
	case ctx.Err() != nil || w.h.Summary().Stopped != "":
		return false, nil
	case !running && status.ExitStatus() == 2 && c.page.Draws() == 0:
		return false, fmt.Errorf("the test process of %s: %s", w.t.Name, c.stderr)
	case !running:
		if w.idle++; w.idle >= idleLimit {
			return false, errors.Join(fmt.Errorf("the test process of %s ended %d times between two inputs: exit status %d: %s", w.t.Name, w.idle, status.ExitStatus(), c.stderr), served)
		}
		return true, nil
	}
	w.idle = 0
	return true, w.died(ctx, c, status)
}

package process

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/exchange/pipe"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/policy"
)

// NewPool returns the pool that the hub of a campaign over a typed test has to have: its workers have the same.
func NewPool() teasel.Pool { return policy.Compose(teasel.NewPool(), policy.NewMaximal()) }

// work is one worker of the hub's campaign, in as many processes one after another as it takes. It returns when the hub
// says stop, ctx ends, or the worker has made its Runs. number tells workers apart. Seeds are the caller's to give to the
// hub; see [Test.Describe].
func (t *Test) work(ctx context.Context, h *teasel.Hub, number int, between func(teasel.Exchange) (teasel.Exchange, func())) error {
	w := &worker{t: t, h: h, number: number, between: between, deaths: map[string]int{}, began: time.Now()}
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

	began      time.Time
	unreported uint64 // executions that the hub does not know of

	between func(teasel.Exchange) (teasel.Exchange, func()) // see [Campaign]
}

// join returns an exchange of the campaign, and what has to be called when it is not used any more.
func (w *worker) join() (teasel.Exchange, func()) {
	x, end := w.h.Join(), func() {}
	if w.between != nil {
		var over func()
		if x, over = w.between(x); over != nil {
			end = over
		}
	}
	return x, end
}

// counted adds up the executions that a process reports, so that those that it dies with are known, and those that its test has not skipped.
type counted struct {
	teasel.Exchange
	executions uint64
	page       *link.Page
	tested     uint64         // that were added to total
	total      *atomic.Uint64 // see [Test]
	check      func(context.Context, *teasel.News) error
}

// Sync implements teasel.Exchange.
func (c *counted) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	c.executions += n.Executions
	c.count()
	if err := c.check(ctx, &n); err != nil {
		return teasel.Reply{}, err
	}
	return c.Exchange.Sync(ctx, n)
}

// count adds the executions that the test has not skipped since the last call.
func (c *counted) count() {
	if c.total != nil {
		n := c.page.Tested()
		c.total.Add(n - c.tested)
		c.tested = n
	}
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
	settings := link.Settings{Mode: link.Work, Worker: w.number, Seed: w.t.Seed, Draws: w.draws, Runs: runs, Tries: w.t.Tries, Elapsed: time.Since(w.began), Stages: w.t.Stages, MinimizeRuns: min(w.t.MinimizeRuns, 0)}
	if w.t.Statistics != "" {
		dir, err := filepath.Abs(w.t.Statistics) // the process is in another directory
		if err != nil {
			return false, fmt.Errorf("writing statistics: %w", err)
		}
		settings.Statistics = link.SeriesFile(dir, w.number)
	}
	c, err := w.t.start(ctx, settings)
	if err != nil {
		return false, err
	}
	x, over := w.join()
	count := &counted{Exchange: x, page: c.page, total: w.t.Tested, check: w.check}
	served := pipe.Serve(ctx, pipe.Files(c.answers, c.requests), count, pipe.Config{})
	status := c.wait()
	over()
	count.count()
	defer func() { err = errors.Join(err, c.page.Close()) }()
	w.draws += c.page.Draws()
	if c.page.Finished() {
		return false, served
	}
	w.unreported += c.page.Draws() - min(c.page.Draws(), count.executions)
	_, running := c.page.Phase()
	if ctx.Err() != nil && status.Signaled() && status.Signal() == syscall.SIGKILL { // it was we who ended it
		running = false
	}
	if running || len(c.page.Failures()) > 0 {
		w.idle = 0
		err := w.died(ctx, c, running, status)
		return !w.stopping(ctx), err
	}
	if w.stopping(ctx) {
		return false, w.publish(ctx, teasel.News{})
	}
	if status.ExitStatus() == 2 && c.page.Draws() == 0 {
		return false, fmt.Errorf("the test process of %s: %s", w.t.Name, c.stderr)
	}
	if w.idle++; w.idle >= idleLimit {
		return false, errors.Join(fmt.Errorf("the test process of %s ended %d times between two inputs: exit status %d: %s", w.t.Name, w.idle, status.ExitStatus(), c.stderr), served)
	}
	return true, nil
}

// stopping reports whether the campaign comes to its end.
func (w *worker) stopping(ctx context.Context) bool {
	return ctx.Err() != nil || w.h.Summary().Stopped != ""
}

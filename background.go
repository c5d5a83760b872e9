package teasel

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// background reproduces and minimises findings on an executor of its own while its worker fuzzes. Of the pending jobs it
// steps the one that costs least for what it is worth: a quick finding is confirmed immediately, however many slow ones there are, and no
// finding waits for the minimising of another that is no worse. With a limit on runs there is no background, because the clock decides when
// its jobs end.
type background[T any] struct {
	runner[T]
	opened  bool
	ready   atomic.Bool // there is something to collect
	cancel  context.CancelFunc
	done    chan struct{}
	timers  [2]*time.Timer // that end the time which finish has given
	severe  atomic.Bool    // some job is
	arrived *sync.Cond     // signals mu: there are jobs, or it is to end

	mu           sync.Mutex
	inbox        []*job[T]
	open         int // jobs that have not ended
	reports      []report[T]
	until        time.Time // when to end; zero: not yet
	held         bool      // the campaign is paused
	minimizeOnly bool      // no more findings are wanted: those that are published are minimised
	ended        bool

	jobs    []*job[T] // owned by its goroutine, as are all below
	current *job[T]
	extras  []extra[T]      // of the job that is stepped
	seen    map[string]bool // IDs of findings that were reported as extras
}

// report is what has become of a job since the last one.
type report[T any] struct {
	job        *job[T]
	finding    Finding // a copy of the job's
	names      []string
	ended      bool
	improved   bool // finding is to be published
	extras     []extra[T]
	executions uint64
	messages   uint64
	class      class
	err        error
	failed     bool // the executor could not be opened: err says why, and the worker takes the job
}

// extra is a finding other than the one being confirmed, with the input that it was seen with.
type extra[T any] struct {
	in      T
	history []T // what the target had run before, the input the last; nil: unknown, or that has no part in it
	finding Finding
	from    origin[T]
	cost    uint64 // of an attempt
	short   bool   // it is a hang that did not have all of its time
	crash   bool   // the target has crashed
}

// newExtra returns a finding that was seen in an observation.
func newExtra[T any](in T, f *Finding, from origin[T], o *Observation, timed bool) extra[T] {
	return extra[T]{in: in, finding: *f, from: from, cost: attemptCost(o, timed), short: o.cutShort(), crash: o.Exit == ExitCrash}
}

// startBackground starts the goroutine. It opens the executor when there is a first job.
func startBackground[T any](ctx context.Context, c *Campaign[T], number int) *background[T] {
	b := &background[T]{done: make(chan struct{}), seen: map[string]bool{}}
	b.arrived = sync.NewCond(&b.mu)
	ctx, b.cancel = context.WithCancel(context.WithoutCancel(ctx))
	go func() {
		defer close(b.done)
		b.loop(ctx, c, number)
	}()
	return b
}

// add hands over a job that has not been stepped. False: the background has ended, could not be opened, or has a backlog and
// the job is not slow.
func (b *background[T]) add(j *job[T]) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ended || j.cost < slowFind && b.open >= backlog {
		return false
	}
	b.open++
	b.inbox = append(b.inbox, j)
	if j.severe() && !b.minimizeOnly { // the time that it is given does not wait for the step that is taken now
		b.severe.Store(true)
	}
	b.arrived.Signal()
	return true
}

// collect returns what has become of jobs since the last call.
func (b *background[T]) collect() []report[T] {
	if !b.ready.Swap(false) {
		return nil
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	rs := b.reports
	b.reports = nil
	return rs
}

// finish lets the background go on for a time, and longer while findings that are more than low are unconfirmed. minimizeOnly says that no
// more findings are wanted: then it only minimises those that are published.
func (b *background[T]) finish(grace, longer time.Duration, minimizeOnly bool) {
	b.mu.Lock()
	b.until, b.minimizeOnly = time.Now().Add(grace), minimizeOnly
	b.arrived.Signal()
	b.mu.Unlock()
	b.timers[0] = time.AfterFunc(longer, b.cancel)
	b.timers[1] = time.AfterFunc(grace, func() {
		if !b.severe.Load() {
			b.cancel()
		}
	})
}

// hold has the background begin no request, or go on. The end of the campaign lets it go on too.
func (b *background[T]) hold(held bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.held = held
	b.arrived.Signal()
}

// wait returns what has become of jobs when all of them have ended and the executor is closed. It is called after finish.
func (b *background[T]) wait() []report[T] {
	<-b.done
	b.timers[0].Stop()
	b.timers[1].Stop()
	b.cancel()
	return b.collect()
}

func (b *background[T]) report(r report[T]) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if r.ended {
		b.open--
	}
	b.reports = append(b.reports, r)
	b.ready.Store(true)
}

// runnable waits for jobs and returns those that may be stepped. None: it is time to end.
func (b *background[T]) runnable() []*job[T] {
	b.mu.Lock()
	defer b.mu.Unlock()
	for (b.held || len(b.jobs)+len(b.inbox) == 0) && b.until.IsZero() {
		b.arrived.Wait()
	}
	b.jobs = append(b.jobs, b.inbox...)
	b.inbox = nil
	b.severe.Store(!b.minimizeOnly && slices.ContainsFunc(b.jobs, (*job[T]).severe))
	switch {
	case !b.until.IsZero() && !time.Now().Before(b.until) && !b.severe.Load():
		return nil
	case b.minimizeOnly:
		return slices.DeleteFunc(slices.Clone(b.jobs), func(j *job[T]) bool { return j.request.class != classMinimize })
	}
	return b.jobs
}

func (b *background[T]) loop(ctx context.Context, c *Campaign[T], number int) {
	err := error(nil)
	for jobs := b.runnable(); len(jobs) > 0 && err == nil; jobs = b.runnable() {
		if !b.opened {
			ex, e := c.Target.Open(ctx, Role{Worker: number, Background: true})
			if e != nil {
				b.refuse(fmt.Errorf("opening the background executor: %w", e))
				return
			}
			b.runner, b.opened = newRunner(c, ex), true
			b.judge = b.observed
		}
		err = b.stepNext(ctx, jobs)
	}
	if ctx.Err() != nil {
		err = nil // the time for it is over
	}
	b.end(err)
}

// refuse gives all jobs back to the worker, which has an executor of its own.
func (b *background[T]) refuse(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.ended = true
	for _, j := range append(b.jobs, b.inbox...) {
		b.reports = append(b.reports, report[T]{job: j, failed: true, err: err})
	}
	b.jobs, b.inbox = nil, nil
	b.ready.Store(true)
}

// stepNext executes one request of the job that is first in the order of jobs.
func (b *background[T]) stepNext(ctx context.Context, jobs []*job[T]) (err error) {
	j := slices.MinFunc(jobs, (*job[T]).order)
	b.current, b.extras = j, nil
	q := requester[T]{mut: b.mut, codec: b.codec, width: b.size, timed: true}
	r := report[T]{job: j, class: j.request.class}
	if !j.started() {
		j.step(q, nil)
	} else {
		began, before, messages := time.Now(), b.executions, b.messages
		var obs []Observation
		if obs, err = b.perform(ctx, &j.request); err == nil {
			j.step(q, obs)
		}
		j.cost += uint64(time.Since(began))
		r.executions, r.messages = b.executions-before, b.messages-messages
	}
	if j.ended {
		b.jobs = slices.DeleteFunc(b.jobs, func(o *job[T]) bool { return o == j })
	}
	r.extras, r.ended, r.finding, r.names, r.improved = b.extras, j.ended, j.finding, slices.Clone(j.names), j.version != j.published
	if r.ended || r.improved || len(r.extras) > 0 || r.executions > 0 {
		j.published = j.version
		b.report(r)
	}
	return err
}

// end stops the jobs that are left, here where they were started, and closes the executor.
func (b *background[T]) end(err error) {
	if b.opened {
		err = errors.Join(err, b.ex.Close())
	}
	if err != nil { // before the worker learns that jobs have ended without a result
		b.report(report[T]{err: fmt.Errorf("confirming in the background: %w", err)})
	}
	b.mu.Lock()
	b.ended = true
	b.jobs = append(b.jobs, b.inbox...)
	b.inbox = nil
	b.mu.Unlock()
	for _, j := range b.jobs {
		j.cancel()
		b.report(report[T]{job: j, ended: true, finding: j.finding})
	}
	b.jobs = nil
}

// observed judges an observation: findings other than the one being confirmed go to the worker.
func (b *background[T]) observed(_ context.Context, _ int, in T, o *Observation) error {
	findings, err := detect(b.dets, o)
	if err != nil {
		return err
	}
	o.findings = findings
	for i := range o.findings {
		f := &o.findings[i]
		id := f.ID()
		reproduced := b.request.reproduces(f, id)
		if !reproduced && (o.cutShort() || b.seen[id] || len(b.seen) >= maxExtras) {
			f.Describe = nil
			continue
		}
		f.describe()
		if reproduced {
			continue
		}
		b.seen[id] = true
		input, data, err := b.clone(in)
		if err != nil {
			return err
		}
		f.Original = data
		s := newExtra(input, f, origin[T]{b.current.parent, b.current.stage}, o, true)
		if b.past != nil {
			s.history = b.past.History(o)
		}
		b.extras = append(b.extras, s)
	}
	return nil
}

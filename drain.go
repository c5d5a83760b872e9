package teasel

import (
	"context"
	"errors"
)

// end finishes all jobs when the loop has ended with error why: it executes their requests while there is time, and stops the
// others. It returns our failures.
func (w *Worker[T]) end(ctx context.Context, why error) (err error) {
	if !errors.Is(why, ErrStop) && ctx.Err() == nil {
		err = why
	}
	grace, longer, minimizeOnly := endTime, endTime, w.cause == stoppedFindings
	if w.cause == stoppedDuration || errors.Is(context.Cause(ctx), errDuration) {
		longer = w.c.longerEnd()
	}
	if ctx.Err() != nil { // executions in flight had their part
		grace, longer = grace-graceTime, longer-graceTime
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	longest, cancel := context.WithTimeout(context.WithoutCancel(ctx), longer)
	defer cancel()
	if w.limit > 0 && ctx.Err() == nil { // runs are counted, and not time
		last, longest = ctx, ctx
	}
	if err == nil {
		if e := w.finishInFlight(last); e != nil && !errors.Is(e, ErrStop) && !endedBy(ctx, e) && !endedBy(last, e) {
			err = e
		}
	}
	err = errors.Join(err, w.judgeInFlight(context.WithoutCancel(ctx)))
	bg := w.background
	w.background = nil // jobs that start from now on are the worker's
	if bg != nil {
		if err != nil {
			grace, longer = 0, 0
		}
		bg.finish(grace, longer, minimizeOnly)
	}
	if err == nil {
		err = w.drain(last, longest, minimizeOnly)
	}
	if bg != nil {
		w.draining = true
		err = errors.Join(err, w.apply(bg.wait()))
	}
	if w.draining { // answers that came while the last jobs ran
		err = errors.Join(err, w.collectLate(context.WithoutCancel(ctx)))
	}
	for c := range classes {
		for w.queue.len(c) > 0 {
			j := w.queue.take(c)
			w.dropped = w.dropped || c == classKeep && j.parent == nil
			j.cancel()
			err = errors.Join(err, w.finish(j))
		}
	}
	return err
}

// endedBy reports whether an error says no more than that a context has ended.
func endedBy(ctx context.Context, err error) bool {
	return ctx.Err() != nil && errors.Is(err, ctx.Err())
}

// drain executes the requests of the jobs that are left, the most severe findings first: all until last has ended, and then those whose
// finding is severe and not confirmed until longest has. minimizeOnly says that no more findings are wanted: then it only minimises those
// that are published.
func (w *Worker[T]) drain(last, longest context.Context, minimizeOnly bool) error {
	w.draining = true
	for {
		c, ok := w.nextDrained(minimizeOnly)
		if !ok {
			return nil
		}
		ctx := last
		if w.queue.first(c).severe() {
			ctx = longest
		}
		err := w.step(ctx, c)
		if err != nil && !endedBy(ctx, err) {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
		if len(w.news.Findings) == 0 {
			continue
		}
		if err := w.publish(context.WithoutCancel(ctx)); err != nil && !errors.Is(err, ErrStop) {
			return err
		}
	}
}

// nextDrained returns the class of the next job to drain; false: there is none.
func (w *Worker[T]) nextDrained(minimizeOnly bool) (class, bool) {
	for _, c := range [...]class{classConfirm, classBisect, classMinimize, classKeep} {
		if w.queue.len(c) > 0 && (!minimizeOnly || c == classMinimize) {
			return c, true
		}
	}
	return 0, false
}

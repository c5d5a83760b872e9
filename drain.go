package teasel

import (
	"context"
	"errors"
)

// end finishes all jobs when the loop has ended with why: what there is time for by executing, the others by stopping them. It
// returns our failures.
func (w *Worker[T]) end(ctx context.Context, why error) (err error) {
	if !errors.Is(why, ErrStop) && ctx.Err() == nil {
		err = why
	}
	grace, enough := endTime, w.cause == stoppedFindings
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), grace)
	defer cancel()
	if w.limit > 0 && ctx.Err() == nil { // runs are counted, and not time
		last = ctx
	}
	if err == nil {
		if e := w.land(last); e != nil && !errors.Is(e, ErrStop) && !endedBy(ctx, e) && !endedBy(last, e) {
			err = e
		}
	}
	err = errors.Join(err, w.salvage(context.WithoutCancel(ctx)))
	behind := w.behind
	w.behind = nil // what comes up from now on is the worker's
	if behind != nil {
		if err != nil {
			grace = 0
		}
		behind.finish(grace, enough)
	}
	if err == nil {
		err = w.drain(last, enough)
	}
	if behind != nil {
		w.draining = true
		err = errors.Join(err, w.take(behind.wait()))
	}
	for c := range classes {
		for w.queue.len(c) > 0 {
			j := w.queue.take(c)
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

// drain executes the requests of the jobs that are left, the most severe findings first. enough says that no more findings are
// wanted: then it only makes simpler those that there are.
func (w *Worker[T]) drain(ctx context.Context, enough bool) error {
	w.draining = true
	for {
		c, ok := w.left(enough)
		if !ok {
			return nil
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

// left returns the class of the next job to be drained. enough says that only the minimising of findings is left.
func (w *Worker[T]) left(enough bool) (class, bool) {
	for _, c := range [...]class{classConfirm, classBisect, classMinimize, classKeep} {
		if w.queue.len(c) > 0 && (!enough || c == classMinimize) {
			return c, true
		}
	}
	return 0, false
}

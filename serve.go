package teasel

import (
	"context"
	"errors"
	"slices"
)

// pressing reports whether jobs are due that are worth interrupting the pipeline for.
func (w *Worker[T]) pressing() bool {
	for c := classBisect; c < classes; c++ {
		if w.queue.len(c) > 0 && w.meter.affords(c) {
			return true
		}
	}
	n := w.queue.len(classKeep)
	if !w.seeded {
		return false
	}
	return n >= keepBatch || n > 0 && w.waited >= keepBatches
}

// triage executes requests of jobs that are due, unless now is false and they may wait, and publishes news.
func (w *Worker[T]) triage(ctx context.Context, now bool) error {
	if w.background != nil {
		if err := w.collect(); err != nil {
			return err
		}
	}
	if now && !w.queue.empty() {
		if err := w.serve(ctx); err != nil {
			return err
		}
	}
	if len(w.news.Findings) > 0 || w.due() {
		return w.publish(ctx)
	}
	return nil
}

// serve executes requests until none is due.
func (w *Worker[T]) serve(ctx context.Context) error {
	if w.executing { // called while finishInFlight judges a batch
		return nil
	}
	w.executing = true
	defer func() { w.executing = false }()
	if err := w.finishInFlight(ctx); err != nil {
		return err
	}
	w.waited = 0
	for {
		c, ok := w.dueClass()
		if !ok {
			return nil
		}
		if err := w.step(ctx, c); err != nil {
			return err
		}
		if len(w.news.Findings) > 0 || w.due() {
			if err := w.publish(ctx); err != nil {
				return err
			}
		}
	}
}

// dueClass returns the first class that has a job and work left for it.
func (w *Worker[T]) dueClass() (class, bool) {
	for c := range classes {
		if !w.seeded && c != classBisect && c != classConfirm { // each seed runs once before more is made of any
			continue
		}
		if w.queue.len(c) > 0 && w.meter.affords(c) {
			return c, true
		}
	}
	return 0, false
}

// step executes the next request of a class, together with others that fit into the same batch.
func (w *Worker[T]) step(ctx context.Context, c class) error {
	jobs, err := w.pack(c)
	if err != nil || len(jobs) == 0 {
		return err
	}
	q := jobs[0].request
	serving := w.serving[:0]
	if len(jobs) > 1 {
		q.ins = nil
		for _, j := range jobs {
			q.ins = append(q.ins, j.request.ins...)
		}
	}
	for _, j := range jobs {
		for range j.request.ins {
			serving = append(serving, j)
		}
	}
	obs, err := w.answer(ctx, &q, serving)
	if err != nil {
		w.queue.add(jobs...) // end finishes them
		return err
	}
	for i, j := range jobs {
		n := len(j.request.ins)
		answer := obs[:n:n]
		obs = obs[n:]
		if c == classKeep && slices.ContainsFunc(answer, func(o Observation) bool { return o.Exit == ExitLost }) {
			j.request.alone = true // so that it is known of which input the target dies
			w.queue.add(j)
			continue
		}
		if err := w.resume(j, answer); err != nil {
			w.queue.add(jobs[i+1:]...)
			return err
		}
	}
	return nil
}

// answer executes a request. jobs holds the job that asked for each input; nil: none did.
func (w *Worker[T]) answer(ctx context.Context, q *request[T], jobs []*job[T]) ([]Observation, error) {
	w.serving = jobs
	began, before := w.meter.now(), w.executions
	obs, err := w.perform(ctx, q)
	w.stages[w.row(rowClasses)+int(q.class)].Executions += w.executions - before
	w.meter.spent[q.class] += w.meter.now() - began
	if q.class == classKeep && slices.ContainsFunc(obs, func(o Observation) bool { return o.Exit == ExitLost }) {
		err = errors.Join(err, w.bisect(q.ins, obs, w.servedOrigin))
	}
	return obs, err
}

// pack takes the next jobs of a class whose requests make one batch. Jobs that have not begun are begun, since their first request
// is not known before.
func (w *Worker[T]) pack(c class) (jobs []*job[T], err error) {
	size := 0
	for w.queue.len(c) > 0 {
		j := w.queue.first(c)
		if !j.started() {
			if err := w.resume(w.queue.take(c), nil); err != nil {
				w.queue.add(jobs...)
				return nil, err
			}
			continue
		}
		q := &j.request
		fits := q.packable() && (size == 0 || q.ask.Quick == jobs[0].request.ask.Quick && size+len(q.ins) <= w.size)
		if len(jobs) > 0 && !fits {
			break
		}
		jobs = append(jobs, w.queue.take(c))
		if size += len(q.ins); !q.packable() {
			break
		}
	}
	return jobs, nil
}

// resume steps a job and queues it again, or finishes it.
func (w *Worker[T]) resume(j *job[T], obs []Observation) error {
	j.step(requester[T]{mut: w.mut, codec: w.codec, width: w.size, timed: !w.meter.counts}, obs)
	if j.version != j.published {
		j.published = j.version
		w.found(j.finding, j.names)
	}
	if j.ended {
		return w.finish(j)
	}
	w.queue.add(j)
	return nil
}

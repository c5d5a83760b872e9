package teasel

import (
	"context"
	"slices"
)

// calibrate runs an input again and leaves out what does not recur. nil: it does not end well every time.
func (w *Worker[T]) calibrate(ctx context.Context, in T, seen *Observation) (*Observation, error) {
	if w.c.Calibrate == 0 {
		return seen, nil
	}
	runs := w.c.Calibrate
	if seen.Dear {
		runs = 1
	}
	ins := slices.Repeat([]T{in}, runs)
	obs, err := w.rerun(ctx, ins, true)
	if err == nil && slices.ContainsFunc(obs, hasty) { // it is slow, perhaps, and no more
		obs, err = w.rerun(ctx, ins, false)
	}
	if err != nil {
		return nil, err
	}
	if i := slices.IndexFunc(obs, endsBadly); i >= 0 {
		w.suspect(in, &obs[i])
		return nil, nil
	}
	return w.common(seen, obs), nil
}

// calibrateAll calibrates the suspect that is next together with those behind it that promise what no other does, if there
// are any: batches cost least. One that does not end well each time is left to be calibrated by itself.
func (w *Worker[T]) calibrateAll(ctx context.Context) error {
	runs := w.c.Calibrate
	if w.batch == nil || runs == 0 || ctx.Err() != nil || !w.uncalibrated(&w.queue[0]) {
		return nil
	}
	var group []int // indices in the queue
	var ins []T
	promised := make(map[Feature]struct{})
	for i := range w.queue {
		s := &w.queue[i]
		if len(ins)+runs > len(w.slots) || s.obs.Dear || !w.uncalibrated(s) {
			continue
		}
		before := len(promised)
		for _, f := range s.obs.Features {
			promised[f] = struct{}{}
		}
		if len(promised) > before {
			group = append(group, i)
			ins = append(ins, slices.Repeat([]T{s.in}, runs)...)
		}
	}
	if len(group) < 2 {
		return nil
	}
	obs, err := w.rerun(ctx, ins, true)
	if err != nil {
		return err
	}
	for _, i := range group {
		own := obs[:runs]
		obs = obs[runs:]
		if s := &w.queue[i]; !slices.ContainsFunc(own, endsBadly) {
			s.again = w.common(&s.obs, own)
		}
	}
	return nil
}

// uncalibrated reports whether a suspect may be worth keeping and nothing else, and is still to be calibrated.
func (w *Worker[T]) uncalibrated(s *suspect[T]) bool {
	return s.again == nil && len(s.findings) == 0 && w.wants(&s.obs, s.in)
}

func endsBadly(o Observation) bool { return o.Exit > ExitRejected }

// hasty reports whether an execution was broken off before its time limit.
func hasty(o Observation) bool { return o.Exit == ExitHang && o.Ask.Quick }

func (w *Worker[T]) rerun(ctx context.Context, ins []T, quick bool) ([]Observation, error) {
	obs := make([]Observation, len(ins))
	return obs, w.exec(ctx, ins, obs, Ask{Features: true, Trace: true, Quick: quick}, judgeBad)
}

// common returns what has recurred each time that an input was run again.
func (w *Worker[T]) common(seen *Observation, obs []Observation) (full *Observation) {
	w.mask(seen, obs)
	for i := range obs {
		o := &obs[i]
		o.Trace = o.trace()
		o.Evidence = nil
		if full == nil {
			full = o
			continue
		}
		full.Work = min(full.Work, o.Work) // some first runs cost more
		full.Features = recurring(full.Features, o.Features)
		if o.Trace != full.Trace {
			full.Trace = 0
		}
	}
	if w.learner == nil { // the first sighting counts as well
		full.Features = recurring(full.Features, seen.Features)
	}
	w.drop(full)
	return full
}

// drop leaves the features out that are known not to recur.
func (w *Worker[T]) drop(o *Observation) {
	if len(w.unstable) > 0 {
		o.Features = slices.DeleteFunc(o.Features, func(f Feature) bool {
			_, unstable := w.unstable[f]
			return unstable
		})
	}
}

// mask notes and reports the features that only some executions of one input reach.
func (w *Worker[T]) mask(seen *Observation, obs []Observation) {
	all := true
	for i := range obs[1:] {
		all = all && slices.Equal(obs[i+1].Features, obs[0].Features)
	}
	if all && (w.learner != nil || slices.Equal(seen.Features, obs[0].Features)) {
		return
	}
	times, runs := map[Feature]int{}, len(obs)
	var order []Feature
	count := func(fs []Feature) {
		mine := map[Feature]struct{}{} // an executor may name a feature twice
		for _, f := range fs {
			if _, twice := mine[f]; twice {
				continue
			}
			if mine[f] = struct{}{}; times[f] == 0 {
				order = append(order, f)
			}
			times[f]++
		}
	}
	for i := range obs {
		count(obs[i].Features)
	}
	if w.learner == nil { // else what was seen first is news only
		count(seen.Features)
		runs++
	}
	for _, f := range order {
		if _, known := w.unstable[f]; times[f] < runs && !known {
			w.unstable[f] = struct{}{}
			w.news.Unstable = append(w.news.Unstable, f)
		}
	}
}

// recurring leaves of fs what is also in again. Mostly they are the same.
func recurring(fs, again []Feature) []Feature {
	if slices.Equal(fs, again) {
		return fs
	}
	known := make(map[Feature]struct{}, len(again))
	for _, f := range again {
		known[f] = struct{}{}
	}
	return slices.DeleteFunc(fs, func(f Feature) bool {
		_, ok := known[f]
		return !ok
	})
}

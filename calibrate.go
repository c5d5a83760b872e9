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
	return full
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

package teasel

import (
	"context"
	"fmt"
	"slices"
)

// wants reports whether the pool would keep an input with observation o, and no queued keep job has reserved the same features for
// an input that is as simple.
func (w *Worker[T]) wants(o *Observation, in T) bool {
	if len(o.Features)+len(o.Measures) == 0 {
		return false
	}
	w.mask(o)
	c := w.mut.Complexity(in)
	if !w.pool.Wants(o, c) {
		return false
	}
	if len(w.reserved) == 0 || len(o.Measures) > 0 {
		return true
	}
	for _, f := range o.Features {
		if have, ok := w.reserved[f]; !ok || c < have {
			return true
		}
	}
	return false
}

// mask removes the features that the whole campaign ignores as unstable.
func (w *Worker[T]) mask(o *Observation) {
	if len(w.unstable) > 0 {
		o.Features = slices.DeleteFunc(o.Features, func(f Feature) bool { return w.unstable[f] >= unstableTimes })
	}
}

// reserve records the features of a queued keep job, with the complexity of its input.
func (w *Worker[T]) reserve(fs []Feature, complexity float64) {
	for _, f := range fs {
		if have, ok := w.reserved[f]; !ok || complexity < have {
			w.reserved[f] = complexity
		}
	}
}

// release undoes reserve.
func (w *Worker[T]) release(fs []Feature, complexity float64) {
	for _, f := range fs {
		if w.reserved[f] == complexity {
			delete(w.reserved, f)
		}
	}
}

// propose starts a job for an input that the pool wants.
func (w *Worker[T]) propose(in T, o *Observation, from origin[T]) error {
	input, data, err := w.clone(in)
	if err != nil {
		return err
	}
	if w.holds(data) {
		return nil
	}
	seen := *o
	seen.Evidence, seen.findings = nil, nil
	seen.Features, seen.Measures = slices.Clone(o.Features), slices.Clone(o.Measures)
	j := &job[T]{name: "keep", parent: from.parent, stage: from.stage}
	j.result = result[T]{outcome: outcomeDropped, in: input, data: data, obs: seen}
	j.reserved, j.complexity = seen.Features, w.mut.Complexity(input)
	j.request.class = classKeep
	w.reserve(j.reserved, j.complexity)
	j.run = func(q *requester[T], r *result[T]) { w.keepJob(q, r, from.parent == nil) }
	w.queue.add(j)
	return nil
}

// keepJob calibrates an input and keeps it if the pool still wants it. All testcases that this worker finds come in here.
func (w *Worker[T]) keepJob(q *requester[T], r *result[T], seed bool) {
	if w.holds(r.data) || !w.pool.Wants(&r.obs, w.mut.Complexity(r.in)) { // something as good was kept since then
		return
	}
	if w.c.Calibrate > 0 {
		if !w.calibrate(q, r) {
			return
		}
	} else if w.c.Notes != nil && r.obs.Note == nil {
		o := q.do(request[T]{ins: []T{r.in}, ask: Ask{Features: true}, class: classKeep})[0]
		if o.failed() {
			return
		}
		r.obs.Note = o.Note
	}
	if !w.pool.Wants(&r.obs, w.mut.Complexity(r.in)) {
		return
	}
	r.outcome = outcomeKept
	r.trims = seed && r.obs.Trace != 0 && len(r.obs.Features) > 0 && !r.obs.Expensive && w.c.TrimRuns >= 0
}

// calibrate runs an input again and removes the features that do not recur. False: a run failed, and the input is not kept.
func (w *Worker[T]) calibrate(q *requester[T], r *result[T]) bool {
	seen, runs := r.obs, w.c.Calibrate
	if seen.Expensive {
		runs = 1
	}
	rerun := func(quick bool) []Observation {
		return q.do(request[T]{ins: slices.Repeat([]T{r.in}, runs), ask: Ask{Features: true, Trace: true, Quick: quick, Full: !quick}, class: classKeep, alone: !quick})
	}
	obs := rerun(true)
	if slices.ContainsFunc(obs, func(o Observation) bool { return o.cutShort() }) { // perhaps it is only slow
		obs = rerun(false)
	}
	if slices.ContainsFunc(obs, func(o Observation) bool { return o.failed() }) {
		return false
	}
	full := obs[0]
	full.Trace = full.trace()
	for i := range obs[1:] {
		o := &obs[i+1]
		full.Work = min(full.Work, o.Work) // some first runs cost more
		full.Features = r.recurring(full.Features, o.Features)
		full.Measures = leastMeasures(full.Measures, o.Measures)
		if o.trace() != full.Trace {
			full.Trace = 0
		}
	}
	if w.learner == nil { // the first execution reported all of its features too
		full.Features = r.recurring(full.Features, seen.Features)
	}
	full.Measures = leastMeasures(full.Measures, seen.Measures)
	w.mask(&full)
	r.obs = full
	return true
}

// recurring returns the features that are in both, and notes the others as unstable.
func (r *result[T]) recurring(fs, again []Feature) []Feature {
	if slices.Equal(fs, again) { // the usual case
		return fs
	}
	first, second := setOf(fs), setOf(again)
	for _, f := range again {
		if !first[f] {
			r.unstable = append(r.unstable, f)
		}
	}
	return slices.DeleteFunc(fs, func(f Feature) bool {
		if !second[f] {
			r.unstable = append(r.unstable, f)
		}
		return !second[f]
	})
}

func setOf(fs []Feature) map[Feature]bool {
	s := make(map[Feature]bool, len(fs))
	for _, f := range fs {
		s[f] = true
	}
	return s
}

// leastMeasures returns the measures that were taken both times, with the smaller value: a measure that varies, such as
// time, must not be credited with its highest value.
func leastMeasures(ms, again []Measure) []Measure {
	least := ms[:0]
	for _, m := range ms {
		for _, o := range again {
			if o.ID == m.ID {
				least = append(least, Measure{m.ID, min(m.Value, o.Value)})
				break
			}
		}
	}
	return least
}

// queueTrim starts a job that trims a seed, which is kept as it is until then: a few hundred executions for each would hold up all that
// can be done with them. What was made from a testcase is not trimmed: the pool prefers simpler inputs anyway, and
// the bytes that an input does not need for what it reaches are those that its mutants need to reach more. Trimming all of
// them has cost a fifth of the edges of libyaml at equal time.
func (w *Worker[T]) queueTrim(kept *job[T]) {
	tc := w.cases[w.keys[Key(kept.data)]]
	j := &job[T]{name: "trim", parent: tc, stage: w.row(rowClasses) + int(classTrim)}
	j.result = result[T]{outcome: outcomeDropped, in: kept.in, data: kept.data, obs: kept.obs}
	j.request.class = classTrim
	j.run = func(q *requester[T], r *result[T]) {
		if w.Holds(tc) && w.trim(q, r) && w.Holds(tc) {
			r.outcome = outcomeKept
		}
	}
	w.queue.add(j)
}

// trim makes an input simpler while it reaches exactly the same, and reports whether it has.
func (w *Worker[T]) trim(q *requester[T], r *result[T]) bool {
	budget := w.c.TrimRuns
	if budget == 0 {
		budget = defaultTrim
	}
	work, width := uint64(0), q.width
	if n := trimWork / max(r.obs.Work, 1); n < uint64(width) { // a whole batch would exceed trimWork
		width = max(int(n), 1)
	}
	in, _ := descend(q.mut, r.in, width, new(uint64), func(ins []T) (int, T, bool) {
		if budget -= len(ins); budget < 0 || work > trimWork || w.spent() {
			return -1, r.in, false
		}
		// Other features that the candidates reach are ignored: each candidate would be calibrated and trimmed in turn.
		obs := q.do(request[T]{ins: ins, ask: Ask{Trace: true, Quiet: true, Quick: true}, class: classTrim})
		for i := range obs {
			work += obs[i].Work
			if obs[i].failed() { // what costs a start of the target is not worth it
				return -1, r.in, false
			}
			if obs[i].trace() == r.obs.Trace {
				return i, ins[i], true
			}
		}
		return -1, r.in, true
	})
	if q.mut.Complexity(in) >= q.mut.Complexity(r.in) {
		return false
	}
	input, data, err := cloneInput(q.codec, in)
	if err == nil {
		r.in, r.data = input, data
	}
	return err == nil
}

// finishKeep adds the testcase of a job that has ended.
func (w *Worker[T]) finishKeep(j *job[T]) (err error) {
	w.release(j.reserved, j.complexity)
	slices.Sort(j.unstable)
	for _, f := range slices.Compact(j.unstable) { // once for each calibration
		if w.unstable[f]++; w.unstable[f] == unstableTimes {
			w.news.Unstable = append(w.news.Unstable, f)
		}
	}
	o := &j.obs
	w.mask(o)
	e := Entry{Key: Key(j.data), Data: j.data, Features: NewFeatureSet(o.Features...), Measures: o.Measures, Complexity: w.mut.Complexity(j.in),
		Work: o.Work, Execution: w.previousExecutions + w.made(), Runs: 1}
	if j.outcome != outcomeKept || w.holds(j.data) {
		return nil
	}
	if !o.Expensive {
		e.Runs += uint32(w.c.Calibrate)
	}
	trimmed := j.request.class == classTrim
	if j.stage < len(w.plan) || trimmed {
		e.Stage = w.stages[j.stage].Name
	}
	if j.parent != nil {
		e.Parent, e.Depth = j.parent.Key, j.parent.Depth+1
	}
	if trimmed { // it is as far from the seed as what it was
		e.Depth, e.Step, e.Picked = j.parent.Depth, j.parent.Step, j.parent.Picked
	}
	if w.c.Notes != nil && o.Note != nil {
		if e.Note, err = w.c.Notes.EncodeNote(o.Note); err != nil {
			return fmt.Errorf("encoding a note: %w", err)
		}
	}
	if w.keep(j.in, &e, o) {
		w.news.Entries = append(w.news.Entries, e)
		w.stages[j.stage].Kept++
		if j.parent != nil && !trimmed {
			w.given.news = w.made()
		}
		if j.trims {
			w.queueTrim(j)
		}
	}
	return nil
}

// holds reports whether an encoded input is kept.
func (w *Worker[T]) holds(data []byte) bool {
	_, ok := w.keys[Key(data)]
	return ok
}

// keep adds a testcase if the pool wants it.
func (w *Worker[T]) keep(in T, e *Entry, o *Observation) bool {
	id := ID(len(w.cases))
	d := w.pool.Offer(id, o, e.Complexity)
	if !d.Added {
		return false
	}
	tc := &Testcase[T]{ID: id, Input: in, Key: e.Key, Complexity: e.Complexity, Features: e.Features, Trace: o.Trace,
		Note: o.Note, Step: e.Step, Picked: e.Picked, Depth: e.Depth, Work: e.Work}
	w.cases = append(w.cases, tc)
	w.at[id], w.live = len(w.live), append(w.live, tc)
	w.keys[tc.Key] = id
	parent, ok := w.keys[e.Parent]
	if !ok {
		parent = Orphan
	}
	w.sched.Add(Rating{ID: id, Parent: parent, Complexity: e.Complexity, Features: e.Features, Measures: e.Measures, Work: e.Work,
		Depth: e.Depth, Picked: e.Picked})
	if w.index != nil {
		w.index.Kept(id, in)
	}
	for _, old := range d.Evicted {
		w.evict(old)
	}
	if w.learner != nil {
		w.learner.Learn(o.Features, e.Complexity)
	}
	return true
}

func (w *Worker[T]) evict(id ID) {
	delete(w.keys, w.cases[id].Key)
	w.cases[id] = nil
	w.sched.Remove(id)
	if w.index != nil {
		w.index.Dropped(id)
	}
	i, last := w.at[id], len(w.live)-1
	w.live[i] = w.live[last]
	w.at[w.live[i].ID] = i
	w.live = w.live[:last]
	delete(w.at, id)
}

// adopt keeps a testcase that another worker or an earlier run has calibrated and trimmed. Where it has no note although the
// kind has notes, it is run once.
func (w *Worker[T]) adopt(ctx context.Context, in T, e Entry) error {
	o := &Observation{Exit: ExitOK, Features: e.Features.Append(nil), Measures: e.Measures, Work: e.Work}
	if _, dup := w.keys[e.Key]; dup || !w.pool.Wants(o, e.Complexity) {
		return nil
	}
	if w.c.Notes != nil {
		var err error
		if o.Note, err = w.note(ctx, in, e.Note); err != nil {
			return err
		}
	}
	if w.keep(in, &e, o) && e.Parent != "" {
		w.given.news = w.made()
	}
	return nil
}

// note returns the note of a testcase from somewhere else.
func (w *Worker[T]) note(ctx context.Context, in T, data []byte) (any, error) {
	if len(data) > 0 {
		if note, err := w.c.Notes.DecodeNote(data); err == nil {
			return note, nil
		} // a note of another version is made again
	}
	obs, err := w.answer(ctx, &request[T]{ins: []T{in}, ask: Ask{Features: true, Quiet: true}, class: classKeep}, nil)
	if err != nil {
		return nil, err
	}
	return obs[0].Note, nil
}

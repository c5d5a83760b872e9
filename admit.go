package teasel

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// suspect is an execution that was not boring: perhaps a finding, perhaps a testcase.
type suspect[T any] struct {
	in       T      // lent: a slot's, until the next batch is made
	data     []byte // its bytes; nil: it is still lent
	obs      Observation
	again    *Observation // what it came to when it was calibrated; nil: it has not been
	findings []Finding    // that are not known yet
	hist     []T          // what the target had run before it, if there are findings
	parent   *Testcase[T]
	stage    int
}

// suspect judges what must be judged before the evidence is gone and puts the rest into the queue.
func (w *Worker[T]) suspect(in T, o *Observation) {
	if o.judged || o.boring() {
		return
	}
	o.judged = true
	s := suspect[T]{in: in, obs: *o, parent: w.cur, stage: w.stage}
	s.obs.leg = 0
	if o.leg > 0 {
		l := whose(w.judging, o)
		s.parent, s.stage = l.parent, l.stage
	}
	for _, f := range detect(w.dets, o) {
		id := f.ID()
		k := w.known[id]
		if k == nil {
			k = &sighting{}
			w.known[id] = k
		}
		if k.done {
			k.again++
			continue
		}
		elaborate(w.dets, o, &f)
		s.findings = append(s.findings, f)
	}
	wanted := !o.Ask.Quiet && o.Exit <= ExitRejected && w.wants(o, in)
	if !wanted {
		if len(s.findings) == 0 {
			return
		}
		s.obs.Features = nil
	}
	if len(s.findings) > 0 && w.past != nil && w.await() == nil {
		s.hist = w.past.History(o)
	}
	s.obs.Evidence = nil
	s.obs.Features, s.obs.Measures = slices.Clone(s.obs.Features), slices.Clone(s.obs.Measures)
	w.queue = append(w.queue, s)
}

func (w *Worker[T]) wants(o *Observation, in T) bool {
	w.drop(o)
	return len(o.Features)+len(o.Measures) > 0 && w.pool.Wants(o, w.mut.Complexity(in))
}

// stragglers asks for executions that took their time.
func (w *Worker[T]) stragglers() {
	if w.straggler == nil {
		return
	}
	for {
		var o Observation
		o.reset(Ask{Features: true})
		in, ok := w.straggler.Straggler(&o)
		if !ok {
			return
		}
		w.state.Executions += uint64(o.Runs)
		if !o.Dear {
			o.Features, o.Measures = nil, nil
		}
		n := len(w.queue)
		w.suspect(in, &o)
		if o.Dear && len(w.queue) > n {
			s := &w.queue[n]
			seen := s.obs
			s.again, s.parent, s.stage = &seen, nil, len(w.plan) // of whoever made it nobody has kept a note
		}
	}
}

// settle judges what is in the queue, and what comes up while it does so.
func (w *Worker[T]) settle(ctx context.Context) error {
	if len(w.queue) > 0 {
		if err := w.land(ctx); err != nil && ctx.Err() == nil { // when the campaign has ended, what was seen is still judged
			return err
		}
	}
	for len(w.queue) > 0 {
		if w.over && w.c.StopAfter > 0 && ctx.Err() == nil { // enough was found
			break
		}
		if err := w.calibrateAll(ctx); err != nil {
			return err
		}
		s := w.queue[0]
		w.queue = w.queue[1:]
		if len(s.findings) == 0 && !w.wants(&s.obs, s.in) { // by now
			continue
		}
		if err := w.hold(&s); err != nil {
			return err
		}
		for _, f := range s.findings {
			c := newClaim(s.in, s.data, s.hist, f, &s.obs)
			if w.postpone(ctx, c) {
				continue
			}
			if err := w.attend(ctx, c); err != nil {
				return err
			}
			if len(w.news.Findings) > 0 || w.due() {
				if err := w.publish(ctx); err != nil && !errors.Is(err, ErrStop) {
					return err
				}
			}
		}
		if ctx.Err() == nil && w.wants(&s.obs, s.in) {
			if err := w.admit(ctx, &s); err != nil {
				return err
			}
		}
	}
	w.queue, w.held = nil, 0
	return nil
}

// hold makes a suspect outlive the slot that its input was in.
func (w *Worker[T]) hold(s *suspect[T]) (err error) {
	if s.data == nil {
		s.in, s.data, err = w.own(s.in)
	}
	return err
}

// What is worth keeping waits for more of the kind, since looking at it takes the target from the batches.
const (
	heldSize    = 16
	heldBatches = 8
)

// holdAll makes the queue outlive the batches that it is from, and reports whether that is long enough.
func (w *Worker[T]) holdAll() (enough bool, err error) {
	if len(w.queue) == 0 {
		return false, nil
	}
	w.held++
	if len(w.queue) >= heldSize || w.held >= heldBatches || w.accused() {
		return true, nil
	}
	for i := range w.queue {
		if err := w.hold(&w.queue[i]); err != nil {
			return false, err
		}
	}
	return false, nil
}

// own returns a copy of an input that shares nothing with the slot it was in, and its bytes.
func (w *Worker[T]) own(in T) (T, []byte, error) {
	var zero T
	data, err := w.c.Codec.Encode(in)
	if err != nil {
		return zero, nil, fmt.Errorf("encoding an input: %w", err)
	}
	data = slices.Clone(data)
	in, err = w.c.Codec.Decode(data)
	if err != nil {
		return zero, nil, fmt.Errorf("decoding what was encoded: %w", err)
	}
	return in, data, nil
}

// admit calibrates an input, trims it if it is a seed, and keeps it if it is still wanted. All testcases come in here.
// What was made from a testcase is not trimmed: the pool prefers what is simpler anyway, and what an input does not need
// for what it reaches is what its mutants need to reach more. Trimming all of them has cost a fifth of the edges of
// libyaml at equal time.
func (w *Worker[T]) admit(ctx context.Context, s *suspect[T]) (err error) {
	in, data, o := s.in, s.data, s.again
	if _, dup := w.keys[Key(data)]; dup {
		return nil
	}
	if o == nil {
		if o, err = w.calibrate(ctx, in, &s.obs); err != nil || o == nil {
			return err
		}
	}
	if !w.pool.Wants(o, w.mut.Complexity(in)) {
		return nil
	}
	if o.Trace != 0 && !o.Dear && s.parent == nil {
		simple, err := w.trim(ctx, in, o)
		if err != nil {
			return err
		}
		if w.mut.Complexity(simple) < w.mut.Complexity(in) {
			if in, data, err = w.own(simple); err != nil {
				return err
			}
		}
	}
	e := Entry{Key: Key(data), Data: data, Features: NewFeatureSet(o.Features...), Measures: o.Measures, Complexity: w.mut.Complexity(in),
		Work: o.Work, Execution: w.state.Executions, Runs: 1}
	if w.c.Calibrate > 0 && !o.Dear {
		e.Runs += uint32(w.c.Calibrate)
	}
	if x, ok := w.c.Codec.(NoteCodec); ok && o.Note != nil {
		if e.Note, err = x.EncodeNote(o.Note); err != nil {
			return fmt.Errorf("encoding a note: %w", err)
		}
	}
	if s.stage < len(w.plan) {
		e.Stage = w.stages[s.stage].Name
	}
	if s.parent != nil {
		e.Parent, e.Depth = s.parent.Key, s.parent.Depth+1
	}
	if w.keep(in, &e, o) {
		w.news.Entries = append(w.news.Entries, e)
		w.stages[s.stage].Kept++
	}
	return nil
}

// trace returns the hash of what was reached, in no order.
func (o *Observation) trace() uint64 {
	if o.Trace != 0 && !o.Dear {
		return o.Trace
	}
	sum := uint64(1)
	for _, f := range o.Features {
		x := uint64(f) * 0x9e3779b97f4a7c15
		x ^= x >> 29
		sum += x * 0xbf58476d1ce4e5b9
	}
	return max(sum, 1)
}

// trim makes an input simpler while it reaches exactly the same. What else its candidates reach is not looked at: each of
// them would be calibrated and trimmed in turn, and mutation comes to the good ones too.
func (w *Worker[T]) trim(ctx context.Context, in T, like *Observation) (T, error) {
	budget := w.c.TrimRuns
	if budget == 0 {
		budget = 512
	}
	return descend(ctx, w.mut, in, len(w.slots), new(uint64), func(ctx context.Context, ins []T) (int, T, error) {
		if budget -= len(ins); budget < 0 || w.spent() {
			return -1, in, errEnough
		}
		obs := make([]Observation, len(ins))
		if err := w.exec(ctx, ins, obs, Ask{Trace: true, Quiet: true}, judgeAll); err != nil {
			return -1, in, err
		}
		found := -1
		for i := range obs {
			w.suspect(ins[i], &obs[i])
			if found < 0 && obs[i].Exit <= ExitRejected && obs[i].trace() == like.Trace {
				found = i
			}
		}
		if found < 0 {
			return -1, in, nil
		}
		return found, ins[found], nil
	})
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
	i, last := w.at[id], len(w.live)-1
	w.live[i] = w.live[last]
	w.at[w.live[i].ID] = i
	w.live = w.live[:last]
	delete(w.at, id)
}

// adopt keeps what another worker or an earlier run has found, calibrated and trimmed. A kind that annotates its
// testcases has to see it run once.
func (w *Worker[T]) adopt(ctx context.Context, in T, e Entry) error {
	o := &Observation{Exit: ExitOK, Features: e.Features.Append(nil), Measures: e.Measures, Work: e.Work}
	if _, dup := w.keys[e.Key]; dup || !w.pool.Wants(o, e.Complexity) {
		return nil
	}
	if x, ok := w.c.Codec.(NoteCodec); ok && e.Note != nil {
		o.Note, _ = x.DecodeNote(e.Note) // of an earlier version, perhaps
	}
	if w.c.Annotate && o.Note == nil {
		obs := make([]Observation, 1)
		if err := w.exec(ctx, []T{in}, obs, Ask{Features: true}, judgeNone); err != nil {
			return err
		}
		o.Note = obs[0].Note
	}
	w.keep(in, &e, o)
	return nil
}

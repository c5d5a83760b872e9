package teasel

import (
	"context"
	"errors"
	"slices"
	"time"
)

const (
	maxVain     = 4               // times a finding is tried in vain before the worker looks away
	confirmTime = 5 * time.Second // to confirm what was seen when the campaign ended
	deathCost   = 16              // executions that a death of the target is worth, after which another one is ready
	hangCost    = 128             // and a time limit
	slowCost    = 256             // and each second that an execution took
	startCost   = 340             // and a start of the target that has to be waited for
	flakyRuns   = 64              // in which something flaky may turn out to be the fault of a part of it
	longTry     = 2 * time.Second // of an execution that takes long to show something
)

// historyShown is how many inputs of the target's history are joined, the last ones: what did it mostly ran shortly
// before, and each input more makes the answer slower to minimise.
var historyShown = [...]int{3, 12, 128, 1024}

// historyTime is what an end of the history may take to show if a longer one, which takes several times as long, is to
// be shown after it: some inputs are slow, and a thousand of those would hold everything up.
const historyTime = 2 * time.Second

// bisect finds which of the lost inputs kills the target, on a fresh one for each part, for what ran before shares
// the blame otherwise. Most targets work in order, so the first unanswered input is the first suspect. If none does
// it alone, they are blamed together with what ran before them, if the mutator can join.
func (w *Worker[T]) bisect(ctx context.Context, ins []T, obs []Observation, a Ask, j judging) error {
	a.Quick = true // whatever is blamed is shown again with all the time there is
	var lost []int
	for i := range obs {
		if obs[i].Exit == ExitLost {
			lost = append(lost, i)
		}
	}
	last := lost[len(lost)-1]
	before := ins[:last]
	if w.past != nil {
		before = w.past.History(&obs[last])
	}
	parts := [][]int{lost[:1]}
	if len(lost) > 1 {
		half := 1 + len(lost)/2
		parts = append(parts, lost[1:half], lost[half:])
	}
	for i, part := range parts {
		if len(part) == 0 {
			continue
		}
		if err := w.part(ctx, ins, obs, part, a, j); err != nil {
			return err
		}
		if i == 0 && obs[lost[0]].Exit > ExitRejected && len(lost) > 2 { // it was the first; the others were bystanders
			return w.part(ctx, ins, obs, lost[1:], a, j)
		}
	}
	for _, i := range lost {
		if obs[i].Exit > ExitRejected {
			return nil
		}
	}
	return w.window(ctx, before, &ins[last], &obs[last], a)
}

// part runs some of the inputs on a fresh target.
func (w *Worker[T]) part(ctx context.Context, ins []T, obs []Observation, idx []int, a Ask, j judging) error {
	sub, so := make([]T, len(idx)), make([]Observation, len(idx))
	for k, i := range idx {
		sub[k], so[k].leg = ins[i], obs[i].leg
	}
	if err := w.fresh(ctx); err != nil {
		return err
	}
	if len(sub) == 1 {
		if err := w.alone(ctx, sub[0], &so[0], a); err != nil {
			return err
		}
	} else if err := w.exec(ctx, sub, so, a, j); err != nil { // which takes it apart in turn
		return err
	}
	w.judge(sub, so, j)
	for k, i := range idx {
		ins[i], obs[i] = sub[k], so[k] // a joined input replaces the one that was blamed
	}
	return nil
}

// alone runs one input with no other in flight.
func (w *Worker[T]) alone(ctx context.Context, in T, o *Observation, a Ask) error {
	o.reset(a)
	w.clean = false
	if err := w.ex.Exec(ctx, in, o); err != nil {
		return err
	}
	w.state.Executions += uint64(o.Runs)
	if o.Exit == ExitLost { // there was nobody else
		o.Exit = ExitCrash
	}
	return nil
}

// window blames an input together with those that the target had run before it: those that were answered may have their
// part in it.
func (w *Worker[T]) window(ctx context.Context, before []T, in *T, o *Observation, a Ask) error {
	if w.join != nil {
		found, err := backwards(before, func(past []T) (bool, time.Duration, error) {
			all := w.join.Join(append(slices.Clone(past), *in))
			if err := w.fresh(ctx); err != nil {
				return false, 0, err
			}
			seen := Observation{leg: o.leg}
			if err := w.alone(ctx, all, &seen, a); err != nil || seen.Exit <= ExitRejected {
				return false, seen.Elapsed, err
			}
			*in, *o = all, seen
			return true, 0, nil
		})
		if found || err != nil {
			return err
		}
	}
	w.news.Unconfirmed = append(w.news.Unconfirmed, Finding{Rule: "lost", Severity: Low, Subject: "target",
		Message: "the target died, and nothing that it had run shows that again", Tries: 1, Worker: w.state.Number})
	return nil
}

// backwards tries ends of a target's history, the shortest first, until one does or a longer one would take too long. took
// is what one took that did not do, without the start of a target, which takes as long for a longer one.
func backwards[T any](hist []T, try func(past []T) (done bool, took time.Duration, err error)) (bool, error) {
	shown := 0
	for _, n := range historyShown {
		if shown == len(hist) {
			break
		}
		shown = min(n, len(hist))
		done, took, err := try(hist[len(hist)-shown:])
		if done || err != nil {
			return done, err
		}
		if took > historyTime {
			break
		}
	}
	return false, nil
}

// confirm shows a finding again, makes its input simple, and adds it to the news. A finding that was seen when the
// campaign ended is still confirmed, though not made simple.
func (w *Worker[T]) confirm(ctx context.Context, c claim[T]) error {
	f := c.f
	k := w.known[f.ID()]
	if k.done {
		k.again++
		return nil
	}
	f.Worker, f.Original, f.Occurrences = w.state.Number, c.data, 1+k.again
	if f.Execution == 0 {
		f.Execution = w.state.Executions
	}
	k.done = true // while it is shown again, that is nothing new
	defer func() { k.again = 0 }()
	s := &shower[T]{w: w, claim: &c, id: f.ID()}
	if f.Fault == "" {
		s.rule = f.Rule
	}
	if !c.dear() {
		s.left = w.minimizeLeft()
	}
	err := w.proof(ctx, s, &c, &f)
	if errors.Is(err, errAside) {
		return nil
	}
	if err != nil && ctx.Err() != nil {
		last, cancel := w.grace(ctx)
		s.left = 0 // there is no time to minimise
		if err = w.proof(last, s, &c, &f); last.Err() != nil {
			f.Stable, err = 0, nil // too late
		}
		cancel()
	}
	if err != nil {
		k.done = false
		return err
	}
	if k.tries++; f.Stable == 0 {
		k.done = k.tries >= maxVain
		w.news.Unconfirmed = append(w.news.Unconfirmed, f)
		return nil
	}
	if s.bystander() {
		k.done = k.tries >= maxVain
		return nil
	}
	f.Subject, f.Message, f.Detail, f.Severity = s.last.Subject, s.last.Message, s.last.Detail, s.last.Severity
	k.done = f.Confirmed() || k.tries > 1 // a flaky one gets a second chance
	w.news.Findings = append(w.news.Findings, f)
	if s.enough && s.left > 0 {
		w.rough = append(w.rough, rough{f, s.left, s.always, s.at})
	}
	return nil
}

// errAside says that a finding was put in line for the confirmer.
var errAside = errors.New("to be shown beside the campaign")

// grace returns a context for what was seen when the campaign ended. All of it together gets confirmTime.
func (w *Worker[T]) grace(ctx context.Context) (context.Context, context.CancelFunc) {
	if w.last.IsZero() {
		w.last = time.Now().Add(confirmTime)
	}
	return context.WithDeadline(context.WithoutCancel(ctx), w.last)
}

// proof shows the finding with its input alone or, if that does not do on a fresh target, with what the target had
// run before it. It sets Stable, Tries and Input. The target as it is serves for all but the last word, since a start
// may be dear; the last word is spoken on a fresh one.
func (w *Worker[T]) proof(ctx context.Context, s *shower[T], c *claim[T], f *Finding) error {
	if !c.deep {
		done, err := w.alike(ctx, s, c.in, f, c.own)
		if done || err != nil || f.Alone || w.join == nil || len(c.hist) == 0 || w.known[s.id].tries > 0 {
			return err
		}
		if ctx.Err() == nil && w.handOver(*c, true) {
			return errAside
		}
	}
	s.quick = true // it is many inputs in one
	_, err := backwards(c.hist, func(past []T) (bool, time.Duration, error) {
		long, _, err := w.own(w.join.Join(append(slices.Clone(past), c.in)))
		if err != nil {
			return false, 0, err
		}
		done, err := w.alike(ctx, s, long, f, false)
		return done, s.took, err
	})
	return err
}

// alike tries an input, minimises it, and tries the minimum on a fresh target. False: it never showed the finding
// on one.
func (w *Worker[T]) alike(ctx context.Context, s *shower[T], in T, f *Finding, seen bool) (bool, error) {
	if err := w.tries(ctx, s, in, f, seen); err != nil || f.Stable == 0 {
		return false, err
	}
	if f.Stable < f.Tries {
		s.afresh = s.afresh || seen
		return w.flaky(ctx, s, in, f)
	}
	hangs, long := s.exit == ExitHang, seen || s.took >= longTry
	for _, s.always = range []bool{false, true} {
		s.at = 0
		simple, err := w.minimize(ctx, s, in, sliceCost)
		if err != nil {
			if ctx.Err() != nil && (w.deputy || seen || s.afresh) { // another target than the one it was seen on has shown it
				return true, w.keepInput(f, in)
			}
			return false, err
		}
		if s.dear && w.mut.Complexity(simple) >= w.mut.Complexity(in) { // each try had a target of its own
			break
		}
		ok, err := s.show(ctx, simple, true, Ask{Quick: hangs && w.mut.Complexity(simple) >= w.mut.Complexity(in)})
		if err != nil {
			return false, err
		}
		if ok {
			if long {
				f.Stable, f.Tries = f.Stable+1, f.Tries+1
			}
			return true, w.keepInput(f, simple)
		}
		if ok, err = s.show(ctx, in, true, Ask{Quick: hangs}); err != nil || !ok { // it had all the time at the first try
			f.Stable = 0
			return false, err
		}
	}
	return true, w.keepInput(f, in) // only as it was found
}

// flaky is for what an input shows now and then: on a fresh target too, or what else the target had run may have its part
// in it. It is not made simple, but tried so, to see whether a part of it is to blame for something else.
func (w *Worker[T]) flaky(ctx context.Context, s *shower[T], in T, f *Finding) (bool, error) {
	for i := 0; i < f.Tries && !s.afresh; i++ {
		if _, err := s.show(ctx, in, true, Ask{}); err != nil {
			return false, err
		}
	}
	if !s.afresh {
		f.Stable = 0
		return false, nil
	}
	last := s.last // what is told is what the whole input shows
	s.left = min(s.left, flakyRuns)
	if _, err := w.minimize(ctx, s, in, sliceCost); err != nil {
		return false, err
	}
	s.last, s.enough = last, false
	return true, w.keepInput(f, in)
}

// tries sets Tries and Stable. If the finding was seen on a target of its own, that counts as a try once it is shown again.
// That, and what takes long to show, is shown once before the last word, which counts then: a time limit is seldom reached by
// chance.
func (w *Worker[T]) tries(ctx context.Context, s *shower[T], in T, f *Finding, seen bool) error {
	before := 0
	if f.Stable, f.Tries = 0, w.c.Tries; f.Tries == 0 {
		f.Tries = 3
	}
	if seen && f.Tries > 1 {
		before = 1
	}
	for i := 0; i < f.Tries-before; i++ {
		ok, err := s.show(ctx, in, false, Ask{Quick: i > 0})
		if err == nil && !ok && !(s.quick && s.took >= historyTime) { // it may need a target on which it has not been shown yet
			ok, err = s.show(ctx, in, true, Ask{})
		}
		switch {
		case err != nil:
			return err
		case i == 0 && s.wall >= pettyTime && w.handOver(*s.claim, false): // what it takes did not show in what was seen
			return errAside
		case ok:
			f.Stable++
		case i == 0 && w.join != nil: // the history is more likely to do it than another try
			return nil
		}
		if i == 0 && ok && (seen || s.took >= longTry) {
			f.Tries = before + 1
		}
	}
	if f.Stable > 0 {
		f.Stable += before
	}
	return nil
}

func (w *Worker[T]) keepInput(f *Finding, in T) (err error) {
	f.Complexity = w.mut.Complexity(in)
	_, f.Input, err = w.own(in)
	return err
}

// shower shows one finding again and again.
type shower[T any] struct {
	w        *Worker[T]
	claim    *claim[T]
	id       string
	rule     string  // if the finding is known by its subject; "": by the place of its fault
	last     Finding // as it was shown last
	parts    int     // of the simplest input that has shown it
	afresh   bool    // it was shown on a fresh target
	other    bool    // the target died of the last input or hung, and something else is to blame for it
	fewest   int     // parts of the simplest input that it died so of; 0: it never has
	exit     Exit
	runs     uint32        // executions that the last input was
	took     time.Duration // that they took
	wall     time.Duration // that we took, with all that a start or an end costs
	dear     bool
	quick    bool   // only a small part of the time limit for each
	always   bool   // each candidate of the minimiser needs a fresh target
	enough   bool   // the minimiser has stopped before it was at its end
	left     int    // executions that it may still make, or what is worth as much
	at       uint64 // where it goes on
	operands []Operand
}

// show runs an input and reports whether it shows the finding. Unless fresh, it runs on the target as it is first
// and on a fresh one only if that does not show it where it was shown before.
func (s *shower[T]) show(ctx context.Context, in T, fresh bool, a Ask) (bool, error) {
	began := time.Now()
	defer func() { s.wall = time.Since(began) }()
	if fresh {
		if err := s.w.fresh(ctx); err != nil {
			return false, err
		}
	}
	a.Operands, a.Quick, a.Quiet = s.w.repair != nil, a.Quick || s.quick, a.Quiet || s.quick
	var o Observation
	if err := s.w.alone(ctx, in, &o, a); err != nil {
		return false, err
	}
	s.exit, s.runs, s.took, s.dear, s.operands = o.Exit, o.Runs, o.Elapsed, o.Dear, append(s.operands[:0], o.Operands...)
	shown := false
	s.other = false
	for _, f := range detect(s.w.dets, &o) {
		if f.ID() == s.id && !shown {
			elaborate(s.w.dets, &o, &f)
			s.last, shown = f, true
		}
		s.other = s.other || f.ID() != s.id && f.Rule == s.rule && (o.Exit == ExitCrash || o.Exit == ExitHang)
	}
	s.afresh = s.afresh || shown && fresh
	s.w.suspect(in, &o)
	if s.w.deputy && s.w.rester != nil {
		s.w.rester.Rest()
	}
	return shown, nil
}

package teasel

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/internal/change"
)

// judge handles an observation while its evidence is valid: it starts a job for each new finding, and for an input that the pool
// wants. It never executes anything.
func (w *Worker[T]) judge(ctx context.Context, i int, in T, o *Observation) error {
	from, quiet := w.originOf(i), o.Ask.Quiet
	q := w.request
	if o.failed() && (q == nil || q.class == classKeep) {
		w.failed(in, o)
	}
	quiet = quiet || q != nil && q.class == classKeep // its features are what the job is about
	if err := w.queueFindings(ctx, in, o, from); err != nil {
		return err
	}
	if !quiet && !o.failed() && w.wants(o, in) {
		return w.propose(in, o, from)
	}
	return nil
}

// queueFindings starts a job for each finding that is not known yet.
func (w *Worker[T]) queueFindings(ctx context.Context, in T, o *Observation, from origin[T]) (err error) {
	if o.findings, err = detect(w.dets, o); err != nil {
		return err
	}
	for k := range o.findings {
		f := &o.findings[k]
		q := w.request
		if o.cutShort() && (o.Ask.Quick || q != nil) && (q == nil || !q.reproduces(f, f.ID())) { // with the full time limit it may end
			continue
		}
		if err := w.queueFinding(ctx, in, o, f, from); err != nil {
			return err
		}
	}
	return nil
}

// originOf returns the origin of input i of what is executed.
func (w *Worker[T]) originOf(i int) origin[T] {
	switch {
	case w.request != nil:
		return w.servedOrigin(i)
	case w.judged != nil:
		return w.judged.originOf(w.offset + i)
	}
	return w.from
}

// servedOrigin returns the origin of input i of the request that is served.
func (w *Worker[T]) servedOrigin(i int) origin[T] {
	if len(w.serving) == 0 {
		return w.from
	}
	j := w.serving[i]
	if j.froms != nil {
		return j.froms[i]
	}
	return origin[T]{j.parent, j.stage}
}

// queueFinding starts a job for a finding, unless a job works on it already or it is done.
func (w *Worker[T]) queueFinding(ctx context.Context, in T, o *Observation, f *Finding, from origin[T]) error {
	id := f.ID()
	if w.request != nil && w.request.reproduces(f, id) { // a job reproduces it
		f.describe()
		return nil
	}
	k := w.sighted(f, id)
	if k == nil || k.done || k.open && !o.cutShort() {
		f.Describe = nil
		return nil
	}
	f.describe()
	input, data, err := w.clone(in)
	if err != nil { // the campaign ends, and what was seen is reported
		w.news.Unconfirmed = append(w.news.Unconfirmed, *f)
		return err
	}
	var history []T
	switch q := w.request; {
	case q != nil && q.past != nil:
		last := len(q.past) - 1
		input, history = q.past[last], q.past
	case w.past != nil:
		if w.await(ctx) == nil { // the executor is asked between two batches; finishInFlight returns the error
			history = w.past.History(o)
		}
	}
	f.Original = data
	if o.cutShort() { // it may only be slow, whatever has run before it
		history = nil
	}
	seen := newExtra(input, f, from, o, !w.meter.counts)
	if k.open { // so may be what the job works on, and this a hang
		w.hangs[id] = seen
		return nil
	}
	seen.history = history
	return w.find(seen)
}

// sighted counts an occurrence of a finding, see [sightings.see].
func (w *Worker[T]) sighted(f *Finding, id string) *sighting {
	k, note := w.seen.see(f, id)
	if note != "" {
		w.news.Notes = append(w.news.Notes, note)
	}
	return k
}

// find starts a job for a finding that is not known yet, unless it is static and so found already.
func (w *Worker[T]) find(s extra[T]) error {
	f, history := s.finding, s.history
	if n := len(history); n > shortHistory && w.seen.open >= wholeHistories {
		history = slices.Clone(history[n-shortHistory:])
	}
	f.Stable, f.Tries, f.Occurrences = 0, 0, 0 // a detector does not know them
	f.Stage = w.stages[s.from.stage].Name
	j := w.findJob(s.in, history, f)
	j.parent, j.stage, j.cost, j.short, j.crash = s.from.parent, s.from.stage, s.cost, s.short, s.crash
	w.seen.begin(w.seen.known[f.ID()])
	if w.request != nil && w.request.class == classBisect {
		w.meter.known = 0
	}
	if w.changed != nil {
		w.changedJobs = append(w.changedJobs, j)
		return nil
	}
	return w.start(j)
}

// start explains the finding of a new job, by which change its input was made of a testcase, and begins the job.
func (w *Worker[T]) start(j *job[T]) error {
	if j.parent != nil {
		j.finding.Parent = j.parent.Key
		if data, err := w.codec.Encode(j.parent.Input); err == nil {
			j.finding.Change = change.Of(data, j.finding.Original)
		}
	}
	if j.finding.Static {
		j.outcome, j.finding.Tries = outcomeFound, w.c.tries()
		j.finding.Stable = j.finding.Tries
		return w.finish(j)
	}
	// Of the jobs that are drained, bisections and calibrations may come upon new findings, which are confirmed too. What confirming
	// comes upon is not: it might go on without end.
	if q := w.request; w.draining && (q == nil || q.class != classBisect && q.class != classKeep) {
		w.unconfirmed(j)
		return nil
	}
	w.begin(j)
	return nil
}

// begin queues a job. A background gets all jobs that are slow, or of which a worker has died, and the others while it has
// no backlog.
func (w *Worker[T]) begin(j *job[T]) {
	w.queue.number(j)
	j.counts = w.meter.counts
	if w.background == nil || !w.background.add(j) {
		w.queue.add(j)
	}
}

// findJob returns a job for a finding that was seen with an input.
func (w *Worker[T]) findJob(in T, history []T, f Finding) *job[T] {
	if f.Original == nil { // another worker has seen it
		f.Original = f.Input
	}
	f.Worker, f.Execution, f.Input, f.Complexity = w.state.Number, w.previousExecutions+w.made(), f.Original, w.mut.Complexity(in)
	budget := w.c.MinimizeRuns
	if budget == 0 {
		budget = defaultMinimize
	}
	f.History = nil
	return findJob(in, history, f, w.c.tries(), max(budget, 0))
}

// judgeLate judges an observation that came late. What its input was made from is no longer known.
func (w *Worker[T]) judgeLate(ctx context.Context, in T, o *Observation) error {
	from := origin[T]{nil, w.row(rowLate)}
	if err := w.queueFindings(ctx, in, o, from); err != nil {
		return err
	}
	if !o.Expensive || o.failed() || !w.wants(o, in) {
		return nil
	}
	input, data, err := w.clone(in)
	if err != nil {
		return err
	}
	j := &job[T]{name: "keep", stage: from.stage, ended: true}
	j.result = result[T]{outcome: outcomeKept, in: input, data: data, obs: *o}
	j.obs.Evidence = nil
	return w.finish(j)
}

// lostOf returns which inputs were lost: first those that had waited longest.
func lostOf(obs []Observation) (lost []int) {
	for i := range obs {
		if obs[i].Exit == ExitLost {
			lost = append(lost, i)
		}
	}
	slices.SortStableFunc(lost, func(i, k int) int { return cmp.Compare(obs[k].Elapsed, obs[i].Elapsed) })
	return lost
}

// lostRule is the rule of a finding of [ExitLost], as long as it is not known which of the inputs it is of.
var lostRule = Rule{ID: "lost", Severity: Low, Title: "target died with several inputs in flight",
	Help: "The target died while several inputs were in flight, and the campaign ended before it was known of which of them. It is always unconfirmed, and its input is all of them together.\n\n" +
		"'teasel resume' goes on with it: it runs the inputs one by one, and then in order, until one of them, or a few, reproduce the death, which is then a finding of a rule of the target's kind. " +
		"If none does, the death depends on what the target had run before, on timing, or on something outside it, such as a limit on memory: look at what the target wrote last."}

// Rules returns the rules that the engine itself reports, of a target of any kind.
func Rules() []Rule { return []Rule{lostRule} }

// deathOf returns where the target went wrong when it died with inputs in flight, as detectors see it from how it ended, whichever of the
// inputs it was, and how it died, to be put behind a sentence. nil: they do not see a place.
func (w *Worker[T]) deathOf(obs []Observation) (at *Finding, how string, err error) {
	i := slices.IndexFunc(obs, func(o Observation) bool { return o.Exit == ExitLost && o.Evidence != nil })
	if i < 0 {
		return nil, "", nil
	}
	o := obs[i]
	o.Exit = ExitCrash
	found, err := detect(w.dets, &o)
	if len(found) > 0 && found[0].Message != "" {
		how = "; how it died: " + strings.TrimSuffix(found[0].Message, ".")
	}
	if i := slices.IndexFunc(found, func(f Finding) bool { return f.Fault != "" && !f.Uncertain }); i >= 0 {
		found[i].describe()
		at = &found[i]
	}
	return at, how, err
}

// bisect starts a job for the inputs that were in flight when the target died, unless it died of a fault that was reproduced before.
func (w *Worker[T]) bisect(ins []T, obs []Observation, originOf func(i int) origin[T]) error {
	f, where := Finding{Rule: lostRule.ID, Severity: lostRule.Severity, Subject: "target"}, ""
	death, how, err := w.deathOf(obs)
	switch {
	case err != nil:
		return err
	case death != nil:
		if k := w.seen.known[death.ID()]; k != nil && k.done && k.published {
			w.sighted(death, death.ID())
			return nil
		}
		f, where = *death, " in "+death.Fault
		f.Subject = "target"
	}
	many := w.queue.len(classBisect) >= maxBisects
	if many && (w.lostMany || w.meter.known >= maxBisects) { // the latter die of what is known
		return nil
	}
	var lost, before []T
	var froms []origin[T]
	f.Worker, f.Execution = w.state.Number, w.previousExecutions+w.made()
	for _, i := range lostOf(obs) {
		input, data, err := w.clone(ins[i])
		if err != nil {
			return err
		}
		lost, froms, f.Input = append(lost, input), append(froms, originOf(i)), data
		if w.past != nil {
			before = w.past.History(&obs[i])
		}
	}
	if w.past == nil { // only the others in flight are known to have run before
		before = lost
	}
	if join, ok := w.mut.(Joiner[T]); ok { // none of them is to blame more than the others
		if _, f.Input, err = w.clone(join.Join(lost)); err != nil {
			return err
		}
	}
	f.Message = fmt.Sprintf("The target died%s while %d inputs were in flight, and the campaign ended before it was known of which of them: teasel resume goes on with that%s.", where, len(lost), how)
	if len(lost) == 1 {
		f.Message = fmt.Sprintf("The target died%s while an input was in flight, and the campaign ended before it was known whether of that one: teasel resume goes on with that%s.", where, how)
	}
	f.Original = f.Input
	if many { // reported once for all of them
		w.lostMany = true
		f.Message = fmt.Sprintf("The target died so often with several inputs in flight that the campaign ended before it was known of which of them%s.", how)
		w.news.Unconfirmed = append(w.news.Unconfirmed, f)
		return nil
	}
	w.queue.add(bisectJob(lost, froms, before, f, fmt.Sprintf("the target died%s, and no input that it had run reproduces that%s", where, how)))
	return nil
}

// found adds a finding, or a simpler input of one that was published, to the news. names are other IDs of it.
func (w *Worker[T]) found(f Finding, names []string) {
	if !w.seen.cover(f.ID(), names) {
		return
	}
	f.Occurrences = w.seen.publish(f.ID())
	w.news.Findings = append(w.news.Findings, f)
}

// unconfirmed adds the finding of a job to the news, with what the target had run, so that it can be tried with that later.
func (w *Worker[T]) unconfirmed(j *job[T]) {
	f, size := j.finding, 0
	if _, ok := w.mut.(Joiner[T]); ok && !f.Alone && len(j.history) > 1 {
		for i := len(j.history) - 1; i >= 0; i-- {
			data, err := w.codec.Encode(j.history[i])
			if size += len(data); err != nil || size > maxStoredHistory {
				break
			}
			f.History = append(f.History, slices.Clone(data))
		}
		slices.Reverse(f.History)
	}
	w.news.Unconfirmed = append(w.news.Unconfirmed, f)
}

// finish handles the result of a job that has ended. It is called once for each job.
func (w *Worker[T]) finish(j *job[T]) error {
	switch {
	case j.request.class == classKeep || j.request.class == classTrim:
		return errors.Join(j.err, w.finishKeep(j))
	case j.short && j.outcome == outcomeDropped: // it was only slow
		id := j.finding.ID()
		w.seen.close(id, false, true)
		if s, ok := w.hangs[id]; ok {
			delete(w.hangs, id)
			j.err = errors.Join(j.err, w.find(s))
		}
		if !w.draining && w.wants(&j.obs, j.in) {
			return errors.Join(j.err, w.propose(j.in, &j.obs, origin[T]{j.parent, j.stage}))
		}
		return j.err
	case j.outcome == outcomeUnconfirmed:
		w.unconfirmed(j)
	case j.outcome == outcomeFound && j.version == 0: // stopped before it was published
		w.found(j.finding, j.names)
	}
	if j.errand > 0 {
		w.news.Finished = append(w.news.Finished, j.errand)
	}
	if j.froms == nil {
		w.seen.close(j.finding.ID(), j.outcome == outcomeFound, false)
	} else { // a bisection is of no finding
		w.meter.known++
	}
	return j.err
}

// collect applies the reports of the background.
func (w *Worker[T]) collect() error {
	return w.apply(w.background.collect())
}

func (w *Worker[T]) apply(reports []report[T]) (err error) {
	for i := range reports {
		r := &reports[i]
		if r.failed { // the worker confirms by itself
			if w.background != nil {
				w.background = nil
				w.news.Notes = append(w.news.Notes, r.err.Error())
			}
			w.queue.add(r.job)
			continue
		}
		err = errors.Join(err, r.err)
		w.backgroundExecutions += r.executions
		w.news.Messages += r.messages
		w.stages[w.row(rowClasses)+int(r.class)].Executions += r.executions
		for _, s := range r.extras {
			if k := w.sighted(&s.finding, s.finding.ID()); k != nil && !k.open && !k.done {
				err = errors.Join(err, w.find(s))
			}
		}
		if r.improved {
			w.found(r.finding, r.names)
		}
		if r.ended {
			err = errors.Join(err, w.finish(r.job))
		}
	}
	return err
}

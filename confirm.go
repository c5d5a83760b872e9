package teasel

import (
	"iter"
	"slices"
)

// findJob returns a job that reproduces a finding, with its input alone or with what the target had run before it, and makes the
// input simpler. From the moment it is reproduced, stopping the job loses nothing but simplicity.
func findJob[T any](in T, history []T, f Finding, tries, budget int) *job[T] {
	j := &job[T]{name: "find " + f.Rule, urgency: int(f.Severity)}
	j.result, j.history = result[T]{outcome: outcomeUnconfirmed, finding: f}, history
	j.request.class = classConfirm
	j.run = func(q *requester[T], r *result[T]) {
		p := &reproducer[T]{q: q, r: r, id: f.ID(), tries: tries, class: classConfirm}
		if f.Fault == "" {
			p.rule = f.Rule
		}
		seen := in
		in, ok := p.confirm(in, history)
		if ok && len(p.past) == 0 {
			if _, died := p.earlier(p.withoutLast(in)); died {
				r.outcome = outcomeDropped
			}
		}
		if r.outcome == outcomeDropped {
			return
		}
		if !ok && r.short && !p.obs.failed() {
			r.outcome, r.in, r.obs = outcomeDropped, in, p.obs
			return
		}
		long := ok && r.finding.Confirmed() && budget > 0 && (len(p.past) > 0 || parts(q.mut, in) > longInput)
		if long {
			in = p.settle(in)
		}
		if !ok {
			r.finding.Tries = tries
		}
		if r.crash && !(ok && r.finding.Confirmed()) && p.byChance(seen) {
			in, ok = seen, true
		}
		if !ok {
			return
		}
		if r.finding.Stable < r.finding.Tries { // a flaky finding is not minimised: that a candidate does not reproduce it proves nothing
			budget = min(budget, maskedCost)
			p.slice(in, &budget)
			p.publish(in)
			return
		}
		if len(p.past) == 0 && parts(q.mut, in) == 1 { // no part of the input can trigger another finding
			p.publish(in)
			p.class = classMinimize
		}
		if long {
			p.setInput(in)
			p.publish(in)
			if p.class = classMinimize; r.outcome == outcomeDropped {
				return
			}
			p.starts = len(p.past) > 0 || parts(q.mut, in) > 1
		}
		p.simplify(in, budget)
	}
	return j
}

// reproducer runs inputs to see whether they reproduce one finding.
type reproducer[T any] struct {
	q     *requester[T]
	r     *result[T]
	id    string
	rule  string // if the finding is identified by its subject; "": by the place of its fault
	tries int
	class class

	last         Finding     // as it was reproduced last
	obs          Observation // of the last input
	original     bool        // the input is the one that the finding was seen with
	starts       bool        // each candidate takes a fresh target, since several parts of the input are needed
	past         []T         // several inputs that run as one, with a part of the time limit each; nil: there is only one
	masked       bool        // the last input triggered another finding of the same rule
	fewestMasked int         // parts of the shortest input that was masked; 0: none was
	operands     []Operand
	next         uint64 // the proposal of the mutator's Simplify to go on with
}

// attempt runs an input and reports whether it reproduces the finding.
func (p *reproducer[T]) attempt(in T, fresh, quick bool) bool {
	return p.shown(&p.run([]T{in}, fresh, quick)[0])
}

// run runs inputs one after another, the first of them on a fresh target if it is to be.
func (p *reproducer[T]) run(ins []T, fresh, quick bool) []Observation {
	_, repairs := p.q.mut.(Repairer[T])
	a := Ask{Features: p.r.short, Operands: repairs, Quick: quick || len(p.past) > 0, Quiet: len(p.past) > 0}
	a.Full = !a.Quick
	return p.q.do(request[T]{ins: ins, ask: a, class: p.class, fresh: fresh, alone: true, id: p.id, finding: &p.r.finding})
}

// shown reports whether a run has reproduced the finding.
func (p *reproducer[T]) shown(o *Observation) bool {
	p.obs = *o
	p.operands = append(p.operands[:0], p.obs.Operands...)
	shown := false
	p.masked = false
	for i := range p.obs.findings {
		f := &p.obs.findings[i]
		switch {
		case !p.same(f):
			p.masked = p.masked || f.Rule == p.rule && p.obs.failed() // which nothing is reported for
		case !shown:
			// What is known by its fault may be blamed on another part of this input. Under another name, a hang was somewhere else this time.
			if shown = true; f.ID() == p.id || f.Subject == p.r.finding.Subject {
				p.last = *f
			}
		}
	}
	return shown
}

// same reports whether a finding is the one that is to be reproduced. Where its group is uncertain, executors may give it
// different names; the name that it has on this one shows with the input that the finding was seen with. So it is with a hang.
func (p *reproducer[T]) same(f *Finding) bool {
	id := f.ID()
	if id == p.id || slices.Contains(p.r.names, id) {
		return true
	}
	if !p.original || !p.r.finding.resembles(f) {
		return false
	}
	p.r.names = append(p.r.names, id)
	return true
}

// confirm reproduces the finding with its input alone or, if that fails, together with the inputs that the target had run before it.
// It returns the input that reproduces the finding.
func (p *reproducer[T]) confirm(in T, history []T) (T, bool) {
	if _, ok := p.q.mut.(Joiner[T]); !ok || p.r.finding.Alone {
		history = nil
	}
	p.original = true
	defer func() { p.original = false }()
	if p.reproduce(in, len(history) > 1 || p.r.short) {
		return in, true
	}
	n := len(history)
	before := history[max(0, n-mostTogether):max(0, n-1)]
	switch at, died := p.earlier(before); {
	case died:
		p.r.outcome = outcomeDropped
		return in, false
	case at >= 0 && p.reproduce(before[at], true):
		return before[at], true
	}
	for past, long := range p.q.sequences(history, 0) {
		p.past = past
		if p.reproduce(long, true) {
			return long, true
		}
		if p.q.timed && p.obs.Elapsed > slowHistory {
			break
		}
	}
	return in, false
}

// earlier looks whether the blame is with an input before the one that the finding was seen with, or before the last part of it: that was answered,
// and what came next has shown what it did. Each runs by itself with all the time that there is, the last one first. At is the one that shows the
// finding then; -1: none does. If one ends the target in the same way and is another finding, died is true.
func (p *reproducer[T]) earlier(before []T) (at int, died bool) {
	if !p.r.crash || p.rule == "" {
		return -1, false
	}
	for i := range slices.Backward(before) {
		o := &p.run(before[i:i+1], i == len(before)-1, false)[0]
		switch {
		case p.shown(o):
			return i, false
		case o.Exit == ExitCrash && slices.ContainsFunc(o.findings, func(f Finding) bool { return f.Rule == p.rule }):
			return -1, true
		}
	}
	return -1, false
}

// withoutLast returns an input without its last part; none if it has no other.
func (p *reproducer[T]) withoutLast(in T) []T {
	n := parts(p.q.mut, in)
	if n < 2 {
		return nil
	}
	return []T{p.q.mut.(Joiner[T]).Keep(in, upTo(n-1))}
}

// sequences returns ever more of the inputs that a target has run, the last ones, and the same joined into one: the last few first, but
// at least so many. Where that can be, the parts of each are then sent at once, too: it may take two at the same time.
func (q *requester[T]) sequences(ran []T, least int) iter.Seq2[[]T, T] {
	return func(yield func([]T, T) bool) {
		join, ok := q.mut.(Joiner[T])
		for i, used := 0, 1; ok && i < len(historyLengths) && used < len(ran); i++ {
			n := min(max(historyLengths[i]+1, least), len(ran))
			if n == used {
				continue
			}
			used = n
			past := ran[len(ran)-n:]
			long, _, err := cloneInput(q.codec, join.Join(past))
			ok = err == nil && yield(past, long)
			if at, is := q.mut.(pipelined[T]); ok && is && n <= mostTogether {
				ok = yield(past, at.Together(long))
			}
		}
	}
}

// reproduce tries an input several times and sets Stable and Tries. The first try is on a fresh target: if the finding is not reproduced there, it
// needs what the target had run before. All others are made on the target as it is, since a start may take long, unless one of them fails: the
// finding may need a target that nothing has run on, and the tries are counted anew then, each on a fresh one. If the job is stopped meanwhile, what
// was tried so far counts, unless it was a hang, which a busy machine makes of few inputs as often as it is tried. another says that there is another
// input to try if the first try fails.
func (p *reproducer[T]) reproduce(in T, another bool) bool {
	stable, tried := 0, 0
	defer func() {
		if stable > 0 && (tried == p.tries || p.obs.Exit != ExitHang) {
			p.found(in, stable, tried)
		}
	}()
	for fresh := false; tried < p.tries; {
		switch ok := p.try(in, fresh || tried == 0, stable > 0 && p.obs.Exit == ExitHang); {
		case ok:
			stable++
			tried++
		case tried == 0 && another:
			return false
		case !fresh && tried > 0 && !(len(p.past) > 0 && p.q.timed && p.obs.Elapsed > slowHistory):
			fresh, stable, tried = true, 0, 0
		default:
			fresh, tried = true, tried+1
		}
	}
	return stable > 0
}

// found makes the finding one that was reproduced with an input.
func (p *reproducer[T]) found(in T, stable, tries int) {
	p.r.finding.Stable, p.r.finding.Tries = stable, tries
	p.r.outcome = outcomeFound
	p.setInput(in)
}

// try runs an input once, or again with all the time that there is if it was cut short. Only hangs are tried quickly, and not
// before one was confirmed with the full time limit: otherwise a slow input would be taken for a hang. Few inputs reach the full limit
// by chance.
func (p *reproducer[T]) try(in T, fresh, quick bool) bool {
	return p.attempt(in, fresh, quick) || p.obs.cutShort() && p.attempt(in, fresh, false)
}

// setInput stores in as the reproducer of the finding.
func (p *reproducer[T]) setInput(in T) {
	if p.last.Rule != "" {
		f := &p.r.finding
		f.Subject, f.Message, f.Detail, f.Severity = p.last.Subject, p.last.Message, p.last.Detail, p.last.Severity
	}
	if _, data, err := cloneInput(p.q.codec, in); err == nil {
		p.r.finding.Input, p.r.finding.Complexity = data, p.q.mut.Complexity(in)
	}
}

// publish makes the worker report the finding as it is now, unless a shorter part of its input triggers another finding.
func (p *reproducer[T]) publish(in T) {
	if join, ok := p.q.mut.(Joiner[T]); ok && p.fewestMasked > 0 && p.fewestMasked < join.Parts(in) {
		p.r.outcome = outcomeDropped
		return
	}
	p.r.version++
}

// parts returns how long the sequence is that an input is; 1: it is none.
func parts[T any](m Mutator[T], in T) int {
	if join, ok := m.(Joiner[T]); ok {
		return join.Parts(in)
	}
	return 1
}

// settle leaves out the parts of a long input that are not needed. What is left of inputs that had to run one after another is tried as
// often as any other input: a sequence also gives a fault that comes by chance more chances, and that reproduces it no less often than others.
func (p *reproducer[T]) settle(long T) T {
	short := p.shorten(long)
	if len(p.past) == 0 {
		return short
	}
	shown := 0
	for range p.tries {
		if p.attempt(short, true, false) {
			shown++
		}
	}
	if shown == p.tries {
		return short
	}
	p.r.finding.Stable, p.r.finding.Tries = p.r.finding.Stable+shown, p.r.finding.Tries+p.tries
	return long
}

// byChance runs an input by itself until that has crashed the target in the same way as often as it is tried otherwise, or has cost too
// much. Stable and Tries then tell how seldom it does. An input that has to run more than once on one target is no such: what it does
// follows from what it has left behind.
func (p *reproducer[T]) byChance(in T) bool {
	past, shown, n := p.past, 0, 0
	p.past = nil
	var all [][]bool
	for budget := chanceCost; shown < p.tries && budget > 0; {
		obs := p.run(slices.Repeat([]T{in}, max(chanceRuns/p.price(false), 1)), true, false)
		crashed := make([]bool, len(obs))
		for i := range obs {
			if n++; p.shown(&obs[i]) && p.obs.Exit == ExitCrash {
				crashed[i] = true
				shown++
				p.setInput(in)
			}
			budget -= p.price(i == 0)
		}
		all = append(all, crashed)
		if shown >= p.tries && accumulates(all) {
			shown = 0
			break
		}
		if shown > 0 {
			p.r.outcome, p.r.finding.Stable, p.r.finding.Tries = outcomeFound, shown, n
		}
	}
	if shown == 0 {
		p.past = past
	}
	return shown > 0
}

// accumulates reports whether runs of one input, each row of them on a fresh target, have crashed it after the same number of runs that did not, at
// least one: all that came next, if the target goes on after a crash, or once in so many, if it starts anew.
func accumulates(rows [][]bool) bool {
	before := slices.Index(rows[len(rows)-1], true)
	return before > 0 && !slices.ContainsFunc(rows, func(row []bool) bool {
		onward, anew := true, true
		for i, crashed := range row {
			onward = onward && crashed == (i >= before)
			anew = anew && crashed == (i%(before+1) == before)
		}
		return !onward && !anew
	})
}

// price is what the last input has cost.
func (p *reproducer[T]) price(fresh bool) int {
	n := min(max(int(p.obs.Runs), 1), freshCost)
	if !p.starts || p.obs.Exit != ExitCrash { // a death costs a start, which each takes anyway
		n += int(priceOfEnd(&p.obs))
	}
	if fresh && !p.starts {
		n += freshCost
	}
	if p.q.timed {
		n += int(p.obs.Elapsed / slowTick)
	}
	return n
}

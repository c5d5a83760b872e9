package teasel

import "slices"

// bisectJob returns a job that finds out which of the inputs that were in flight when the target died are to blame. Each part
// runs on a fresh target, for what ran before shares the blame otherwise; a part that is lost again is halved. The faults
// that come up are judged by the worker like all others, and so is what the innocent inputs show. If no input does it alone, the last
// is tried together with what the target had run before, if the mutator can join; else the death is reported as unconfirmed.
func bisectJob[T any](ins []T, froms []origin[T], before []T, f Finding) *job[T] {
	j := &job[T]{name: "bisect", urgency: int(SeverityInvalid)}
	j.result = result[T]{outcome: outcomeUnconfirmed, finding: f}
	j.request.class = classBisect
	j.run = func(q *requester[T], r *result[T]) {
		blamed := false
		run := func(ins []T, froms []origin[T]) (lost bool) {
			j.froms = froms
			alone := len(ins) == 1
			for _, o := range q.do(request[T]{ins: ins, ask: Ask{Quick: true}, class: classBisect, fresh: true, alone: alone}) {
				lost = lost || o.Exit == ExitLost
				if o.Exit != ExitLost && o.failed() && !o.cutShort() { // the fault has a job of its own
					blamed, r.outcome = true, outcomeDropped
				}
			}
			return lost
		}
		var part func(from, to int)
		part = func(from, to int) {
			if from < to && run(ins[from:to], froms[from:to]) {
				half := (from + to) / 2
				part(from, half)
				part(half, to)
			}
		}
		part(0, 1) // most targets work in order, so that the first input without an answer is the first candidate
		part(1, len(ins))
		if join, ok := q.mut.(Joiner[T]); ok && !blamed {
			last := len(ins) - 1
			used := 0
			for _, n := range historyLengths {
				if blamed || used == len(before) {
					break
				}
				used = min(n, len(before))
				long := join.Join(append(slices.Clone(before[len(before)-used:]), ins[last]))
				run([]T{long}, froms[last:])
			}
		}
		r.finding.Tries, r.finding.Message = 1, "the target died, and no input that it had run reproduces that"
	}
	return j
}

package teasel

import "slices"

// bisectJob returns a job that finds out which of the inputs that were in flight when the target died are to blame. The first of them
// runs alone on a fresh target: most targets work in order. If it is to blame, the others were in flight by chance and run again
// together, on the target as it is; those that are lost again are treated in the same way. Otherwise parts of them run on fresh targets,
// for what ran before shares the blame there, and a part that is lost is halved. If no input does it alone, all of them run as one
// behind what the target had run before, if the mutator can join; if that does not help either, the death is reported as unconfirmed,
// with the message inVain. The faults that come up are judged by the worker like all others, and so is what the innocent inputs show.
func bisectJob[T any](ins []T, froms []origin[T], before []T, f Finding, inVain string) *job[T] {
	j := &job[T]{name: "bisect", urgency: int(SeverityInvalid)}
	j.result = result[T]{outcome: outcomeUnconfirmed, finding: f}
	j.request.class = classBisect
	j.run = func(q *requester[T], r *result[T]) {
		blamed := false
		run := func(part []T, of []origin[T], fresh bool, past []T) (lost []T, lostOf []origin[T]) {
			if len(part) == 0 {
				return nil, nil
			}
			j.froms = of
			again := request[T]{ins: part, ask: Ask{Quick: true}, class: classBisect, fresh: fresh, alone: len(part) == 1, past: past}
			obs := q.do(again)
			if again.alone && obs[0].cutShort() { // the target may have been ended since it did not answer
				again.ask.Quick, again.fresh = false, true
				obs = q.do(again)
			}
			for i, o := range obs {
				switch {
				case o.Exit == ExitLost:
					lost, lostOf = append(lost, part[i]), append(lostOf, of[i])
				case o.failed() && !o.cutShort(): // the fault has a job of its own
					blamed, r.outcome = true, outcomeDropped
				}
			}
			return lost, lostOf
		}
		var search func(part []T, of []origin[T])
		search = func(part []T, of []origin[T]) {
			if lost, of := run(part, of, true, nil); len(lost) > 0 {
				half := len(lost) / 2
				search(lost[:half], of[:half])
				search(lost[half:], of[half:])
			}
		}
		ran := before
		for len(ins) > 0 {
			blamed = false
			if run(ins[:1], froms[:1], true, nil); !blamed {
				search(ins[1:], froms[1:])
				break
			}
			ran = ins[1:]
			ins, froms = run(ran, froms[1:], false, nil)
		}
		if len(ins) > 0 && !blamed { // one that was answered may have done it, some time later
			if j.diedLater(q, ran, froms[0].stage) {
				r.outcome = outcomeDropped
				return
			}
			for past, long := range q.sequences(ran, len(ins)) {
				if run([]T{long}, froms[:1], true, past); blamed {
					break
				}
			}
		}
		r.finding.Tries, r.finding.Message = 1, inVain
	}
	return j
}

// diedLater runs what the target had run before, one at a time, and reports whether one of them kills it. Of what they were made is no longer known.
func (j *job[T]) diedLater(q *requester[T], ran []T, stage int) bool {
	ran = ran[max(0, len(ran)-mostTogether):]
	j.froms = slices.Repeat([]origin[T]{{stage: stage}}, len(ran))
	obs := q.do(request[T]{ins: ran, class: classBisect, fresh: true, alone: true})
	return slices.ContainsFunc(obs, func(o Observation) bool { return o.failed() && !o.cutShort() })
}

package teasel

import (
	"cmp"
	"fmt"
	"iter"
	"math/bits"
	"runtime/debug"
	"slices"
)

// Triage is what happens to an input that is not uninteresting: a keep job calibrates and trims it, a find job reproduces and
// minimises the finding, a bisect job finds out of which input a target died. A job is a straight-line function that yields
// requests and never executes them, so that the worker decides when there is time for it. It is a coroutine and not a goroutine,
// so that a campaign stays deterministic, and because a step costs 80 ns instead of 32 us on a thread that is bound.

// request is what a job wants to have executed.
type request[T any] struct {
	ins   []T
	ask   Ask
	class class
	fresh bool   // on a target that was reset just before
	alone bool   // one by one with nothing else in flight, instead of in batches
	id    string // of the finding whose detail is wanted; "": none

	finding *Finding // the same
	past    []T      // the inputs that the only one of ins was joined from; nil: it was not
}

// reproduces reports whether a finding with such an ID is the one that the request is to reproduce, or may be: no job is started
// for it.
func (q *request[T]) reproduces(f *Finding, id string) bool {
	return id == q.id || q.finding != nil && q.finding.resembles(f)
}

// packable reports whether a request may share a batch with others.
func (q *request[T]) packable() bool {
	return q.class == classKeep && !q.fresh && !q.alone && !q.ask.Quiet
}

// outcome is how a job ends.
type outcome uint8

const (
	outcomeInvalid     outcome = iota
	outcomeDropped             // nothing to keep or report
	outcomeKept                // a testcase
	outcomeUnconfirmed         // a finding that was seen, and not reproduced
	outcomeFound               // a finding
)

// result is the result of a job so far. It is valid whenever the job waits for a request: a job that is stopped there ends with it.
type result[T any] struct {
	outcome  outcome
	finding  Finding  // of unconfirmed and found
	version  int      // how often finding was improved since it was found; it is published each time
	names    []string // further IDs that the finding has had while it was reproduced
	in       T        // kept
	data     []byte
	obs      Observation
	unstable []Feature // that did not recur
	trims    bool      // kept, and worth to be trimmed
	short    bool      // finding is a hang that did not have all of its time when it was seen
	crash    bool      // the target has crashed when finding was seen: it may do so by chance
}

// requester is what a job runs with: it yields requests, and knows the mutator of whoever executes them.
type requester[T any] struct {
	do    func(request[T]) []Observation // of one observation for each input; it does not return if the job is stopped
	mut   Mutator[T]
	codec Codec[T]
	width int  // inputs of a batch
	timed bool // decisions may depend on the clock, because runs are not counted
}

// job is a coroutine. It stays with the goroutine that stepped it first: the runtime does not let a coroutine move if a
// goroutine is locked to its thread.
type job[T any] struct {
	result[T]
	name   string
	parent *Testcase[T] // that its inputs were made from; nil: none
	stage  int          // that made them
	froms  []origin[T]  // a bisection's, by input of its requests; nil: all are of parent and stage

	history    []T       // of a find job: what the target had run, its input the last
	reserved   []Feature // by a keep job, see Worker.reserve
	complexity float64   // of its input

	run       func(q *requester[T], r *result[T])
	request   request[T] // that it waits for
	counts    bool       // runs are counted
	urgency   int        // the severity of its finding; see worth
	seq       uint64     // order of creation
	cost      uint64     // see attemptCost; the background adds the nanoseconds that it has spent on it
	published int        // version of the finding
	errand    uint64     // that it does for another worker; 0: none

	answer []Observation
	next   func() (struct{}, bool)
	stop   func()
	ended  bool
	err    error
}

// stopped unwinds a coroutine.
type stopped struct{}

// step delivers the answer to the last request and runs the job until its next request or its end. The first step starts the
// coroutine: a job that was not stepped yet is a few hundred bytes.
func (j *job[T]) step(q requester[T], obs []Observation) {
	if j.next == nil {
		j.next, j.stop = iter.Pull(func(yield func(struct{}) bool) { j.body(q, yield) })
	}
	j.answer = obs
	if _, ok := j.next(); !ok {
		j.ended = true
	}
}

// body is where a job ends by itself, is stopped, or panics. iter.Pull rethrows a panic without its stack, so it is taken here.
func (j *job[T]) body(q requester[T], yield func(struct{}) bool) {
	defer func() {
		switch p := recover().(type) {
		case nil, stopped:
		default:
			j.err = fmt.Errorf("job %s: panic: %v\n%s", j.name, p, debug.Stack())
		}
	}()
	q.do = func(r request[T]) []Observation {
		j.request = r
		if !yield(struct{}{}) {
			panic(stopped{})
		}
		return j.answer
	}
	j.run(&q, &j.result)
}

// worth says how much it is worth to go on with a job: first come unconfirmed findings by severity. Making an input simpler before its
// finding is published is worth less than that, and afterwards still less. With a limit on runs there is time for all, and a finding that
// was reproduced is published before the next of its severity is tried, so that a campaign ends after so many findings. Without one that
// would keep back others: the planted HTTP server without a handshake has 2 of 23 findings unconfirmed after 60 s then, instead of none.
func (j *job[T]) worth() int {
	n := 2 * j.urgency
	switch {
	case j.tried():
		return n - 7
	case j.outcome != outcomeFound:
		return n
	case j.counts && j.request.class != classMinimize:
		return n + 1
	case j.request.class != classMinimize:
		return min(n, 2*int(Medium)) - 1
	}
	return n - 7
}

// order is negative if a job is to be executed before another: first what costs less for what it is worth, and of such jobs the one that was
// created first, so that one ends before the next begins.
func (j *job[T]) order(k *job[T]) int {
	return cmp.Or(cmp.Compare(j.level(), k.level()), cmp.Compare(k.worth(), j.worth()), cmp.Compare(j.seq, k.seq))
}

// level says how much a job has cost for what it is worth, in powers of sixteen, each of which is worth one severity: as in a multilevel
// feedback queue a job that takes long gives way to the others, so that a finding each try of which takes a time limit does not keep back
// many that take no time, and jobs that take about as long end one after the other.
func (j *job[T]) level() int { return 2*((bits.Len64(j.cost)+3)/4) - j.worth() }

// severe reports whether a job is about a finding that must not be left unconfirmed.
func (j *job[T]) severe() bool {
	return j.outcome == outcomeUnconfirmed && j.urgency > int(Low) && !j.tried()
}

// tried reports whether no try has reproduced the finding of a job, which goes on only to find out whether it comes by chance.
func (j *job[T]) tried() bool { return j.outcome == outcomeUnconfirmed && j.finding.Tries > 0 }

// started reports whether the first request of a job is known.
func (j *job[T]) started() bool { return j.next != nil }

// cancel ends the job where it waits. Its result stands as it is.
func (j *job[T]) cancel() {
	if j.stop != nil {
		j.stop()
	}
	j.ended = true
}

// queue holds the pending jobs, by the class of their requests: those that are first in the end.
type queue[T any] struct {
	jobs [classes][]*job[T]
	seq  uint64
}

// add queues jobs. A job keeps its place among its equals, so that it ends before the next one begins.
func (q *queue[T]) add(jobs ...*job[T]) {
	for _, j := range jobs {
		q.number(j)
		of := &q.jobs[j.request.class]
		i, _ := slices.BinarySearchFunc(*of, j, func(k, j *job[T]) int { return j.order(k) })
		*of = slices.Insert(*of, i, j)
	}
}

// number gives a job its place in the order of creation.
func (q *queue[T]) number(j *job[T]) {
	if j.seq == 0 {
		q.seq++
		j.seq = q.seq
	}
}

func (q *queue[T]) len(c class) int { return len(q.jobs[c]) }

func (q *queue[T]) empty() bool {
	return !slices.ContainsFunc(q.jobs[:], func(js []*job[T]) bool { return len(js) > 0 })
}

func (q *queue[T]) first(c class) *job[T] { return q.jobs[c][len(q.jobs[c])-1] }

func (q *queue[T]) take(c class) *job[T] {
	j, last := q.first(c), len(q.jobs[c])-1
	q.jobs[c][last] = nil
	q.jobs[c] = q.jobs[c][:last]
	return j
}

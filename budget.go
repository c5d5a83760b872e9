package teasel

import "time"

// class is what a request of a job is for. Each class has a share of the work, so that none starves another, and a row in the
// statistics of stages.
type class uint8

const (
	classKeep     class = iota // calibrating and trimming an input that may be kept
	classBisect                // finding out which of the inputs in flight the target died of
	classConfirm               // reproducing a finding
	classTrim                  // making a seed that was kept simpler
	classMinimize              // making the input of a confirmed finding simpler
	classFault                 // no job: what the inputs that stages make cost when they end in a fault
	classes
)

var classNames = [classes]string{"calibrate", "bisect", "confirm", "trim", "minimize", "crashes"}

// shares say what part of a worker's work a class may take, at most one part in n; 0: no limit. Keeping has no limit:
// new features become rare by themselves. A worker with a background executor confirms and minimises there, and no share applies.
var shares = [classes]uint64{
	classKeep:     0,
	classBisect:   2, // deaths may come without end
	classConfirm:  knownWork,
	classTrim:     8,
	classMinimize: 8, // a finding that is confirmed already can wait
}

// Confirming, trimming, minimising and running into faults are to take one part in knownWork of a worker's work together: none of them
// finds what is new. Confirming may take all of that, so that no finding waits because others come again and again; what makes inputs
// simpler has what is left, or one part in leastWork, for faults cannot be avoided altogether.
const (
	knownWork = 5
	leastWork = 20
)

// inAdvance is of how much time confirming may take its share before it has passed, or of all the time that there is: what is seen in the first
// seconds and takes seconds to reproduce is confirmed in that minute, and not at the end of it.
const inAdvance = time.Minute

// knownShare is the share of bisecting when none of the last maxBisects has come upon a new finding: most targets that die all the time
// die of what is known already.
const knownShare = 10

// What an execution costs beyond the time of an ordinary one, in ordinary executions. These are orders of magnitude, of targets
// between a quick harness and a slow server; where the clock may decide, budgets count time instead.
const (
	freshCost     = 16  // a fresh target
	crashCost     = 16  // a death, after which the target starts again
	hangCost      = 128 // a time limit
	expensiveCost = 340 // a start of a server that has to be waited for
	slowCost      = 256 // an execution of a second and more, which a busy machine makes of few that are quicker
)

// price returns what an execution costs beyond 1. Of the clock it depends only on whether the execution took a second or more, so that the
// same seed gives the same run.
func price(o *Observation) uint64 {
	if o.Expensive && o.Exit != ExitHang {
		return expensiveCost
	}
	return priceOfEnd(o)
}

// attemptCost returns what reproducing a finding is known to cost each time, after it was seen once: in nanoseconds or, where runs are
// counted, in ordinary executions.
func attemptCost(o *Observation, timed bool) uint64 {
	if timed {
		return uint64(o.Elapsed) + price(o)*uint64(time.Millisecond)
	}
	return 1 + price(o)
}

// priceOfEnd is the price for those who take a start of the target as a matter of course, as minimising does where each candidate
// takes one.
func priceOfEnd(o *Observation) uint64 {
	switch {
	case o.Exit == ExitHang:
		return hangCost
	case o.Elapsed >= time.Second:
		return slowCost
	case o.Exit == ExitCrash:
		return crashCost
	}
	return 0
}

// Limits of triage.
const (
	defaultTries    = 3    // a finding that reproduces 3 of 3 times is called stable
	defaultTrim     = 512  // executions to trim a seed; few seeds gain from more
	defaultMinimize = 1024 // executions to minimise a finding

	trimWork = 1 << 29 // that a seed may cost while it is trimmed, as Observation.Work has it: a program does so much in about a second

	minimizeSlice = 512     // after so much cost the simplest input so far is verified on a fresh target and published
	maskedCost    = 64      // to look for a part of a flaky input that another finding is to blame for
	chanceCost    = 2048    // to reproduce a crash that comes by chance: about 1,400 quick executions, which show one in 300 in 99 of 100 cases
	chanceRuns    = 32      // of these that follow one another without a fresh target: what more of them leave behind may be the cause
	maxShorten    = 128     // executions to find out which parts of a long input a finding needs
	longInput     = 16      // parts, beyond which that is found out before the finding is published
	maxAttempts   = 4       // jobs that may end without reproducing a finding before it is ignored
	maxExtras     = 1 << 14 // distinct findings that the background reports beside those that it confirms
	maxBisects    = 8       // bisections in the queue, beyond which a death is not looked into: one that has a cause comes again
	maxGiven      = 4096    // seeds of a worker that are mutated whatever they reach
	unstableTimes = 4       // calibrations in which a feature did not recur, after which it is ignored in the whole campaign
)

// historyLengths are how many of the inputs that the target has run before are put in front of an input that does not
// reproduce a finding by itself, the shortest first: the cause mostly ran shortly before, and each input more makes the
// result slower to minimise.
var historyLengths = [...]int{3, 12, 128, 1024, 1 << 15}

// maxStoredHistory is how many bytes of what the target had run are stored with an unconfirmed finding.
const maxStoredHistory = 256 << 10

// mostTogether is how many of these are also sent at once: more are hardly ever in flight.
const mostTogether = 129

// wholeHistories is how many findings wait with all that the target has run before them, which may be a megabyte each. Those that
// come while so many wait have the last few inputs only.
const (
	wholeHistories = 256
	shortHistory   = 12
)

// slowFind is the cost of an execution from which a finding is always confirmed in the background.
const slowFind = uint64(time.Second / 10)

// backlog is how many jobs the background has from which the worker confirms findings as well. The background serves them fairly, and
// each that the worker confirms itself interrupts fuzzing: with 2 instead of 64, server-everything got half as many executions in
// 14 s, and the planted server of mcp in 40 s.
const backlog = 64

// slowTick is the time that counts for one execution more while a finding is minimised on a background executor.
const slowTick = 4 * time.Millisecond

// slowHistory is how long a sequence may take to execute if a longer one, which takes several times as long, is to be tried
// after it. Only a background executor looks at the clock.
const slowHistory = 2 * time.Second

// With a [Pipeliner], inputs to be kept wait for others, since calibrating them takes the target from the batches: so many
// inputs, or so many batches.
const (
	keepBatch   = 16
	keepBatches = 8
)

// meter says how much a worker has done, in all and for each class: in nanoseconds or, where the clock may decide nothing
// because runs are counted, in the price of executions.
type meter struct {
	counts   bool // by price
	began    time.Time
	advance  uint64 // of how much confirming may take its share before it has passed
	total    uint64 // price of all executions so far
	known    int    // bisections since the last one that came upon a new finding
	spent    [classes]uint64
	typical  time.Duration   // that an execution takes which ends well, where the clock was looked at
	hangs    uint64          // of spent[classFault], on hangs
	fell     bool            // the last execution has ended in a fault: the next one may have to start the target
	reported [classes]uint64 // of spent, in the statistics
}

// now returns how much the worker has done in all.
func (m *meter) now() uint64 {
	if m.counts {
		return m.total
	}
	return uint64(time.Since(m.began))
}

// clock returns the time, if it may be looked at.
func (m *meter) clock() (now time.Time) {
	if !m.counts {
		now = time.Now()
	}
	return now
}

// ran accounts for executions: for all of them where runs are counted, and otherwise for the time that faults have taken, the start of
// the target after them included. began is zero if nobody has looked at the clock. What a job executes is accounted for by its class.
func (m *meter) ran(began time.Time, obs []Observation, job bool) {
	before, lost, hung, faults, took := m.fell, false, false, uint64(0), time.Duration(0)
	m.fell = false
	for i := range obs {
		o := &obs[i]
		cost := uint64(o.Runs) + price(o)
		if o.Exit == ExitLost { // one death, however many were in flight
			cost = uint64(o.Runs)
			if !lost {
				cost += crashCost
			}
			lost = true
		}
		m.total += cost
		if o.failed() {
			faults, m.fell, took = faults+cost, true, took+o.Elapsed
			hung = hung || o.Exit == ExitHang
		}
	}
	switch n := time.Duration(len(obs)); {
	case n == 0 || m.counts && job:
		return
	case m.counts:
		m.fault(faults, hung)
		return
	case !began.IsZero():
		took = time.Since(began)
		switch {
		case before || m.fell:
		case m.typical == 0:
			m.typical = took / n
		default:
			m.typical += (took/n - m.typical) / 8
		}
		took = max(took-m.typical*n, 0)
	}
	if (before || m.fell) && !job {
		m.fault(uint64(took), hung)
	}
}

// fault accounts for what faults have cost.
func (m *meter) fault(cost uint64, hung bool) {
	if m.spent[classFault] += cost; hung {
		m.hangs += cost
	}
}

// freeTrim is what trimming may cost before its share applies, so that the seeds of a quick target are trimmed before anything is made of
// them.
func (m *meter) freeTrim() uint64 {
	if m.counts {
		return 4096
	}
	return uint64(time.Second / 10)
}

// A stage makes usualRound inputs of a testcase at most, which should not take longer than roundTime: a target that takes 5 ms for each
// would otherwise work for seconds on each of the first testcases, whatever the others are worth. AFL++ divides its havoc for slow targets
// too (havoc_div).
const (
	usualRound = 512
	roundTime  = time.Second / 4
	leastPace  = 1.0 / 64
	paceRuns   = 16 // executions after which it is known how slow a target is
)

// pace returns by what energy is multiplied for a target that has made so many executions; 1 where runs are counted.
func (m *meter) pace(executions uint64) float64 {
	if m.counts || executions < paceRuns {
		return 1
	}
	each := time.Since(m.began).Seconds() / float64(executions)
	return min(max(roundTime.Seconds()/(each*usualRound), leastPace), 1)
}

// affords reports whether there is work left for a class. A class may exceed its share by one request.
func (m *meter) affords(c class) bool {
	share := shares[c]
	if share == 0 || m.spent[c] == 0 || c == classTrim && m.spent[c] < m.freeTrim() {
		return true
	}
	if c == classBisect && m.known >= maxBisects {
		share = knownShare
	}
	now := m.now()
	if c == classConfirm {
		now = max(now, m.advance)
	}
	if m.spent[c]*share > now {
		return false
	}
	return c == classBisect || c == classConfirm || m.spent[c]*leastWork <= now || !m.exceeds()
}

// exceeds reports whether what finds nothing new has taken more than its share.
func (m *meter) exceeds() bool {
	return (m.spent[classConfirm]+m.spent[classTrim]+m.spent[classMinimize]+m.spent[classFault])*knownWork > m.now()
}

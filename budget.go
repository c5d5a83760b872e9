package teasel

import "time"

// class is what a request of a job is for. Each class has a share of the work, so that none starves another, and a row in the
// statistics of stages.
type class uint8

const (
	classKeep     class = iota // calibrating and trimming an input that may be kept
	classBisect                // finding out which of the inputs in flight the target died of
	classConfirm               // reproducing a finding
	classMinimize              // making the input of a confirmed finding simpler
	classes
)

var classNames = [classes]string{"calibrate", "bisect", "confirm", "minimize"}

// shares say what part of a worker's work a class may take, at most one part in n; 0: no limit. Keeping has no limit:
// new features become rare by themselves. A worker with a background executor confirms and minimises there, and no share applies.
var shares = [classes]uint64{
	classKeep:     0,
	classBisect:   2, // deaths may come without end
	classConfirm:  4, // a target with many hangs would do nothing else: each takes several time limits
	classMinimize: 8, // a finding that is confirmed already can wait
}

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

// price returns what an execution costs beyond 1. It depends on the clock in one coarse step only, so that the same seed gives the
// same run.
func price(o *Observation) uint64 {
	if o.Expensive && o.Exit != ExitHang {
		return expensiveCost
	}
	return priceOfEnd(o)
}

// attemptCost returns what reproducing a finding is known to cost each time, after it was seen once: in nanoseconds or, where runs are
// counted, by price alone.
func attemptCost(o *Observation, timed bool) uint64 {
	if timed {
		return uint64(o.Elapsed) + price(o)*uint64(time.Millisecond)
	}
	return price(o)
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
	maxShorten    = 128     // executions to find out which inputs before that of a finding it needs
	maxAttempts   = 4       // jobs that may end without reproducing a finding before it is ignored
	maxExtras     = 1 << 14 // distinct findings that the background reports beside those that it confirms
	maxBisects    = 8       // bisections in the queue, beyond which a death is not looked into: one that has a cause comes again
	maxFallback   = 256     // seeds that are mutated while no input shows a feature
	unstableTimes = 4       // calibrations in which a feature did not recur, after which it is ignored in the whole campaign
)

// historyLengths are how many of the inputs that the target has run before are put in front of an input that does not
// reproduce a finding by itself, the shortest first: the cause mostly ran shortly before, and each input more makes the
// result slower to minimise.
var historyLengths = [...]int{3, 12, 128, 1024}

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

// endTime is how long findings are confirmed after a campaign was interrupted or its duration is over. After a duration, those that are
// more than low have a part of it, if that is longer: a hang that was seen last takes a time limit and two starts of the target.
const (
	endTime    = 2 * time.Second
	endPart    = 6
	maxEndTime = 10 * time.Second
)

// meter says how much a worker has done, in all and for each class: in nanoseconds or, where the clock may decide nothing
// because runs are counted, in the price of executions.
type meter struct {
	counts bool // by price
	began  time.Time
	known  int // bisections since the last one that came upon a new finding
	spent  [classes]uint64
}

// now returns how much the worker has done in all, cost being the price of all executions so far.
func (m *meter) now(cost uint64) uint64 {
	if m.counts {
		return cost
	}
	return uint64(time.Since(m.began))
}

// affords reports whether there is work left for a class. A class may exceed its share by one request.
func (m *meter) affords(c class, cost uint64) bool {
	share := shares[c]
	if share == 0 || m.spent[c] == 0 {
		return true
	}
	if c == classBisect && m.known >= maxBisects {
		share = knownShare
	}
	return m.spent[c]*share <= m.now(cost)
}

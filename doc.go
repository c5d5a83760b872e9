// Package teasel is one fuzzing engine for many kinds of target.
//
// A [Worker] is the whole fuzzer: its [Scheduler] picks a [Testcase], each [Stage] makes inputs from it with the
// [Mutator], its [Executor] runs them, and what comes back is an [Observation]. Most are uninteresting: nothing new, nothing
// wrong, and that check is all they cost. When something is wrong, a [Detector] makes a [Finding] of it, which is
// reproduced, also on a fresh target, minimised, and published. When something is new and the [Pool] wants
// it, the input is calibrated, trimmed, kept and published. Both are jobs: functions that ask for executions, which the worker
// makes when they are due.
//
// Only news leaves a worker, through an [Exchange], and reaches the one [Hub] that owns the corpus and the findings
// and informs the reporters. A worker is a goroutine, a process (package exchange/pipe) or a machine; it cannot tell.
//
// Before the run everything is typed by the input: [Campaign], [Worker], [Stage], [Target], [Executor], [Mutator],
// [Codec], [Testcase]. What outlives it sees ids, features and bytes only: [Observation], [Pool], [Scheduler],
// [Detector], [Finding], [Entry], [Exchange], [Hub], [Event].
//
// A new kind of target needs four things: a Target that opens Executors, an Executor, a Mutator, a Codec. Further
// ability is a further interface of few methods, found by assertion: for executors [BatchExecutor], [Pipeliner], [Resetter],
// [Learner], [Historian]; for mutators [Undoer], [Stepper], [Simplifier], [Crosser], [Joiner], [Indexer], [Repairer].
//
// With one worker and a limit on [Campaign].Runs the same seed gives the same run, as long as the target answers the same:
// execution n draws from a generator that is seeded by the campaign's seed and n, and one decision alone depends on the clock: how
// many candidates that take a second or longer are run to minimise a finding.
package teasel

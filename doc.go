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
// # For those who write a kind of target
//
// A kind needs four things: a [Target] that opens executors, an [Executor], a [Mutator], a [Codec], for bytes [Bytes]. An executor fills in
// an [Observation]: Exit always, Features with numbers of its own or [FeatureOf] of hashes, and Detail, by which [Crashes] tells findings
// apart, so that addresses and numbers that vary do not belong there. A [Campaign] runs it. Further
// ability is a further interface of few methods, found by assertion: for executors [BatchExecutor], [Weigher], [Pipeliner], [Postponer], [Resetter] (without
// it, findings are confirmed on the target that has run other inputs), [Learner], [Historian]; for mutators [Undoer], [Stepper],
// [Simplifier] (without it, only inputs that are slices are minimised, by leaving out elements), [Crosser], [Joiner], [Indexer], [Repairer].
// docs/new-kind.md walks through one of sixty lines.
//
// # For those who write a stage, a pool or a scheduler
//
// [Stage], [Worker], [Testcase], [Ask], [Operand]; [Pool], [Delta], [Rating], [Pick].
//
// # For those who write a reporter or a transport
//
// [Reporter], [Event], [Stats], [Summary]; [Exchange], [News], [Reply], [Entry], [Errand], [Sighting], [Advance], [Snapshot], [Source].
//
// # Determinism
//
// With one worker and a limit on [Campaign].Runs the same seed gives the same run, as long as the target answers the same:
// execution n draws from a generator that is seeded by the campaign's seed and n, and one decision alone depends on the clock: how
// many candidates that take a second or longer are run to minimise a finding.
package teasel

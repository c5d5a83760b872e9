// Package teasel is one fuzzing loop for many kinds of target.
//
// A [Worker] is the whole fuzzer: its [Scheduler] picks a [Testcase], each [Stage] makes inputs from it with the
// [Mutator], its [Executor] runs them, and what comes back is an [Observation]. Most are boring: nothing new, nothing
// wrong, and that test is all they cost. When something is wrong, a [Detector] makes a [Finding] of it, which is
// shown again on a fresh target, made as simple as it gets, and published. When something is new and the [Pool] wants
// it, the input is calibrated, trimmed, kept and published.
//
// Only news leaves a worker, through an [Exchange], and reaches the one [Hub] that owns the corpus and the findings
// and tells the reporters. A worker is a goroutine, a process ([Dial], [Serve]) or a machine; it cannot tell.
//
// Before the run everything is typed by the input: [Campaign], [Worker], [Stage], [Target], [Executor], [Mutator],
// [Codec], [Testcase]. What lives after it sees ids, features and bytes only: [Observation], [Pool], [Scheduler],
// [Detector], [Finding], [Entry], [Exchange], [Hub], [Event].
//
// A new kind of target needs four things: a Target that opens Executors, an Executor, a Mutator, a Codec. Further
// ability is a further interface of one method, found by assertion: for executors [BatchExecutor], [Resetter],
// [Learner], [Historian], [Straggler]; for mutators [Cloner], [Undoer], [Stepper], [Simplifier], [Crosser],
// [Joiner], [Counter], [Repairer].
//
// With one worker the same seed gives the same run, as long as the target answers the same: execution n draws from a
// generator that is seeded by the campaign's seed and n. The clock decides only how much is done to show a finding again and
// to make it simple: less where an execution takes a tenth of a second or more.
package teasel

package teasel

import "context"

// A Target describes what is fuzzed. It is inert: Open starts a live instance. Several workers may call Open concurrently, each of
// which owns the executor that it gets. The goroutine that opens an executor is the one that closes it, so that Open may bind
// its thread to a processor and Close may release it.
type Target[T any] interface {
	Open(ctx context.Context, role Role) (Executor[T], error)
}

// Role says what an executor is opened for. The zero value is the first worker's, which also suits a single replay.
type Role struct {
	Worker     int  // the number of the worker, from 0 on
	Background bool // findings are confirmed and minimised on it while the worker fuzzes; it should yield the processor to the worker
}

// An Executor is a live target. An error is a failure of ours and ends the worker; whatever the target does wrong is
// an [Observation]. After a death the executor starts the target again by itself, at the latest in the next Exec.
// Inputs are lent for the call. One goroutine at a time uses an executor.
type Executor[T any] interface {
	// Exec runs one input with nothing else in flight and gives it all the time that it may take. When ctx ends it returns
	// soon, with an error that wraps that of ctx; the observation is then ignored. ExitLost counts as ExitCrash.
	Exec(ctx context.Context, in T, obs *Observation) error
	// Close ends the target and everything it started, and returns when that is gone.
	Close() error
}

// A BatchExecutor runs several inputs in one round trip. ExecBatch returns how many it ran, from the first on and at least one; the
// rest is handed in again. When the target dies and it is not known of which input, those without an answer get [ExitLost], and the
// worker bisects them. That takes one fresh target if the first of them in the order of the batch is to blame.
type BatchExecutor[T any] interface {
	BatchSize() int
	ExecBatch(ctx context.Context, ins []T, obs []Observation) (done int, err error)
}

// A Weigher is a [BatchExecutor] for inputs that may be large. Weight says as how many an input counts, at least one: a batch with
// BatchSize of them is full. An executor that takes only some of a batch of large inputs would otherwise have the worker hold many more.
type Weigher[T any] interface{ Weight(in T) int }

// A Pipeliner is a [BatchExecutor] that runs a batch while the worker judges the one before it and makes the next. Between
// Submit and Collect no other method is called, and what Submit was given is the executor's. The evidence of a batch is
// good until the next but one.
type Pipeliner[T any] interface {
	// Submit starts a batch and returns at once.
	Submit(ctx context.Context, ins []T, obs []Observation) error
	// Collect waits for the batch and returns what ExecBatch would.
	Collect(ctx context.Context) (done int, err error)
	// Late returns, one at a time, inputs of earlier batches whose observation has come to an end since then, because the
	// executor does not wait for slow answers. When they come depends on the clock, so their features are ignored, unless the
	// observation is Expensive: then they are kept without another execution. The input is a copy for the caller to keep.
	Late(ctx context.Context, obs *Observation) (in T, ok bool)
}

// A Resetter is an [Executor] that can make its target as it was after Open. Without it the target counts as fresh as it is: findings
// are confirmed on the target that has run other inputs.
type Resetter interface {
	Reset(ctx context.Context) error
}

// A Postponer is a [Pipeliner] that puts off seeds that take long. Postponed reports whether some have not been run; it may be called at any
// time. Those for which there is no time are given to the next run, like seeds that no worker has run.
type Postponer interface{ Postponed() bool }

// A Learner is an [Executor] that judges novelty itself, where the counters are, and reports only features that are
// new to it or that it knows from more complex inputs alone. Learn gives it the features that the worker now holds, and how
// complex the holder is.
type Learner interface {
	Learn(fs []Feature, complexity float64)
}

// A Historian is an [Executor] that remembers what its target has run. History returns copies of the inputs that the
// instance which ran the observed one had received since its start, those of the same batch included whether they were answered or
// not, in the order of their arrival, up to the observed one, which is the last; it may have forgotten the oldest. An executor that runs
// several inputs at once returns parts of them, as they arrived. It is asked at every new finding, while the evidence
// is good, in case the input alone does not reproduce the finding, and at every death that has to be bisected, for the last input that
// was lost. The inputs are of use only with a mutator that is a [Joiner].
type Historian[T any] interface{ History(obs *Observation) []T }

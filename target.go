package teasel

import "context"

// A Target describes what is fuzzed. It is inert: Open starts a live instance. Several workers may call Open at once, each of
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
	Exec(ctx context.Context, in T, obs *Observation) error
	// Close ends the target and everything it started, and returns when that is gone.
	Close() error
}

// A BatchExecutor runs several inputs in one round trip. done says how many it ran, at least one; the rest is handed
// in again. When the target dies and it is not known of which input, those in question get [ExitLost], and the
// worker takes the batch apart.
type BatchExecutor[T any] interface {
	BatchSize() int
	ExecBatch(ctx context.Context, ins []T, obs []Observation) (done int, err error)
}

// An Overlapper is a [BatchExecutor] that can run a batch while the worker judges the one before it and makes the next.
// If Overlaps says so when the target has been opened, ExecBatch is called by other goroutines than the one that opened it,
// still one at a time and never while another method is running, and the evidence of a call is good until the next but one.
type Overlapper interface{ Overlaps() bool }

// A Rester is an [Executor] that keeps what its last calls came to. Rest says that none of that is needed, nor its memory
// for a while; the evidence of those is no longer good.
type Rester interface{ Rest() }

// A Resetter is an [Executor] that can make its target as it was after Open.
type Resetter interface {
	Reset(ctx context.Context) error
}

// A Readier is a [Resetter] that makes its next fresh target ready beside the one in use. Ready reports whether that is
// done, so that Reset would not have to wait. While it is not, the worker goes on fuzzing before it confirms anything.
type Readier interface{ Ready() bool }

// A Learner is an [Executor] that judges novelty itself, where the counters are, and reports only features that are
// new to it or that it knows from more complex inputs alone. Learn tells it what the worker now holds and how
// complex the holder is.
type Learner interface {
	Learn(fs []Feature, complexity float64)
}

// A Historian is an [Executor] that remembers what its target has run. History returns copies of the inputs that the
// instance which ran the observed one had run before it since its start, those of the same batch included, oldest first;
// it may have forgotten the oldest. It is asked for faults that need more than one input, while the evidence is good.
type Historian[T any] interface{ History(obs *Observation) []T }

// A Straggler is an [Executor] that does not wait for slow answers. After an execution it is asked, until it says no,
// for inputs of earlier executions whose observation has meanwhile come to an end. When they come depends on the clock, so
// their features are ignored, but for those of [Observation.Dear] ones, which are believed without another execution: an
// executor that has to run the same twice hands none of these in. The input is a copy for the caller to keep.
type Straggler[T any] interface {
	Straggler(obs *Observation) (in T, ok bool)
}

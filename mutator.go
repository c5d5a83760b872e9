package teasel

import "math/rand/v2"

// Rand is the campaign's generator. It is seeded anew for every execution from the campaign's seed and the number of
// the execution, so that one execution is a pure function of those and of the testcase it began with.
type Rand = rand.Rand

// A Mutator makes inputs and changes them. Each worker, and its background executor, gets a copy of
// its own if the mutator is a [Cloner]; otherwise they share it, and its methods must bear being called at once.
type Mutator[T any] interface {
	// Generate makes an input from nothing.
	Generate(r *Rand) T
	// Mutate returns a changed src. It never writes to src and may use the memory of dst, an older input.
	Mutate(r *Rand, dst, src T) T
	// Complexity is the one measure of "simpler": pools keep the simplest, the minimiser goes down. It is never
	// negative, and equal inputs have equal complexity.
	Complexity(in T) float64
}

// A Cloner is a [Mutator] of which each worker gets a copy of its own.
type Cloner[T any] interface{ Clone() Mutator[T] }

// An Undoer is a [Mutator] that changes an input in place. Changes stack: Undo takes back the last one that was not
// yet taken back. A worker with an undoer and an executor without batches copies no input at all.
type Undoer[T any] interface {
	Change(r *Rand, in *T)
	Undo(in *T)
}

// A Stepper is a [Mutator] with ordered mutations that are worth trying once each. Step k of an input is a pure
// function of both, so that a number is all the state there is; false means that k is past the last step.
type Stepper[T any] interface {
	Step(k uint64, dst, src T) (T, bool)
}

// A Simplifier is a [Mutator] that can propose simpler inputs: big removals first, then small ones, then plainer
// values. Candidate k is a pure function of k and src; false means that k is past the last. Candidates that are not
// of strictly lower complexity are passed over.
type Simplifier[T any] interface {
	Simplify(k uint64, dst, src T) (T, bool)
}

// A Crosser is a [Mutator] that makes one input from two.
type Crosser[T any] interface {
	Cross(r *Rand, dst, a, b T) T
}

// A Joiner is a [Mutator] that can put inputs one after another into one, so that a fault which several of them
// caused together can be shown by one input.
type Joiner[T any] interface{ Join(ins []T) T }

// A Counter is a [Mutator] of inputs that have parts, such as messages. Where a target dies of fewer parts, and something
// else is to blame then, what was to blame first had no part in it.
type Counter[T any] interface{ Parts(in T) int }

// A Repairer is a [Mutator] that mends what a target compares: for each operand pair that differed it puts the value
// that was wanted where the other one stands. That keeps checksums right after a mutation and while minimising.
// False means that nothing was changed.
type Repairer[T any] interface {
	Repair(dst, src T, ops []Operand) (T, bool)
}

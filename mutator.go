package teasel

import "math/rand/v2"

// Rand is the campaign's generator. It is seeded anew for every execution from the campaign's seed and the number of
// the execution, so that one execution is a pure function of those and of the testcase it began with.
type Rand = rand.Rand

// A Mutator makes inputs and changes them. If [Campaign.NewMutator] is set, each worker and each background executor has a
// mutator of its own, used by one goroutine; otherwise all share one, whose methods may be called concurrently. Wherever a method
// may use the memory of dst, dst is an older input or the zero value.
type Mutator[T any] interface {
	// Generate makes an input from nothing.
	Generate(r *Rand) T
	// Mutate returns a changed src. It never writes to src and may use the memory of dst.
	Mutate(r *Rand, dst, src T) T
	// Complexity is the one measure of "simpler": pools keep the simplest, the minimiser goes down. It is never
	// negative, infinite or NaN, and equal inputs have equal complexity.
	Complexity(in T) float64
}

// An Undoer is a [Mutator] that changes an input in place. Changes stack: Undo takes back the last one that was not
// yet taken back, after which the input is equal to what it was before, in the same memory or other. A worker with an undoer and an executor
// without batches copies no input at all.
type Undoer[T any] interface {
	Change(r *Rand, in *T)
	Undo(in *T)
}

// A Stepper is a [Mutator] with ordered mutations that are worth trying once each. Step k of an input is a pure
// function of both, so that a number is all the state there is; false means that k is past the last step. As with Mutate, src is not
// written to, and the memory of dst may be used.
type Stepper[T any] interface {
	Step(k uint64, dst, src T) (T, bool)
}

// A Simplifier is a [Mutator] that can propose simpler inputs: big removals first, then small ones, then plainer
// values. Candidate k is a pure function of k and src; false means that k is past the last. Candidates that are not
// of strictly lower complexity are passed over. As with Mutate, src is not written to, and the memory of dst may be used.
type Simplifier[T any] interface {
	Simplify(k uint64, dst, src T) (T, bool)
}

// A Crosser is a [Mutator] that makes one input from two, neither of which it writes to. It may use the memory of dst.
type Crosser[T any] interface {
	Cross(r *Rand, dst, a, b T) T
}

// A Joiner is a [Mutator] of inputs that are sequences, such as messages of a dialogue. Join puts inputs one after another
// into one, so that one input reproduces a fault that several of them caused together. Parts returns the length of the
// sequence, and Keep a copy of an input that has only some of its parts, by their numbers in ascending order. Where the target dies of a
// part of an input, and another finding is reported for that, the finding for the whole input is dropped, because it blames the wrong
// message. If the target may work on several inputs at once, a Joiner has a method Together as well.
type Joiner[T any] interface {
	Join(ins []T) T
	Parts(in T) int
	Keep(in T, parts []int) T
}

// pipelined is a [Joiner] for a target that may work on several inputs at once. Together returns an input with the same parts, each of which
// is sent before the one before it is answered.
type pipelined[T any] interface{ Together(in T) T }

// An Indexer is a [Mutator] that takes parts of other testcases, such as sub-values of the same type. Kept is called for every
// testcase that its worker keeps, Dropped for every one that it evicts. The input is lent for the call.
type Indexer[T any] interface {
	Kept(id ID, in T)
	Dropped(id ID)
}

// A Repairer is a [Mutator] that changes an input to pass the comparisons that failed: for each pair of operands that
// differed it puts the expected value where the other one is in the input. That keeps checksums right after a mutation and
// while minimising (RedQueen, NDSS 2019). False means that nothing was changed.
type Repairer[T any] interface {
	Repair(dst, src T, ops []Operand) (T, bool)
}

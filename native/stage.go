package native

import (
	"context"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

var (
	_ teasel.Stage[[]byte] = Walk{}
	_ teasel.Stage[[]byte] = Havoc{}
)

// The havoc stage makes few inputs from a testcase at a time, so that new testcases are picked soon: as many as run in a quarter of a
// millisecond, which is about ten times the round trip of their batch, but at least minTurn.
const (
	minTurn  = 64
	turnWork = 1 << 15 // in the unit of [teasel.Observation.Work], including teasel's share of an execution
)

// Havoc is [teasel.Havoc] with an energy that depends on how fast the testcase runs.
type Havoc struct{}

// Name implements [teasel.Stage].
func (Havoc) Name() string { return "havoc" }

// Run implements [teasel.Stage].
func (Havoc) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	return teasel.Havoc[[]byte]{Energy: turn(tc.Work, w.BatchSize())}.Run(ctx, w, tc)
}

// turn returns how many inputs are made from a testcase at a time, at most one batch.
func turn(work uint64, batch int) int {
	if work == 0 { // unknown
		return minTurn
	}
	return max(min(int(turnWork/work), batch), minTurn)
}

// Stages returns the stages for native targets, in order.
func Stages() []teasel.Stage[[]byte] {
	return append(operands.Stages(), Custom{}, Walk{}, Plain{operands.Tokens{}}, Plain{Havoc{}}, Plain{teasel.Splice[[]byte]{}})
}

// maxWalk is the length of the longest input to which the steps are applied: for longer ones, havoc finds more in the same time.
const maxWalk = 16

// walkAfter is how often a testcase must have been picked before the steps are applied to it: until then, havoc finds more.
const walkAfter = 16

// Walk applies the ordered steps, which are AFL's deterministic stage, to short inputs of programs that do not record their
// comparisons: builds of AFL++ and programs without instrumentation. Where comparisons are recorded, the operand stages reach the
// same in far fewer executions.
type Walk struct {
	teasel.Steps[[]byte]
	Always bool // of every testcase of every program
}

// WithSteps returns the stages with the ordered steps applied to every testcase.
func WithSteps(stages []teasel.Stage[[]byte]) []teasel.Stage[[]byte] {
	stages = slices.Clone(stages)
	for i, s := range stages {
		if _, ok := s.(Walk); ok {
			stages[i] = Walk{Always: true}
		}
	}
	return stages
}

// Run implements [teasel.Stage].
func (k Walk) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	if k.Always {
		return k.Steps.Run(ctx, w, tc)
	}
	if len(tc.Input) > maxWalk || tc.Picked < walkAfter {
		return nil
	}
	if known, err := operands.Recorded(ctx, w, tc); err != nil || known {
		return err
	}
	return k.Steps.Run(ctx, w, tc)
}

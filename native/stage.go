package native

import (
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate/operands"
)

var (
	_ teasel.Stage[[]byte] = Walk{}
	_ teasel.Stage[[]byte] = Havoc{}
)

// The havoc stage makes few inputs of a testcase at a time, so that new testcases get their turn soon: as many as run in a
// quarter of a millisecond, which is about ten times the round trip of their batch, but at least leastTurn.
const (
	leastTurn = 64
	turnWork  = 1 << 15 // in the unit of [teasel.Observation.Work], with our own share of an execution
)

// Havoc is [teasel.Havoc] with an energy that depends on how fast the testcase runs.
type Havoc struct{}

// Name implements [teasel.Stage].
func (Havoc) Name() string { return "havoc" }

// Run implements [teasel.Stage].
func (Havoc) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	return teasel.Havoc[[]byte]{Energy: turn(tc.Work, w.BatchSize())}.Run(ctx, w, tc)
}

// turn returns how many inputs are made of a testcase at a time, one batch at most.
func turn(work uint64, batch int) int {
	if work == 0 { // unknown
		return leastTurn
	}
	return max(min(int(turnWork/work), batch), leastTurn)
}

// Stages returns the stages for native targets, in order.
func Stages() []teasel.Stage[[]byte] {
	return append(operands.Stages(), Custom{}, Walk{}, Plain{operands.Tokens{}}, Plain{Havoc{}}, Plain{teasel.Splice[[]byte]{}})
}

// maxWalk is the length of the longest input that the steps are tried on: of longer ones, havoc finds more in the same time.
const maxWalk = 16

// walkAfter is how often a testcase was picked before the steps are tried on it: until then, havoc finds more.
const walkAfter = 16

// Walk runs the ordered steps, which are AFL's deterministic stage, on short inputs of programs that do not say what they
// compare: AFL++'s builds and programs without instrumentation. The operand stages find the same in far fewer executions.
type Walk struct{ teasel.Steps[[]byte] }

// Run implements [teasel.Stage].
func (k Walk) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	if len(tc.Input) > maxWalk || tc.Picked < walkAfter {
		return nil
	}
	if known, err := operands.Recorded(ctx, w, tc); err != nil || known {
		return err
	}
	return k.Steps.Run(ctx, w, tc)
}

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

// A turn of havoc is short, so that it comes sooner to testcases that were just found: as many inputs as take a quarter of a
// millisecond, about ten times as long as the round trip of their batch, but no fewer than leastTurn, however slow they are.
const (
	leastTurn = 64
	turnWork  = 1 << 15 // in the unit of [teasel.Observation.Work], our own part of an execution included
)

// Havoc is [teasel.Havoc] with an energy that depends on how quick the testcase is.
type Havoc struct{}

// Name implements [teasel.Stage].
func (Havoc) Name() string { return "havoc" }

// Run implements [teasel.Stage].
func (Havoc) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	return teasel.Havoc[[]byte]{Energy: turn(tc.Work, w.BatchSize())}.Run(ctx, w, tc)
}

// turn is how many inputs are made of a testcase at a time: one batch at most.
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

// walked is how long an input is at most that is worth walking over: in longer ones, chance finds more in the same time.
const walked = 16

// stale is how often a testcase had its turn before it is walked over: until then, chance finds more.
const stale = 16

// Walk is the ordered steps, AFL's deterministic stage, for short inputs of programs that do not tell what they compare:
// those of AFL++ and those without instrumentation. With operands the same is found in far fewer executions.
type Walk struct{ teasel.Steps[[]byte] }

// Run implements [teasel.Stage].
func (k Walk) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	if len(tc.Input) > walked || tc.Picked < stale {
		return nil
	}
	if known, err := operands.Recorded(ctx, w, tc); err != nil || known {
		return err
	}
	return k.Steps.Run(ctx, w, tc)
}

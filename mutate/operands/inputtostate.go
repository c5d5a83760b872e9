package operands

import (
	"context"

	"github.com/teaselfuzz/teasel"
)

var _ teasel.Stage[[]byte] = InputToState{}

// InputToState replaces values of a testcase by those with which the program compares them, as RedQueen and CmpLog do. Each candidate is
// run once.
type InputToState struct {
	Energy int // number of candidates of a testcase of average energy per turn; 0: 512
}

// Name implements [teasel.Stage].
func (InputToState) Name() string { return "operands" }

// Run implements [teasel.Stage].
func (o InputToState) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	s, err := analysisOf(ctx, w, tc)
	if err != nil {
		return err
	}
	for range w.Energy(o.Energy, 512) {
		if s.next == len(s.swaps) {
			if len(s.sites) == 0 || s.repaired == len(s.swaps) {
				s.swaps, s.next, s.repaired = nil, 0, 0
			}
			return nil
		}
		slot := w.Slot()
		*slot = s.swaps[s.next].apply(w.Mutator(), *slot, tc.Input)
		s.next++
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

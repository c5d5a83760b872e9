package teasel_test

import (
	"context"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// dyingBatch is a target that dies of inputs that end in '!'. It does not say of which input of a batch.
type dyingBatch struct{ execFunc }

func (d dyingBatch) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return d, nil
}
func (dyingBatch) BatchSize() int { return 8 }

func (d dyingBatch) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	dead := slices.ContainsFunc(ins, func(in []byte) bool { return in[len(in)-1] == '!' })
	for i := range ins {
		if d.execFunc(ins[i], &obs[i]); dead {
			obs[i].Exit = teasel.ExitLost
		}
	}
	return len(ins), nil
}

// letters is a stage that makes an input of each of its letters.
type letters string

func (letters) Name() string { return "letters" }

func (l letters) Run(ctx context.Context, w *teasel.Worker[[]byte], _ *teasel.Testcase[[]byte]) error {
	for i := range len(l) {
		*w.Slot() = []byte(l[i : i+1])
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A crash that a bisection finds when all runs are made is confirmed as well: where runs are counted, jobs have the time for it.
func TestBisectedAtTheEnd(t *testing.T) {
	c := bytesCampaign(dyingBatch{func(in []byte, o *teasel.Observation) {
		if accept(in, o); in[len(in)-1] == '!' {
			o.Exit, o.Detail = teasel.ExitCrash, "!"
		}
	}})
	c.Runs, c.MinimizeRuns = 17, -1 // the seed and two batches, in the last of which it dies
	c.Stages = []teasel.Stage[[]byte]{letters("0123456789abcde!")}
	if s, err := c.Run(t.Context()); err != nil || len(s.Findings) != 1 || !s.Findings[0].Confirmed() || len(s.Unconfirmed) != 0 {
		t.Errorf("findings %v, unconfirmed %v, %v", s.Findings, s.Unconfirmed, err)
	}
}

// A batch in which one input makes the target hang is lost like one in which it dies. The hang is found, and nothing else is said to be wrong.
func TestBisectedHang(t *testing.T) {
	c := bytesCampaign(dyingBatch{func(in []byte, o *teasel.Observation) {
		if accept(in, o); in[len(in)-1] == '!' {
			o.Exit, o.Detail = teasel.ExitHang, "!"
		}
	}})
	c.Runs, c.MinimizeRuns = 17, -1
	c.Stages = []teasel.Stage[[]byte]{letters("0123456789abcde!")}
	if s, err := c.Run(t.Context()); err != nil || len(s.Findings) != 1 || s.Findings[0].Rule != "hang" || len(s.Unconfirmed) != 0 {
		t.Errorf("findings %v, unconfirmed %v, %v", s.Findings, s.Unconfirmed, err)
	}
}

package teasel_test

import (
	"bytes"
	"context"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// flightTarget dies when it works on an a and a b at the same time: both are in one batch, or in one input in capitals, which are sent at once.
type flightTarget struct{}

type flight struct{ past [][]byte }

func (flightTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return &flight{}, nil
}
func (*flight) Close() error                  { return nil }
func (*flight) BatchSize() int                { return 64 }
func (e *flight) Reset(context.Context) error { e.past = nil; return nil }
func (*flight) History(o *teasel.Observation) [][]byte {
	h, _ := o.Evidence.(lived)
	return slices.Clone(h)
}

func (e *flight) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	e.past = append(e.past, bytes.Clone(in))
	o.Evidence, o.Features, o.Exit, o.Runs = lived(slices.Clone(e.past)), append(o.Features, 1), teasel.ExitOK, uint32(len(in))
	if bytes.IndexByte(in, 'A') >= 0 && bytes.IndexByte(in, 'B') >= 0 {
		o.Exit, o.Detail, e.past = teasel.ExitCrash, "died", nil
	}
	return nil
}

func (e *flight) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	all := bytes.Join(ins, nil)
	died := bytes.IndexByte(all, 'a') >= 0 && bytes.IndexByte(all, 'b') >= 0
	for i := range ins {
		if err := e.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
		if died {
			obs[i].Exit = teasel.ExitLost
		}
	}
	if died {
		e.past = nil
	}
	return len(ins), nil
}

// flightMutator can send at once what an input has in a row.
type flightMutator struct{ blockMutator }

func (flightMutator) Together(in []byte) []byte { return bytes.ToUpper(in) }

// What takes two inputs at the same time is reproduced by those two, sent together, and not reported as lost.
func TestTogether(t *testing.T) {
	text := "......................a....................b.............."
	c := bytesCampaign(flightTarget{})
	c.Mutator, c.Seeds, c.Runs = flightMutator{}, [][]byte{{'-'}}, uint64(len(text)+1)
	c.Stages = []teasel.Stage[[]byte]{letters(text)}
	c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes)} }
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := bisected(s); got != "AB 3/3" {
		t.Errorf("found %s", got)
	}
}

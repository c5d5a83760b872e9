package teasel_test

import (
	"context"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// prefixTarget is a target whose features are the first bytes of its inputs. A seven kills it the second time, and a nine shows
// something else each time.
type prefixTarget struct {
	pipeline[[]byte]
	seen  map[byte]int
	small int // calls with no more inputs than one needs to be calibrated
}

var _ teasel.Pipeliner[[]byte] = (*prefixTarget)(nil)

func (r *prefixTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	r.run = r.ExecBatch
	return r, nil
}
func (r *prefixTarget) Close() error   { return nil }
func (r *prefixTarget) BatchSize() int { return 32 }

func (r *prefixTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	first := byte(0)
	if len(in) > 0 {
		first = in[0]
	}
	r.seen[first]++
	o.Exit, o.Features = teasel.ExitOK, append(o.Features[:0], teasel.Feature(1+int(first)))
	switch {
	case first == 7 && r.seen[first] > 1:
		o.Exit, o.Features = teasel.ExitCrash, o.Features[:0]
	case first == 9:
		o.Features[0] = teasel.Feature(1000 + r.seen[first])
	}
	return nil
}

func (r *prefixTarget) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	if len(ins) <= 2 {
		r.small++
	}
	for i := range ins {
		if err := r.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
	}
	return len(ins), nil
}

// What is worth keeping waits for others of the kind and is calibrated with them: nothing gets lost by that, and nothing
// of one gets to another.
func TestCalibrateTogether(t *testing.T) {
	target := &prefixTarget{seen: map[byte]int{}}
	c := bytesCampaign(target)
	c.Runs, c.Calibrate = 100_000, 2
	kept := map[byte]bool{}
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventAdded {
			first := append(slices.Clone(e.Entry.Data), 0)[0]
			kept[first] = true
			if want := teasel.Feature(1 + int(first)); !slices.Equal(e.Entry.Features.Append(nil), []teasel.Feature{want}) {
				t.Errorf("%q is kept for %v, want %v", e.Entry.Data, e.Entry.Features, want)
			}
		}
		return nil
	})}
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(kept) != 254 || kept[7] || kept[9] {
		t.Errorf("%d first bytes are kept, 7: %v, 9: %v; want all others", len(kept), kept[7], kept[9])
	}
	if len(s.Findings) != 1 || s.Findings[0].Original[0] != 7 {
		t.Errorf("findings: %v", s.Findings)
	}
	if target.small > 120 {
		t.Errorf("%d calls had two inputs at most, for 254 testcases", target.small)
	}
}

// sevenTarget is a target that is over an input of seven bytes when the time for it is short.
type sevenTarget struct{}

func (sevenTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return sevenTarget{}, nil
}
func (sevenTarget) Close() error { return nil }

func (sevenTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(len(in)+1))
	if len(in) == 7 && o.Ask.Quick {
		o.Exit, o.Features = teasel.ExitHang, o.Features[:0]
	}
	return nil
}

// What is slow is kept all the same, and is no hang.
func TestSlowInputIsKept(t *testing.T) {
	c := bytesCampaign(sevenTarget{})
	c.Seeds, c.Calibrate, c.TrimRuns, c.Runs = [][]byte{[]byte("seven b")}, 2, -1, 20
	kept := false
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		kept = kept || e.Kind == teasel.EventAdded && len(e.Entry.Data) == 7
		if e.Kind == teasel.EventUnconfirmed {
			t.Errorf("%s was seen", e.Finding.Rule)
		}
		return nil
	})}
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) > 0 || !kept {
		t.Errorf("kept %v, findings %v, %v", kept, s.Findings, err)
	}
}

// unstableTarget is a target that judges what is new by itself, with a feature that is there in every second calibration of each seed
// but the last, and always in that of the last one.
type unstableTarget struct{ runs map[string]int }

var _ teasel.Learner = (*unstableTarget)(nil)

const wobble = teasel.Feature(7)

func (w *unstableTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return w, nil
}
func (w *unstableTarget) Learn([]teasel.Feature, float64) {}
func (w *unstableTarget) Close() error                    { return nil }

func (w *unstableTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Runs = teasel.ExitOK, 1
	n := w.runs[string(in)]
	w.runs[string(in)]++
	switch {
	case len(in) != 1:
	case in[0] != 'X':
		if o.Features = append(o.Features, teasel.Feature(in[0])); o.Ask.Features && n%2 == 1 {
			o.Features = append(o.Features, wobble)
		}
	case o.Ask.Features:
		o.Features = append(o.Features, wobble)
	case n == 0:
		o.Features = append(o.Features, 500)
	}
	return nil
}

// A feature that is ignored since it does not recur is no reason to keep what has it.
func TestUnstableFeatureIsNotKept(t *testing.T) {
	c := bytesCampaign(&unstableTarget{map[string]int{}})
	c.Calibrate, c.TrimRuns, c.Runs = 2, -1, 500
	for _, s := range []string{"A", "B", "C", "D", "X"} {
		c.Seeds = append(c.Seeds, []byte(s))
	}
	worked := map[string]bool{}
	c.Stages = []teasel.Stage[[]byte]{stageFunc(func(tc *teasel.Testcase[[]byte]) { worked[string(tc.Input)] = true })}
	s, err := c.Run(t.Context())
	if err != nil || s.Corpus != 4 || !worked["A"] {
		t.Errorf("corpus of %d, worked on %v, %v", s.Corpus, worked, err)
	}
}

// stageFunc is a stage that makes one input and is called for each testcase.
type stageFunc func(tc *teasel.Testcase[[]byte])

func (stageFunc) Name() string { return "told" }

func (f stageFunc) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	f(tc)
	s := w.Slot()
	*s = append((*s)[:0], "other"...)
	return w.Commit(ctx)
}

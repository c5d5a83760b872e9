package teasel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// Seeds get as many executions as what is made between them: a slow target has time for little else.
func TestSeedsGetTheirShare(t *testing.T) {
	c := bytesCampaign(newTrouble(0, 0))
	c.Runs, c.Seeds = 4000, nil
	for i := range 1000 {
		c.Seeds = append(c.Seeds, fmt.Appendf(nil, "seed %05d", i))
	}
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if s.Waiting > 0 {
		t.Errorf("after %d runs %d of 1000 seeds are waiting", s.Executions, s.Waiting)
	}
}

// endingTarget is a target that ends the campaign in its execution number end, and notes what it runs.
type endingTarget struct {
	failingTarget
	end    int
	cancel context.CancelFunc
	inputs *[]string
}

func (e endingTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return e, nil
}

func (e endingTarget) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	*e.inputs = append(*e.inputs, string(in))
	if len(*e.inputs) == e.end {
		e.cancel()
	}
	return e.failingTarget.Exec(ctx, in, o)
}

// Seeds that were not run when a campaign ends are still waiting.
func TestSeedsAreNotLost(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := bytesCampaign(endingTarget{newTrouble(0, 0), 5, cancel, new([]string)})
	c.Seeds = nil
	for i := range 100 {
		c.Seeds = append(c.Seeds, fmt.Appendf(nil, "%0*d", i+1, 0))
	}
	s, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if s.Waiting < 95 {
		t.Errorf("%d of 100 seeds are waiting, 5 executions were made", s.Waiting)
	}
}

// waitOnce is a stage that lets the time pass after which a worker looks at the hub, once.
type waitOnce struct{ done *bool }

func (waitOnce) Name() string { return "dawdle" }

func (d waitOnce) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	for i := range 200 {
		if i == 100 && !*d.done {
			*d.done = true
			time.Sleep(1100 * time.Millisecond)
		}
		*w.Slot() = append([]byte(nil), tc.Input...)
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// How long something takes does not decide when seeds are run.
func TestSeedsComeByCount(t *testing.T) {
	run := func(quick bool) []string {
		inputs := new([]string)
		c := bytesCampaign(endingTarget{newTrouble(0, 0), 0, nil, inputs})
		c.Runs, c.Seeds, c.Calibrate = 6000, nil, 4
		c.Stages = []teasel.Stage[[]byte]{waitOnce{&quick}}
		for i := range 200 {
			c.Seeds = append(c.Seeds, fmt.Appendf(nil, "%0*d", i+1, 0))
		}
		if _, err := c.Run(t.Context()); err != nil {
			t.Fatal(err)
		}
		return *inputs
	}
	if quick, slow := run(true), run(false); !slices.Equal(quick, slow) {
		t.Errorf("%d and %d executions, and not of the same inputs", len(quick), len(slow))
	}
}

// slowStage is a stage whose rounds take longer than a worker waits before it looks at the hub, which it does on its way.
type slowStage struct{}

func (slowStage) Name() string { return "slowly" }

func (slowStage) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	for i := range 4 {
		time.Sleep(300 * time.Millisecond)
		*w.Slot() = append([]byte(nil), tc.Input[:min(i, len(tc.Input))]...)
		if err := w.Commit(ctx); err != nil {
			return err
		}
		if err := w.Flush(ctx); err != nil {
			return err
		}
	}
	return nil
}

// What comes from outside is run between two rounds, however long these are.
func TestSourceBetweenLongRounds(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	foreign := []byte("what another fuzzer has found")
	c := bytesCampaign(reaching{})
	c.Stages, c.Duration = []teasel.Stage[[]byte]{slowStage{}}, time.Minute
	c.Source = sourceFunc(func(context.Context) ([][]byte, error) { return [][]byte{foreign}, nil })
	came := false
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventAdded && string(e.Entry.Data) == string(foreign) {
			came = true
			cancel()
		}
		return nil
	})}
	if _, err := c.Run(ctx); err != nil || !came {
		t.Errorf("it came: %v, %v", came, err)
	}
}

// reaching is a target of batches that tells inputs apart by their length.
type reaching struct{ noopBatch }

func (r reaching) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return r, nil }
func (reaching) BatchSize() int                                                       { return 4 }

func (reaching) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		obs[i].Exit, obs[i].Features = teasel.ExitOK, append(obs[i].Features, teasel.Feature(len(ins[i])+1))
	}
	return len(ins), ctx.Err()
}

// picky is a codec that refuses inputs that begin with "bad".
type picky struct{ raw }

func (picky) Decode(data []byte) ([]byte, error) {
	if strings.HasPrefix(string(data), "bad") {
		return nil, errors.New("this is bad")
	}
	return raw{}.Decode(data)
}

// An input from outside that cannot be decoded is skipped and noted; if there are very many, not each of them is.
func TestUndecodableSeedsAreSkipped(t *testing.T) {
	leaks(t)
	var l events
	c := bytesCampaign(newTrouble(0, 0))
	c.Codec, c.Reporters, c.Runs = picky{}, []teasel.Reporter{&l}, 2000
	for i := range 500 {
		c.Seeds = append(c.Seeds, fmt.Appendf(nil, "bad %d", i))
	}
	c.Seeds = append(c.Seeds, []byte("the last one"))
	s, err := c.Run(t.Context())
	if err != nil || s.Waiting != 0 || s.Executions < 2000 {
		t.Fatalf("%v after %d executions, %d seeds are waiting", err, s.Executions, s.Waiting)
	}
	notes := l.of(teasel.EventNote)
	if len(notes) < 8 || len(notes) > 20 {
		t.Fatalf("%d notes: %v", len(notes), notes)
	}
	if text := notes[0].Text; !strings.Contains(text, teasel.Key([]byte("bad 0"))) || !strings.Contains(text, "this is bad") {
		t.Errorf("note %q", text)
	}
	if !slices.ContainsFunc(l.of(teasel.EventAdded), func(e teasel.Event) bool { return string(e.Entry.Data) == "the last one" }) {
		t.Error("the seed after them was not kept")
	}
}

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
	c.Source = sourceFunc(func(context.Context) (teasel.Supply, error) { return teasel.Supply{Inputs: [][]byte{foreign}}, nil })
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

// Each seed runs once, in order, before anything is calibrated, trimmed or made of one, and how many have run is reported. Those that an
// interrupt leaves without calibration are still waiting.
func TestSeedsComeFirst(t *testing.T) {
	const seeds = 300
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	inputs := new([]string)
	c := bytesCampaign(endingTarget{newTrouble(0, 0), seeds, cancel, inputs})
	c.Seeds, c.Calibrate = nil, 4
	for i := range seeds {
		c.Seeds = append(c.Seeds, fmt.Appendf(nil, "%0*d", i+1, 0))
	}
	s, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	for i := range c.Seeds {
		if (*inputs)[i] != string(c.Seeds[i]) {
			t.Fatalf("execution %d is of an input of %d bytes, want the seed", i+1, len((*inputs)[i]))
		}
	}
	if s.Seeds != seeds || s.SeedsRun < seeds-seedsDealt {
		t.Errorf("%d of %d seeds have run", s.SeedsRun, s.Seeds)
	}
	if s.Waiting == 0 && s.Corpus == 0 {
		t.Error("no seed was calibrated, and none is waiting")
	}

	c.Target, c.Runs = newTrouble(0, 0), 4000
	if s, err = c.Run(t.Context()); err != nil || s.Waiting > 0 || s.SeedsRun != seeds {
		t.Errorf("%d of %d seeds have run, %d are waiting, %v", s.SeedsRun, s.Seeds, s.Waiting, err)
	}
}

// seedsDealt is how many seeds a worker gets at a time.
const seedsDealt = 16

// blindTarget shows the same for all inputs, or the more the more letters there are, and dies of what begins like a seed.
type blindTarget struct {
	failingTarget
	letters bool
}

func (b blindTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return b, nil
}

func (b blindTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, 1)
	if b.letters {
		for _, c := range in {
			o.Features = append(o.Features, teasel.Feature(2+c/8))
		}
		slices.Sort(o.Features)
		o.Features = slices.Compact(o.Features)
	}
	if strings.HasPrefix(string(in), "SEED!") {
		o.Exit, o.Detail = teasel.ExitCrash, "dead"
	}
	return nil
}

// A seed is mutated as it was given, whatever it reaches: what it reaches may not be seen.
func TestSeedIsMutatedWhateverItReaches(t *testing.T) {
	for _, letters := range []bool{false, true} {
		for seed := range uint64(5) {
			c := bytesCampaign(blindTarget{newTrouble(0, 0), letters})
			c.Seeds = [][]byte{[]byte("0"), []byte("SEED"), []byte("another"), {}}
			c.Calibrate, c.Runs, c.StopAfter, c.Seed = 2, 2_000_000, 1, seed
			s, err := c.Run(t.Context())
			if err != nil || len(s.Findings) != 1 {
				t.Errorf("letters %t, seed %d: %d findings in %d runs, %v", letters, seed, len(s.Findings), s.Executions, err)
			}
			t.Logf("letters %t, seed %d: %d runs", letters, seed, s.Executions)
		}
	}
}

// seedBatches is a target of batches that notes how many inputs each has, and ends the campaign when so many have run.
type seedBatches struct {
	noopBatch
	left  int
	sizes *[]int
	over  context.CancelFunc
}

func (t *seedBatches) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return t, nil
}

func (t *seedBatches) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	*t.sizes = append(*t.sizes, len(ins))
	if t.left -= len(ins); t.left <= 0 {
		t.over()
	}
	return t.noopBatch.ExecBatch(ctx, ins, obs)
}

// The seeds of a quick target run in batches as large as any: a target of which a few are asked at a time waits for most of it.
func TestSeedsFillBatches(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	const seeds = 4096
	var sizes []int
	c := bytesCampaign(&seedBatches{noopBatch{size: 256}, seeds, &sizes, cancel})
	c.Seeds, c.Duration = nil, time.Hour
	for i := range seeds {
		c.Seeds = append(c.Seeds, fmt.Appendf(nil, "%05d", i))
	}
	if _, err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if sizes[0] > 2 || len(sizes) > seeds/32 {
		t.Errorf("%d seeds were run in %d batches, the first of %d", seeds, len(sizes), sizes[0])
	}
}

package teasel_test

import (
	"bytes"
	"context"
	"fmt"
	"runtime"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// pipelineTarget is a reusedMemoryTarget that runs one batch while the one before is judged. Its evidence is valid until the next call
// but one; what an input begins with is a feature of it.
type pipelineTarget struct {
	pipeline[[]byte]
	reusedMemoryTarget
	other   [][1]byte // the notes of the call before
	running atomic.Bool
	looks   int    // observations that were judged
	beside  int    // while a batch was running
	at      int    // calls
	cancel  func() // in the hundredth call; nil: not
}

func newPipelineTarget(deadly bool) *pipelineTarget {
	return &pipelineTarget{reusedMemoryTarget: reusedMemoryTarget{notes: make([][1]byte, 32), deadly: deadly}, other: make([][1]byte, 32)}
}

func (s *pipelineTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	s.pipeline.run = s.ExecBatch
	return s, nil
}

func (s *pipelineTarget) Close() error {
	if s.running.Load() {
		return fmt.Errorf("closed while a batch is running")
	}
	return nil
}

func (s *pipelineTarget) call(run func()) {
	if s.running.Swap(true) {
		panic("two calls at once")
	}
	defer s.running.Store(false)
	if s.at++; s.at == 100 && s.cancel != nil {
		s.cancel()
	}
	s.notes, s.other = s.other, s.notes
	run()
}

func (s *pipelineTarget) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (n int, err error) {
	s.call(func() {
		if s.most = len(s.notes); s.at%8 == 0 {
			s.most = 8
		}
		time.Sleep(time.Microsecond) // which is a while, for Detect to see it
		n, err = s.reusedMemoryTarget.ExecBatch(ctx, ins, obs)
	})
	for i := range obs[:n] {
		s.reach(&obs[i])
	}
	return n, err
}

func (s *pipelineTarget) Exec(ctx context.Context, in []byte, o *teasel.Observation) (err error) {
	s.call(func() { err = s.reusedMemoryTarget.Exec(ctx, in, o) })
	s.reach(o)
	return err
}

func (s *pipelineTarget) reach(o *teasel.Observation) {
	if note, ok := o.Evidence.(*[1]byte); ok {
		o.Features = append(o.Features, teasel.Feature(1+note[0]&15))
	}
}

func (s *pipelineTarget) Detect(o *teasel.Observation) []teasel.Finding {
	if s.looks++; s.looks%512 == 0 {
		wait := 10 * time.Millisecond
		if s.beside == 0 { // on a busy machine the other goroutine may take long to begin
			wait = time.Second
		}
		for end := time.Now().Add(wait); !s.running.Load() && time.Now().Before(end); {
			runtime.Gosched()
		}
	}
	if s.running.Load() {
		s.beside++
	}
	return s.reusedMemoryTarget.Detect(o)
}

func pipelineCampaign(s *pipelineTarget) *teasel.Campaign[[]byte] {
	c := bytesCampaign(s)
	c.Runs, c.MinimizeRuns = 20_000, 1
	c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{s} }
	return c
}

// A batch runs while the one before is judged, and each input has its own findings and features all the same.
func TestPipeline(t *testing.T) {
	for _, deadly := range []bool{false, true} {
		run := func() (events []string, sum teasel.Summary) {
			s := newPipelineTarget(deadly)
			c := pipelineCampaign(s)
			c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
				if e.Kind == teasel.EventAdded {
					if want := teasel.Feature(1 + e.Entry.Data[0]&15); !slices.Equal(e.Entry.Features.Append(nil), []teasel.Feature{want}) {
						t.Errorf("%q is kept for %v, want %v", e.Entry.Data, e.Entry.Features, want)
					}
					events = append(events, fmt.Sprint(e.Entry.Key, e.Entry.Execution, e.Entry.Stage, e.Entry.Parent))
				}
				return nil
			})}
			sum, err := c.Run(context.Background())
			if err != nil || sum.Executions < c.Runs || sum.Executions > c.Runs+1000 || len(sum.Findings) != 8 {
				t.Errorf("deadly %v: %d findings, want 8, in %d executions, %v", deadly, len(sum.Findings), sum.Executions, err)
			}
			if s.beside == 0 {
				t.Error("nothing was judged while a batch was running")
			}
			for _, f := range sum.Findings {
				if f.Rule == "odd" && string(rune('0'+f.Original[0]&15)) != f.Subject {
					t.Errorf("deadly %v: %q was found by %q", deadly, f.Subject, f.Original)
				}
			}
			return events, sum
		}
		first, sum := run()
		again, other := run()
		if len(first) < 10 || !slices.Equal(first, again) || sum.Executions != other.Executions {
			t.Errorf("the same seed gave two runs, or hardly one: %d and %d testcases, %d and %d executions",
				len(first), len(again), sum.Executions, other.Executions)
		}
		var made uint64
		for _, st := range sum.Stages {
			made += st.Executions
		}
		if made != sum.Executions {
			t.Errorf("stages have made %d executions of %d", made, sum.Executions)
		}
	}
}

// A campaign that ends while a batch flies waits for it.
func TestPipelineCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	s := newPipelineTarget(false)
	s.cancel = cancel
	c := pipelineCampaign(s)
	c.Runs = 0
	if _, err := c.Run(ctx); err != nil {
		t.Error(err)
	}
}

// firstByteTarget is a pipelined target whose only feature is the first byte of an input, reported once.
type firstByteTarget struct{ shown map[byte]bool }

func (s firstByteTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return struct {
		firstByteTarget
		*pipeline[[]byte]
	}{s, &pipeline[[]byte]{run: s.ExecBatch}}, nil
}
func (s firstByteTarget) Close() error   { return nil }
func (s firstByteTarget) BatchSize() int { return 4 }

func (s firstByteTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	if len(in) > 0 && !s.shown[in[0]] {
		s.shown[in[0]] = true
		o.Features = append(o.Features, teasel.Feature(in[0])+1)
	}
	return nil
}

func (s firstByteTarget) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		if err := s.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
	}
	return len(ins), nil
}

// probing is a stage that shows something new in a batch, nothing in the next, and runs something else before it makes more.
type probing struct{ next *byte }

func (probing) Name() string { return "probing" }

func (p probing) Run(ctx context.Context, w *teasel.Worker[[]byte], _ *teasel.Testcase[[]byte]) error {
	*p.next++
	for i := range 12 {
		s := w.Slot()
		if *s = append((*s)[:0], 0, byte(i)); i == 0 {
			(*s)[0] = *p.next
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
		if i == 7 {
			if _, err := w.Probe(ctx, [][]byte{{0}}, teasel.Ask{}); err != nil {
				return err
			}
		}
	}
	return nil
}

// An input that waits to be judged is not written over, whatever lands the batch behind it.
func TestPendingInputIsNotOverwritten(t *testing.T) {
	c := bytesCampaign(firstByteTarget{map[byte]bool{}})
	c.Seeds, c.Runs = [][]byte{{0}}, 2000
	c.Stages = []teasel.Stage[[]byte]{probing{new(byte)}}
	kept := 0
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventAdded {
			kept++
			if want := []teasel.Feature{teasel.Feature(e.Entry.Data[0]) + 1}; !slices.Equal(e.Entry.Features.Append(nil), want) {
				t.Errorf("%v is kept for %v, want %v", e.Entry.Data, e.Entry.Features, want)
			}
		}
		return nil
	})}
	if _, err := c.Run(t.Context()); err != nil || kept < 50 {
		t.Errorf("%d testcases, %v", kept, err)
	}
}

// dyingPipeline is a firstByteTarget that dies of inputs that end in '!', with those in flight after them.
type dyingPipeline struct {
	firstByteTarget
	sizes []int
}

func (f *dyingPipeline) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return struct {
		*dyingPipeline
		*pipeline[[]byte]
	}{f, &pipeline[[]byte]{run: f.ExecBatch}}, nil
}
func (f *dyingPipeline) BatchSize() int { return 8 }

func (f *dyingPipeline) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	if bytes.HasSuffix(in, []byte("!")) {
		o.Exit, o.Detail = teasel.ExitCrash, "!"
		return nil
	}
	return f.firstByteTarget.Exec(ctx, in, o)
}

func (f *dyingPipeline) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	f.sizes = append(f.sizes, len(ins))
	dead := slices.IndexFunc(ins, func(in []byte) bool { return bytes.HasSuffix(in, []byte("!")) })
	for i := range ins {
		if dead >= 0 && i >= dead {
			obs[i].Exit = teasel.ExitLost
		} else if err := f.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
	}
	return len(ins), nil
}

// signing is a stage of a few inputs, which begin with a number of their own and say who has made them from what.
type signing struct {
	name   string
	inputs int
	next   *byte
	deadly bool
}

func (s signing) Name() string { return s.name }

func (s signing) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	for i := range s.inputs {
		*s.next++
		slot := w.Slot()
		*slot = fmt.Appendf((*slot)[:0], "%c %s %s", rune(*s.next&127), s.name, tc.Key)
		if s.deadly && i == 1 {
			*slot = append(*slot, '!')
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// Stages that make less than a batch share one, and each input is put down to the stage and the testcase that it is from,
// also if the target has died and the batch was taken apart.
func TestBatchCreditsStages(t *testing.T) {
	for _, deadly := range []bool{false, true} {
		f := &dyingPipeline{firstByteTarget: firstByteTarget{map[byte]bool{}}}
		c := bytesCampaign(f)
		next := new(byte)
		c.Seeds, c.Runs = [][]byte{{0}}, 2000
		c.Stages = []teasel.Stage[[]byte]{signing{"a", 3, next, deadly}, signing{"b", 2, next, false}}
		kept := 0
		c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
			if e.Kind != teasel.EventAdded || e.Entry.Parent == "" {
				return nil
			}
			kept++
			if want := fmt.Sprintf(" %s %s", e.Entry.Stage, e.Entry.Parent); string(e.Entry.Data[1:]) != want {
				t.Errorf("deadly %v: %q is put down to %q", deadly, e.Entry.Data, want)
			}
			return nil
		})}
		sum, err := c.Run(t.Context())
		if err != nil || kept < 20 || (len(sum.Findings) > 0) != deadly {
			t.Errorf("deadly %v: %d testcases, %d findings, %v", deadly, kept, len(sum.Findings), err)
		}
		full := 0
		for _, n := range f.sizes {
			full += n / f.BatchSize()
		}
		if !deadly && full < len(f.sizes)*9/10 {
			t.Errorf("%d of %d batches were full", full, len(f.sizes))
		}
		if two := sum.Stages[1].Executions; !deadly && (two < 700 || two > 900) {
			t.Errorf("the second stage has made %d executions of 2000, want two of five", two)
		}
	}
}

// weighing is a target of batches that notes what the inputs of each weigh: a byte as one.
type weighing struct {
	noopBatch
	weights *[]int
}

func (t weighing) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return t, nil }
func (t weighing) Weight(in []byte) int                                               { return len(in) }

func (t weighing) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	sum := 0
	for i := range ins {
		obs[i].Features = append(obs[i].Features, 1)
		sum += len(ins[i])
	}
	*t.weights = append(*t.weights, sum)
	return t.noopBatch.ExecBatch(ctx, ins, obs)
}

// weighty is a stage that makes inputs of 0 to 9 bytes.
type weighty struct{}

func (weighty) Name() string { return "weighty" }

func (weighty) Run(ctx context.Context, w *teasel.Worker[[]byte], _ *teasel.Testcase[[]byte]) error {
	for i := range 50 {
		s := w.Slot()
		if *s = (*s)[:0]; i%10 > 0 {
			*s = append(*s, "123456789"[:i%10]...)
		}
		if err := w.Commit(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A batch is full of fewer inputs if these are large.
func TestWeigher(t *testing.T) {
	var weights []int
	c := bytesCampaign(weighing{noopBatch{size: 20}, &weights})
	c.Seeds, c.Runs, c.Stages = [][]byte{{0}}, 2000, []teasel.Stage[[]byte]{weighty{}}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	full := 0
	for _, n := range weights {
		if n > 20+8 {
			t.Errorf("a batch weighs %d, want at most 20 and what the last input is beyond that", n)
		}
		if n >= 18 {
			full++
		}
	}
	if full < len(weights)*3/4 {
		t.Errorf("%d of %d batches are full", full, len(weights))
	}
}

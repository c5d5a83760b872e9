package teasel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/policy"
)

// fragile crashes at random, in one of several ways, and fails or ends the campaign at random. It notes every crash that an
// executor has returned.
type randomCrashTarget struct {
	mu    sync.Mutex
	r     *rand.Rand
	ran   int
	end   int    // executions after which stop is called
	stop  func() // nil: Exec fails
	seen  map[string]bool
	batch int
}

type randomCrashExecutor struct{ t *randomCrashTarget }

type randomCrashBatches struct {
	randomCrashExecutor
	pipeline[[]byte]
}

func (f *randomCrashTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	if f.batch == 0 {
		return randomCrashExecutor{f}, nil
	}
	e := &randomCrashBatches{randomCrashExecutor: randomCrashExecutor{f}}
	e.run = e.ExecBatch
	return e, nil
}

func (e randomCrashExecutor) Close() error { return nil }

func (e randomCrashExecutor) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	f := e.t
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ran++; f.ran == f.end {
		if f.stop == nil {
			return errors.New("lost the pipe")
		}
		f.stop()
	}
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(len(in)+1))
	if f.r.IntN(20) == 0 {
		o.Exit, o.Detail, o.Features = teasel.ExitCrash, fmt.Sprintf("crash %d", f.r.IntN(12)), nil
		f.seen[o.Detail] = true
	}
	return nil
}

func (e *randomCrashBatches) BatchSize() int { return e.t.batch }

func (e *randomCrashBatches) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		if err := e.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
	}
	return len(ins), nil
}

// Whatever ends a campaign, and whenever it does: each crash that was seen is reported, as found or as unconfirmed.
func TestNoFindingIsLost(t *testing.T) {
	leaks(t)
	gone := errors.New("the disk is full")
	stops := uint64(200)
	if testing.Short() {
		stops = 100
	}
	for n := range stops {
		r := rand.New(rand.NewPCG(n, 7))
		target := &randomCrashTarget{r: r, seen: map[string]bool{}, end: 20 + r.IntN(4000), batch: []int{0, 0, 4, 16}[r.IntN(4)]}
		c := bytesCampaign(target)
		ctx, cancel := context.WithCancel(t.Context())
		ways := []string{"runs", "findings", "cancel", "failure", "hub", "stage"}
		way := ways[n%uint64(len(ways))]
		c.Background, c.Calibrate, c.MinimizeRuns = r.IntN(2) == 0, r.IntN(3), 64
		h := &teasel.Hub{}
		switch way {
		case "runs":
			c.Runs, target.end = uint64(target.end), -1
		case "findings":
			h.StopAfter = 1 + r.IntN(4)
			target.end, target.stop = 20_000, func() { go h.Stop("memory") } // if that many are never confirmed
		case "cancel":
			target.stop = cancel
		case "hub":
			h.StopAfter = 100
			target.stop = func() { go h.Stop("memory") }
		case "stage":
			c.Stages = []teasel.Stage[[]byte]{teasel.Havoc[[]byte]{}, failing{gone, target.end, new(int)}}
			target.end = -1
		}
		reported := map[string]bool{}
		ends := map[string]int{}
		h.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
			if e.Kind == teasel.EventFound || e.Kind == teasel.EventUnconfirmed {
				reported[e.Finding.Group] = true
				ends[e.Finding.Group+e.Kind.String()]++
			}
			return nil
		})}
		h.Seed([]byte("seed"))
		err := c.Work(ctx, h.Join(), 0)
		cancel()
		if fails := way == "failure" || way == "stage"; (err != nil) != fails {
			t.Fatalf("%d, %s: %v", n, way, err)
		}
		for crash := range target.seen {
			if !reported[crash] {
				t.Errorf("%d: ended by %s, %s was seen and is not reported (background %v, batches of %d)", n, way, crash, c.Background, target.batch)
			}
		}
		for what, times := range ends {
			if times > 2 && what[len(what)-len("unconfirmed"):] == "unconfirmed" {
				t.Errorf("%d: %s is reported %d times", n, what, times)
			}
		}
	}
}

// failing is a stage that fails after some rounds.
type failing struct {
	err   error
	end   int
	round *int
}

func (failing) Name() string { return "failing" }

func (f failing) Run(context.Context, *teasel.Worker[[]byte], *teasel.Testcase[[]byte]) error {
	if *f.round += 512; *f.round > f.end {
		return f.err
	}
	return nil
}

// prober is a stage that only probes.
type prober struct{ probes *int }

func (prober) Name() string { return "prober" }

func (p prober) Run(ctx context.Context, w *teasel.Worker[[]byte], _ *teasel.Testcase[[]byte]) error {
	for {
		*p.probes++
		if _, err := w.Probe(ctx, [][]byte{[]byte("x")}, teasel.Ask{}); err != nil {
			return err
		}
	}
}

// A campaign that is interrupted ends at the next execution, whoever asks for it.
func TestProbesNoticeTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	inputs, probes := new([]string), 0
	c := bytesCampaign(endingTarget{newTrouble(0, 0), 1000, cancel, inputs})
	c.Stages = []teasel.Stage[[]byte]{prober{&probes}}
	if _, err := c.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if len(*inputs) > 1001 || probes < 900 {
		t.Errorf("%d executions after the campaign was interrupted, %d probes", len(*inputs)-1000, probes)
	}
}

// measuring is a target that shows measures only: the length of the input, which is larger every other time.
type measuring struct{ runs int }

func (m *measuring) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return m, nil
}
func (m *measuring) Close() error { return nil }
func (m *measuring) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	o.Measures = append(o.Measures, teasel.Measure{ID: 1, Value: float64(len(in))})
	if m.runs++; m.runs%2 == 0 {
		o.Measures[0].Value += 1000
		o.Measures = append(o.Measures, teasel.Measure{ID: 2})
	}
	return nil
}

// A measure counts with the least of its values, and if it was taken each time.
func TestMeasuresRecur(t *testing.T) {
	c := bytesCampaign(&measuring{})
	c.NewPool, c.Calibrate, c.Runs = policy.NewUnique, 1, 3000
	kept := 0
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind != teasel.EventAdded {
			return nil
		}
		kept++
		if ms := e.Entry.Measures; len(ms) != 1 || ms[0] != (teasel.Measure{ID: 1, Value: float64(len(e.Entry.Data))}) {
			t.Errorf("%q is kept for %v", e.Entry.Data, ms)
		}
		return nil
	})}
	if _, err := c.Run(t.Context()); err != nil || kept == 0 {
		t.Errorf("%d kept, %v", kept, err)
	}
}

// A testcase of a kind that has notes has one, however it was kept.
func TestNotesWithoutCalibration(t *testing.T) {
	asked := 0
	c := bytesCampaign(annotated{&asked})
	c.Notes, c.Runs = noteCodec{}, 500
	c.Stages = []teasel.Stage[[]byte]{noted{t}}
	if _, err := c.Run(t.Context()); err != nil || asked == 0 {
		t.Errorf("%d executions were asked for all features, %v", asked, err)
	}
}

// minimal is a target that crashes of a byte, and shows the length of what it takes.
type minimal struct{}

func (minimal) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return minimal{}, nil
}
func (minimal) Close() error { return nil }
func (minimal) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(min(len(in), 3)+1))
	for _, b := range in {
		if b == 0xff {
			o.Exit, o.Detail = teasel.ExitCrash, "ff"
		}
	}
	return nil
}

// once is a stage that makes one input from each testcase, and in its third round one that crashes and takes long to minimise.
type once struct{ rounds *int }

func (once) Name() string { return "once" }

func (o once) Run(ctx context.Context, w *teasel.Worker[[]byte], tc *teasel.Testcase[[]byte]) error {
	s := w.Slot()
	*s = append((*s)[:0], tc.Input...)
	if *o.rounds++; *o.rounds == 3 {
		*s = append(append((*s)[:0], make([]byte, 3000)...), 0xff)
	}
	return w.Commit(ctx)
}

// What jobs execute is counted for what they do, and not for the stage that happens to be at work.
func TestJobsHaveRowsOfTheirOwn(t *testing.T) {
	rounds := 0
	c := bytesCampaign(minimal{})
	c.Stages, c.Runs, c.Calibrate = []teasel.Stage[[]byte]{once{&rounds}}, 5000, 1
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 1 {
		t.Fatalf("findings %v, %v", s.Findings, err)
	}
	rows, sum := map[string]uint64{}, uint64(0)
	for _, st := range s.Stages {
		rows[st.Name] = st.Executions
		sum += st.Executions
	}
	if rows["once"]+1 < uint64(rounds) || rows["once"] > uint64(rounds) || rows["confirm"] < 3 || rows["calibrate"] == 0 || sum != s.Executions {
		t.Errorf("%d rounds; stages %+v have made %d executions of %d", rounds, s.Stages, sum, s.Executions)
	}
}

// late is a target on which a crash reproduces only when an execution has all of its time.
type late struct{}

func (late) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return late{}, nil }
func (late) Close() error                                                       { return nil }
func (late) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if o.Exit = teasel.ExitOK; len(in) > 0 && in[0] == 's' && !o.Ask.Quick {
		o.Exit, o.Detail, o.Elapsed = teasel.ExitCrash, "late", 10*time.Millisecond
	}
	return nil
}

// A finding is called flaky only after tries that had the time they needed.
func TestTriesHaveTime(t *testing.T) {
	c := bytesCampaign(late{})
	c.Runs = 200
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 1 || !s.Findings[0].Confirmed() {
		t.Errorf("findings %+v, %v", s.Findings, err)
	}
}

// A finding that was seen when there was no time left to reproduce it is unconfirmed, without a try.
func TestPendingAtTheEnd(t *testing.T) {
	var unconfirmed []teasel.Finding
	h := &teasel.Hub{StopAfter: 1, Reporters: []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventUnconfirmed {
			unconfirmed = append(unconfirmed, e.Finding)
		}
		return nil
	})}}
	for _, first := range "abcdefgh" {
		h.Seed([]byte(string(first)))
	}
	c := bytesCampaign(kindTarget{})
	c.StopAfter, c.MinimizeRuns = 1, -1
	if err := c.Work(t.Context(), h.Join(), 0); err != nil {
		t.Fatal(err)
	}
	if n := len(h.Summary().Findings); n != 1 || len(unconfirmed) == 0 {
		t.Fatalf("%d findings, unconfirmed %v", n, unconfirmed)
	}
	for _, f := range unconfirmed {
		if f.Tries != 0 || len(f.Input) == 0 {
			t.Errorf("%s: %d tries, input %q", f.Group, f.Tries, f.Input)
		}
	}
}

// kindTarget is a target of batches that crashes of every input in a way of its own.
type kindTarget struct{}

func (kindTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return kindTarget{}, nil
}
func (kindTarget) Close() error   { return nil }
func (kindTarget) BatchSize() int { return 8 }
func (kindTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if o.Exit = teasel.ExitOK; len(in) > 0 {
		o.Exit, o.Detail = teasel.ExitCrash, string(in[:1])
	}
	return nil
}

func (s kindTarget) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		if err := s.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
	}
	return len(ins), nil
}

// hastyTarget is a target that seems to hang of nearly everything when an execution has little time, and once when it has all.
type hastyTarget struct{ hung bool }

func (h *hastyTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return h, nil
}
func (h *hastyTarget) Close() error { return nil }
func (h *hastyTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if o.Exit = teasel.ExitOK; len(in) > 0 && (o.Ask.Quick || !h.hung) {
		h.hung = true
		o.Exit, o.Detail = teasel.ExitHang, "no end"
	}
	return nil
}

// Tries that had little time do not make a finding of what no try with all the time has reproduced.
func TestQuickTriesProveNothing(t *testing.T) {
	c := bytesCampaign(&hastyTarget{})
	c.Runs = 200
	if s, err := c.Run(t.Context()); err != nil || len(s.Findings) > 0 {
		t.Errorf("findings %+v, %v", s.Findings, err)
	}
}

// pairTarget is a target of batches that dies when one has run an a and then a b, and shows the same alone only for both in one input.
type pairTarget struct{}

func (pairTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return pairTarget{}, nil
}
func (pairTarget) Close() error                { return nil }
func (pairTarget) Reset(context.Context) error { return nil }
func (pairTarget) BatchSize() int              { return 4 }
func (pairTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if o.Exit = teasel.ExitOK; bytes.Contains(in, []byte("ab")) {
		o.Exit, o.Detail = teasel.ExitCrash, "ab"
	}
	return nil
}

func (t pairTarget) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	all := bytes.Join(ins, nil)
	for i := range ins {
		if err := t.Exec(ctx, ins[i], &obs[i]); err != nil {
			return i, err
		}
		if bytes.Contains(all, []byte("ab")) {
			obs[i].Exit = teasel.ExitLost
		}
	}
	return len(ins), nil
}

// What several inputs of a probe do together is found, and is not lost because each of them does nothing alone.
func TestProbeOfASequence(t *testing.T) {
	c := bytesCampaign(pairTarget{})
	c.NewMutator = func() teasel.Mutator[[]byte] { return lettersMutator{} }
	c.Seeds, c.Runs = [][]byte{[]byte("a"), []byte("b")}, 40
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 1 || string(s.Findings[0].Input) != "ab" {
		t.Errorf("findings %v, unconfirmed %v, %v", s.Findings, s.Unconfirmed, err)
	}
}

// crashOnceTarget is a target that crashes once, after which it crashes no more. It ends the campaign while what ran before is tried.
type crashOnceTarget struct {
	cancel  context.CancelFunc
	crashed bool
}

func (e *crashOnceTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return e, nil
}
func (e *crashOnceTarget) Close() error                { return nil }
func (e *crashOnceTarget) Reset(context.Context) error { return nil }
func (e *crashOnceTarget) History(*teasel.Observation) [][]byte {
	return [][]byte{[]byte("one"), []byte("two"), []byte("x")}
}
func (e *crashOnceTarget) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	if bytes.HasPrefix(in, []byte("onetwo")) {
		e.cancel()
		<-ctx.Done() // the time that is left at the end is not enough either
		return ctx.Err()
	}
	if o.Exit = teasel.ExitOK; !e.crashed {
		e.crashed = true
		o.Exit, o.Detail = teasel.ExitCrash, "once"
	}
	return nil
}

// A finding that was still being tried when the campaign was interrupted is not refuted: there was no time.
func TestInterruptedConfirmation(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := bytesCampaign(&crashOnceTarget{cancel: cancel})
	c.NewMutator = func() teasel.Mutator[[]byte] { return lettersMutator{} }
	c.Duration = time.Minute
	s, err := c.Run(ctx)
	if err != nil || len(s.Unconfirmed) != 1 || s.Unconfirmed[0].Tries != 0 || len(s.Unconfirmed[0].Input) == 0 {
		t.Errorf("findings %v, unconfirmed %+v, %v", s.Findings, s.Unconfirmed, err)
	}
}

// slowBatchTarget is a target of batches, one of which lasts longer than the time at the end of a campaign that is interrupted meanwhile.
type slowBatchTarget struct {
	kindTarget
	pipeline[[]byte]
	cancel context.CancelFunc
	calls  int // of Submit
}

func (l *slowBatchTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	l.run = l.ExecBatch
	return l, nil
}

func (l *slowBatchTarget) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range obs {
		obs[i].Exit = teasel.ExitOK
	}
	if l.calls == 3 {
		return len(ins) / 2, nil // the rest is handed in again, when there is no time left
	}
	return len(ins), nil
}

func (l *slowBatchTarget) Submit(ctx context.Context, ins [][]byte, obs []teasel.Observation) error {
	if l.calls++; l.calls == 3 {
		l.cancel()
	}
	return l.pipeline.Submit(ctx, ins, obs)
}

func (l *slowBatchTarget) Collect(ctx context.Context) (int, error) {
	n, err := l.pipeline.Collect(ctx)
	if l.calls == 3 {
		<-time.After(2100 * time.Millisecond)
	}
	return n, err
}

// That the time for the end is over as well is no failure of ours.
func TestEndWithoutTime(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := bytesCampaign(&slowBatchTarget{cancel: cancel})
	if s, err := c.Run(ctx); err != nil || s.Stopped != "interrupted" {
		t.Errorf("stopped by %q, %v", s.Stopped, err)
	}
}

// dyingThenFailing is a target of batches that dies of the first half of one, of whichever of them, and whose executor fails with the
// second.
type dyingThenFailing struct{ lost bool }

var errBroken = errors.New("broken")

func (b *dyingThenFailing) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return b, nil
}
func (b *dyingThenFailing) Close() error   { return nil }
func (b *dyingThenFailing) BatchSize() int { return 4 }
func (b *dyingThenFailing) Exec(_ context.Context, _ []byte, o *teasel.Observation) error {
	if b.lost {
		return errBroken
	}
	o.Exit = teasel.ExitOK
	return nil
}

func (b *dyingThenFailing) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	switch {
	case b.lost:
		return 0, errBroken
	case len(ins) < 4:
		for i := range ins {
			if err := b.Exec(ctx, ins[i], &obs[i]); err != nil {
				return i, err
			}
		}
		return len(ins), nil
	}
	b.lost = true
	obs[0].Exit, obs[1].Exit = teasel.ExitLost, teasel.ExitLost
	return 2, nil
}

// A death of one of several inputs is reported, also if a failure of ours ends the campaign at once.
func TestDeathBeforeFailure(t *testing.T) {
	c := bytesCampaign(&dyingThenFailing{})
	c.Runs = 500
	s, err := c.Run(t.Context())
	if !errors.Is(err, errBroken) || len(s.Unconfirmed) != 1 || s.Unconfirmed[0].Rule != "lost" {
		t.Errorf("unconfirmed %+v, %v", s.Unconfirmed, err)
	}
}

// A hang that is named by where the target happened to be is confirmed, and is one finding.
func TestHangOfManyNames(t *testing.T) {
	runs := map[string]int{}
	c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
		if accept(in, o); len(in) > 0 && in[0] == 'h' {
			runs[string(in)]++ // two tries have different places, whatever runs between them
			o.Exit, o.Evidence = teasel.ExitHang, fmt.Sprint("place ", (len(in)+runs[string(in)])%3)
		}
	}))
	c.Seeds, c.Runs = [][]byte{[]byte("h"), []byte("hang"), []byte("no")}, 20_000
	c.NewDetectors = func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
			if o.Evidence == nil {
				return nil
			}
			return []teasel.Finding{{Rule: "hang", Severity: teasel.Medium, Subject: o.Evidence.(string), Uncertain: true}}
		})}
	}
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 1 || !s.Findings[0].Confirmed() || len(s.Unconfirmed) > 0 {
		t.Errorf("findings %v, unconfirmed %v, %v", s.Findings, s.Unconfirmed, err)
	}
}

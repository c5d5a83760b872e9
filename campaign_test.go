package teasel_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// leaks fails the test if goroutines are left when it ends.
func leaks(t *testing.T) {
	t.Helper()
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		for range 1000 { // they go a little after whoever waited for them
			if runtime.NumGoroutine() <= before {
				return
			}
			time.Sleep(10 * time.Millisecond)
		}
		buf := make([]byte, 1<<16)
		t.Errorf("goroutines left:\n%s", buf[:runtime.Stack(buf, true)])
	})
}

// failingTarget is a target whose n-th Open or m-th execution fails.
type failingTarget struct {
	mu          *sync.Mutex
	open, exec  int
	opened, ran *int
	closed      *int
}

func newTrouble(open, exec int) failingTarget {
	return failingTarget{new(sync.Mutex), open, exec, new(int), new(int), new(int)}
}

func (f failingTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *f.opened++; *f.opened == f.open {
		return nil, errors.New("no such target")
	}
	return f, nil
}

func (f failingTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if *f.ran++; *f.ran == f.exec {
		return errors.New("lost the pipe")
	}
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(len(in)+1))
	return nil
}

func (f failingTarget) Close() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	*f.closed++
	return nil
}

func bytesCampaign(target teasel.Target[[]byte]) *teasel.Campaign[[]byte] {
	return &teasel.Campaign[[]byte]{Target: target, Mutator: byteMutator{}, Codec: raw{}, Seeds: [][]byte{[]byte("seed")}}
}

// threadTarget notes which thread opens and closes each executor.
type threadTarget struct {
	noopSingle
	mu      *sync.Mutex
	threads map[string][]int
	worker  int
}

func (t threadTarget) Open(_ context.Context, role teasel.Role) (teasel.Executor[[]byte], error) {
	runtime.LockOSThread()
	t.worker = role.Worker
	t.note("open")
	return t, nil
}

func (t threadTarget) Close() error {
	t.note("close")
	runtime.UnlockOSThread()
	return nil
}

func (t threadTarget) note(what string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	key := fmt.Sprint(what, t.worker)
	t.threads[key] = append(t.threads[key], syscall.Gettid())
}

// The goroutine that opens an executor closes it too, or a target could not bind its thread.
func TestOpenAndCloseOnOneThread(t *testing.T) {
	target := threadTarget{mu: new(sync.Mutex), threads: map[string][]int{}}
	c := bytesCampaign(target)
	c.Workers, c.Runs = 2, 200
	if _, err := c.Run(context.Background()); err != nil {
		t.Fatal(err)
	}
	for i := range c.Workers {
		opened, closed := target.threads[fmt.Sprint("open", i)], target.threads[fmt.Sprint("close", i)]
		if len(opened) != 1 || !slices.Equal(opened, closed) {
			t.Errorf("worker %d was opened on thread %v and closed on %v", i, opened, closed)
		}
	}
}

func TestOurFailuresEndTheCampaign(t *testing.T) {
	for _, test := range []struct {
		name       string
		open, exec int
		workers    int
	}{{"first open", 1, 0, 1}, {"second open", 2, 0, 2}, {"exec", 0, 3000, 2}} {
		t.Run(test.name, func(t *testing.T) {
			leaks(t)
			f := newTrouble(test.open, test.exec)
			c := bytesCampaign(f)
			c.Workers = test.workers
			s, err := c.Run(context.Background())
			if err == nil || s.Stopped != "failed" {
				t.Fatalf("error %v, stopped by %q", err, s.Stopped)
			}
			open := *f.opened
			if test.open > 0 {
				open--
			}
			if *f.closed != open {
				t.Errorf("%d opened, %d closed", open, *f.closed)
			}
		})
	}
	if _, err := (&teasel.Campaign[[]byte]{}).Run(context.Background()); err == nil {
		t.Error("an empty campaign ran")
	}
	c := bytesCampaign(newTrouble(0, 0))
	c.Tries = -1
	if _, err := c.Run(context.Background()); err == nil || !strings.Contains(err.Error(), "Tries is -1") {
		t.Errorf("a negative number of tries: error %v", err)
	}
}

// The number of a worker comes from another process: what it cannot be is refused, and nothing is counted.
func TestWorkerNumberIsChecked(t *testing.T) {
	for _, number := range []int{-1, 1 << 40} {
		h := &teasel.Hub{}
		_, err := h.Join().Sync(t.Context(), teasel.News{Executions: 1, Worker: teasel.WorkerState{Number: number, Draws: 1}})
		if err == nil || h.Summary().Executions != 0 {
			t.Errorf("worker %d: error %v, %d executions", number, err, h.Summary().Executions)
		}
	}
}

func TestReporterFailureEndsTheCampaign(t *testing.T) {
	leaks(t)
	c := bytesCampaign(newTrouble(0, 0))
	full := errors.New("disk full")
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventAdded {
			return full
		}
		return nil
	})}
	if _, err := c.Run(context.Background()); !errors.Is(err, full) {
		t.Errorf("error %v", err)
	}
}

func TestLimits(t *testing.T) {
	for _, test := range []struct {
		name string
		set  func(*teasel.Campaign[[]byte])
		ctx  time.Duration
		want string
	}{
		{"runs", func(c *teasel.Campaign[[]byte]) { c.Runs = 5001; c.Workers = 2 }, 0, "runs"},
		{"duration", func(c *teasel.Campaign[[]byte]) { c.Duration = 50 * time.Millisecond }, 0, "duration"},
		{"interrupt", func(c *teasel.Campaign[[]byte]) {}, 50 * time.Millisecond, "interrupted"},
		{"memory", func(c *teasel.Campaign[[]byte]) { c.Memory = 1 }, 0, "memory"},
	} {
		t.Run(test.name, func(t *testing.T) {
			leaks(t)
			ctx, cancel := context.WithCancel(context.Background())
			defer cancel()
			if test.ctx > 0 {
				time.AfterFunc(test.ctx, cancel)
			}
			c := bytesCampaign(newTrouble(0, 0))
			test.set(c)
			s, err := c.Run(ctx)
			if err != nil || s.Stopped != test.want {
				t.Fatalf("error %v, stopped by %q", err, s.Stopped)
			}
			if c.Runs > 0 && s.Executions != c.Runs {
				t.Errorf("%d executions of %d", s.Executions, c.Runs)
			}
		})
	}
}

// Trimming does not go on when there are no more runs to be made.
func TestLimitHoldsForTrimming(t *testing.T) {
	c := bytesCampaign(newTrouble(0, 0))
	c.Seeds, c.Calibrate, c.Runs = [][]byte{bytes.Repeat([]byte("s"), 4000)}, 2, 50
	s, err := c.Run(context.Background())
	if err != nil || s.Executions < 50 || s.Executions > 100 { // what came up is still calibrated
		t.Errorf("%d executions of %d, %v", s.Executions, c.Runs, err)
	}
}

// A campaign that is resumed goes on: nothing is run again, no draw is made twice, ordered steps are not repeated.
func TestResume(t *testing.T) {
	run := func(h *teasel.Hub, s *teasel.Snapshot, runs uint64) *stepper {
		m := &stepper{steps: map[string]int{}}
		c := bytesCampaign(lengths{})
		c.Mutator, c.Runs, c.Resume, c.Calibrate = m, runs, s, 1
		if err := c.Work(context.Background(), h.Join(), 0); err != nil {
			t.Fatal(err)
		}
		return m
	}
	h := &teasel.Hub{}
	h.Seed([]byte("seed"))
	before := run(h, nil, 5000)
	if err := h.Progress(0); err != nil {
		t.Fatal(err)
	}
	snap := h.Snapshot()

	again := &teasel.Hub{Reporters: []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventAdded && slices.ContainsFunc(snap.Entries, func(x teasel.Entry) bool { return x.Key == e.Entry.Key }) {
			t.Errorf("entry %s was found anew", e.Entry.Key)
		}
		return nil
	})}}
	if err := again.Resume(&snap); err != nil {
		t.Fatal(err)
	}
	after := run(again, &snap, 5000)
	if n := again.Summary().Executions; n != 10_000 {
		t.Errorf("%d executions in both runs, want 10000", n)
	}
	for k, n := range after.steps {
		if before.steps[k] > 0 {
			t.Errorf("step %s was taken %d and %d times", k, before.steps[k], n)
			break
		}
	}
	if after.draws[0] == before.draws[0] {
		t.Error("the first draw of both runs is the same")
	}
	if len(before.steps) == 0 || len(after.draws) == 0 {
		t.Error("nothing was compared")
	}
	if got, want := again.Summary().Corpus, h.Summary().Corpus; got < want {
		t.Errorf("%d testcases after resuming, %d before", got, want)
	}
}

type lengths struct{}

func (lengths) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return lengths{}, nil
}
func (lengths) Close() error { return nil }
func (lengths) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(len(in)/8+1))
	return nil
}

// stepper remembers what it was asked for.
type stepper struct {
	byteMutator
	steps map[string]int
	draws []uint64
}

func (m *stepper) Mutate(r *teasel.Rand, dst, src []byte) []byte {
	m.draws = append(m.draws, r.Uint64())
	return m.byteMutator.Mutate(r, dst, src)
}

func (m *stepper) Step(k uint64, dst, src []byte) ([]byte, bool) {
	if k >= uint64(len(src))*100 {
		return dst, false
	}
	m.steps[fmt.Sprintf("%s/%d", teasel.Key(src), k)]++
	out := append(dst[:0], src...)
	out[k%uint64(len(src))] ^= byte(k)
	return out, true
}

func TestHub(t *testing.T) {
	var told []string
	h := &teasel.Hub{StopAfter: 2, Reporters: []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		told = append(told, fmt.Sprint(e.Kind, " ", e.Entry.Key, e.Finding.Rule))
		return nil
	})}}
	a, b := h.Join(), h.Join()
	sync := func(x teasel.Exchange, n teasel.News) []teasel.Entry {
		got, err := x.Sync(context.Background(), n)
		if err != nil && !errors.Is(err, teasel.ErrStop) {
			t.Fatal(err)
		}
		return got.Entries
	}
	entry := func(key string, c float64, fs ...teasel.Feature) teasel.Entry {
		return teasel.Entry{Key: key, Data: []byte(key), Runs: 1, Features: teasel.NewFeatureSet(fs...), Complexity: c}
	}
	sync(a, teasel.News{Entries: []teasel.Entry{entry("long", 9, 1, 2)}})
	sync(a, teasel.News{Entries: []teasel.Entry{entry("short", 3, 1, 2), entry("same", 3, 1, 2)}})
	if got := sync(b, teasel.News{}); len(got) != 1 || got[0].Key != "short" {
		t.Errorf("the other worker got %v", got)
	}
	if got := sync(a, teasel.News{}); len(got) != 0 {
		t.Errorf("a worker got its own %v", got)
	}
	flaky := teasel.Finding{Rule: "crash", Severity: teasel.High, Stable: 1, Tries: 3, Occurrences: 1}
	sync(a, teasel.News{Findings: []teasel.Finding{flaky}, Unconfirmed: []teasel.Finding{{Rule: "ghost", Severity: teasel.Low}}})
	stable := flaky
	stable.Stable = 3
	sync(b, teasel.News{Findings: []teasel.Finding{stable}})
	sync(b, teasel.News{Findings: []teasel.Finding{flaky}})
	sync(b, teasel.News{Sightings: []teasel.Sighting{{flaky.ID(), 4}}})
	s := h.Summary()
	if len(s.Findings) != 1 || s.Findings[0].Stable != 3 || s.Findings[0].Occurrences != 7 {
		t.Errorf("findings %+v", s.Findings)
	}
	if s.Corpus != 1 || s.Evicted != 1 || s.Features != 2 {
		t.Errorf("corpus %d, evicted %d, features %d", s.Corpus, s.Evicted, s.Features)
	}
	want := []string{"added long", "added short", "evicted long", "found crash", "unconfirmed ghost", "found crash"}
	if !slices.Equal(told, want) {
		t.Errorf("told %q, want %q", told, want)
	}
	if _, err := a.Sync(context.Background(), teasel.News{Findings: []teasel.Finding{{Rule: "habit", Severity: teasel.Info}}}); err != nil {
		t.Errorf("after a finding and a piece of information: %v", err)
	}
	if _, err := a.Sync(context.Background(), teasel.News{Findings: []teasel.Finding{{Rule: "hang", Severity: teasel.High}}}); !errors.Is(err, teasel.ErrStop) {
		t.Errorf("after two findings: %v", err)
	}
	if _, err := b.Sync(context.Background(), teasel.News{Findings: []teasel.Finding{{Rule: "late", Severity: teasel.High}}}); !errors.Is(err, teasel.ErrStop) || len(h.Summary().Findings) != 3 || len(h.Summary().Unconfirmed) != 2 || len(h.Snapshot().Untried) != 2 {
		t.Errorf("the last news of another worker: %v, %d findings, unconfirmed %v", err, len(h.Summary().Findings), h.Summary().Unconfirmed)
	}
}

func TestSeedsAreSharedOut(t *testing.T) {
	h := &teasel.Hub{}
	for i := range 100 {
		h.Seed([]byte{byte(i)})
	}
	a, b := h.Join(), h.Join()
	got := map[string]int{}
	for i := range 20 {
		reply, err := []teasel.Exchange{a, b}[i%2].Sync(context.Background(), teasel.News{WantsSeeds: true})
		if err != nil {
			t.Fatal(err)
		}
		es := reply.Entries
		if i < 2 && len(es) == 100 {
			t.Error("one worker got all the seeds")
		}
		for _, e := range es {
			got[e.Key]++
		}
		if i == 1 && h.Snapshot().Waiting != 100 {
			t.Errorf("%d seeds are waiting, %d were taken and nobody has run any", h.Snapshot().Waiting, len(got))
		}
		if i == 3 && h.Snapshot().Waiting != 100-len(got)/2 {
			t.Errorf("%d seeds are waiting, %d were taken and half of them run", h.Snapshot().Waiting, len(got))
		}
	}
	for key, n := range got {
		if n != 1 {
			t.Errorf("seed %s was handed out %d times", key, n)
		}
	}
	if len(got) != 100 {
		t.Errorf("%d of 100 seeds were handed out", len(got))
	}
}

// A worker that is not hungry gets no seeds, which it would lose when it ends.
func TestSeedsAreAskedFor(t *testing.T) {
	h := &teasel.Hub{}
	h.Seed([]byte("seed"))
	x := h.Join()
	for _, test := range []struct {
		news           teasel.News
		seeds, waiting int
	}{{teasel.News{}, 0, 1}, {teasel.News{WantsSeeds: true}, 1, 1}, {teasel.News{Pending: true}, 0, 1}, {teasel.News{}, 0, 0}} {
		got, err := x.Sync(t.Context(), test.news)
		es := got.Entries
		if waiting := h.Snapshot().Waiting; err != nil || len(es) != test.seeds || waiting != test.waiting {
			t.Errorf("%+v: %d seeds, %d waiting, %v; want %d and %d", test.news, len(es), waiting, err, test.seeds, test.waiting)
		}
	}
}

// postponing is a target that has put its seeds off, and may not run them any more.
type postponing struct {
	noopSingle
	off bool
}

func (p postponing) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return p, nil
}
func (p postponing) Postponed() bool { return p.off }

// Seeds that were put off and have not been run when the campaign ends are left to the next run.
func TestPostponedSeeds(t *testing.T) {
	for _, off := range []bool{false, true} {
		c := bytesCampaign(postponing{off: off})
		c.Seeds, c.Runs = [][]byte{[]byte("a"), []byte("b")}, 200
		s, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if want := map[bool]int{true: 2}[off]; s.Waiting != want {
			t.Errorf("postponed %t: %d seeds are left, want %d", off, s.Waiting, want)
		}
	}
}

// What is found in the last moment is confirmed even though the campaign is over.
func TestFoundAtTheEnd(t *testing.T) {
	leaks(t)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	c := bytesCampaign(&lastMoment{cancel: cancel})
	s, err := c.Run(ctx)
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) != 1 || !s.Findings[0].Confirmed() {
		t.Errorf("findings %v", s.Findings)
	}
}

type lastMoment struct {
	cancel context.CancelFunc
	n      int
}

func (l *lastMoment) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return l, nil
}
func (l *lastMoment) Close() error { return nil }
func (l *lastMoment) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	o.Exit = teasel.ExitOK
	if l.n++; l.n > 500 && len(in)%2 == 1 {
		l.cancel()
		o.Exit, o.Detail = teasel.ExitCrash, "odd"
	}
	return nil
}

type sourceFunc func(context.Context) (teasel.Supply, error)

func (f sourceFunc) Pull(ctx context.Context) (teasel.Supply, error) { return f(ctx) }

// What comes from outside is run like a seed, and more is asked for only when it was taken; a failure there is ours.
func TestSource(t *testing.T) {
	leaks(t)
	foreign := bytes.Repeat([]byte("f"), 5000) // which nobody here would make
	c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
		if accept(in, o); bytes.Equal(in, foreign) {
			o.Features = append(o.Features, 2)
		}
	}))
	gone, pulls, kept := errors.New("the neighbour is gone"), 0, false
	c.Source = sourceFunc(func(context.Context) (s teasel.Supply, err error) {
		if pulls++; pulls > 1 {
			return s, gone
		}
		s.Inputs = [][]byte{foreign}
		return s, nil
	})
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventAdded && e.Entry.Stage == "" && e.Entry.Parent == "" && len(e.Entry.Data) > 4 {
			kept = true
		}
		return nil
	})}
	if s, err := c.Run(context.Background()); !errors.Is(err, gone) || s.Stopped != "failed" {
		t.Errorf("error %v, stopped by %q", err, s.Stopped)
	}
	if pulls != 2 || !kept {
		t.Errorf("%d pulls, the input from outside was kept: %v", pulls, kept)
	}
}

// A source asks for findings to be confirmed, which are reported with how that went, and names features that are ignored.
func TestSourceAsksAndWarns(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
		if accept(in, o); string(in) == "deadly" {
			crash(in, o)
		}
		if len(in) > 3 {
			o.Features = append(o.Features, 77)
		}
	}))
	c.Errands, c.MinimizeRuns, c.Background = true, -1, false
	errand := func(rule, input string) teasel.Errand {
		return teasel.Errand{Worker: -1, Finding: teasel.Finding{Rule: rule, Subject: "target", Severity: teasel.Critical, Input: []byte(input)}}
	}
	pulls := 0
	c.Source = sourceFunc(func(context.Context) (s teasel.Supply, err error) {
		switch pulls++; pulls {
		case 1:
			s.Errands, s.Unstable = []teasel.Errand{errand("crash", "deadly"), errand("other", "harmless")}, []teasel.Feature{77}
		case 2:
			s.Inputs = [][]byte{[]byte("it reaches what is ignored")}
		}
		return s, nil
	})
	var found, not teasel.Finding
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		switch e.Kind {
		case teasel.EventFound:
			found = e.Finding
		case teasel.EventUnconfirmed:
			not = e.Finding
		case teasel.EventAdded:
			if pulls > 1 && e.Entry.Features.Contains(77) {
				t.Errorf("%q was kept for a feature that varies", e.Entry.Data)
			}
		case teasel.EventProgress:
			if pulls > 3 && found.Rule != "" && not.Rule != "" {
				cancel()
			}
		}
		return nil
	})}
	if _, err := c.Run(ctx); err != nil || string(found.Input) != "deadly" || !found.Confirmed() || not.Rule != "other" || not.Tries != 3 || not.Stable != 0 {
		t.Errorf("found %+v, not %+v, %v", found, not, err)
	}
}

// What there was no time to reproduce is tried when the campaign goes on.
func TestResumeTriesWhatIsUnconfirmed(t *testing.T) {
	untried := func(rule, input string) teasel.Finding {
		return teasel.Finding{Rule: rule, Subject: "target", Severity: teasel.Critical, Input: []byte(input)}
	}
	c := bytesCampaign(execFunc(func(in []byte, o *teasel.Observation) {
		if accept(in, o); string(in) == "deadly" {
			crash(in, o)
		}
	}))
	c.Runs, c.MinimizeRuns = 1000, -1
	c.Resume = &teasel.Snapshot{Untried: []teasel.Finding{untried("crash", "deadly"), untried("other", "harmless")}}
	h := &teasel.Hub{} // of a worker that takes no errands
	if err := h.Resume(c.Resume); err != nil {
		t.Fatal(err)
	}
	h.Stop("interrupted")
	if err := h.Progress(0); err != nil || len(h.Snapshot().Untried) != 2 {
		t.Errorf("a run without time leaves %v to try, %v", h.Snapshot().Untried, err)
	}
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 1 || string(s.Findings[0].Input) != "deadly" || !s.Findings[0].Confirmed() {
		t.Errorf("findings %v, %v", s.Findings, err)
	}
	if len(s.Unconfirmed) != 1 || s.Unconfirmed[0].Rule != "other" || s.Unconfirmed[0].Tries != 3 {
		t.Errorf("unconfirmed %v", s.Unconfirmed)
	}
}

package teasel_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// countedTarget counts the executions of all its instances. Each input is a fault, so that there is always something to confirm.
type countedTarget struct{ executions *atomic.Int64 }

func (t countedTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return t, nil
}
func (countedTarget) Close() error { return nil }
func (t countedTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	t.executions.Add(1)
	o.Exit = teasel.ExitOK
	o.Features = append(o.Features, teasel.Feature(len(in)))
	if len(in) > 3 {
		o.Exit, o.Detail = teasel.ExitCrash, string(in[:1])
	}
	return nil
}

// await polls until ok, and gives up after a minute.
func await(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for range 6000 {
		if ok() {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatalf("waited in vain for %s", what)
}

// While a campaign is paused neither its workers nor their background executors execute anything, and its clock stands still. It goes on
// afterwards, and can be ended while it is paused.
func TestPause(t *testing.T) {
	leaks(t)
	var n, elapsed, ticks atomic.Int64
	pause := &teasel.Pause{}
	c := bytesCampaign(countedTarget{&n})
	c.Workers, c.Background, c.Duration, c.Pause = 2, true, time.Hour, pause
	c.NewMutator, c.Mutator = func() teasel.Mutator[[]byte] { return byteMutator{} }, nil
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventProgress {
			elapsed.Store(int64(e.Stats.Elapsed))
			ticks.Add(1)
		}
		return nil
	})}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan teasel.Summary, 1)
	go func() {
		s, err := c.Run(ctx)
		if err != nil {
			t.Error(err)
		}
		ended <- s
	}()
	quiet := func() bool {
		before := n.Load()
		time.Sleep(300 * time.Millisecond)
		return n.Load() == before
	}
	await(t, "executions", func() bool { return n.Load() > 1000 })
	pause.Set(true)
	await(t, "the pause", quiet)
	progress := func() {
		before := ticks.Load()
		await(t, "progress", func() bool { return ticks.Load() > before })
	}
	progress()
	at, stands := n.Load(), elapsed.Load()
	progress()
	if got := n.Load(); got != at {
		t.Errorf("%d executions in a pause", got-at)
	}
	if got := elapsed.Load(); got != stands {
		t.Errorf("the clock went on by %v in a pause", time.Duration(got-stands))
	}
	pause.Set(false)
	await(t, "executions after the pause", func() bool { return n.Load() > at+1000 })
	pause.Set(true)
	await(t, "the second pause", quiet)
	cancel()
	if s := <-ended; s.Stopped != "interrupted" {
		t.Errorf("it ended by %q", s.Stopped)
	}
}

// The duration of a campaign does not pass while it is paused.
func TestPauseAfterFunc(t *testing.T) {
	pause := &teasel.Pause{}
	pause.Set(true)
	pause.Set(true)
	called := make(chan bool, 1)
	stop := pause.AfterFunc(time.Millisecond, func() { called <- pause.On() })
	defer stop()
	time.Sleep(250 * time.Millisecond)
	pause.Set(false)
	if <-called {
		t.Error("the time has passed in a pause")
	}
	var none *teasel.Pause
	none.AfterFunc(time.Millisecond, func() { called <- none.On() })
	if <-called {
		t.Error("a pause that is not there is on")
	}
	pause.Set(true)
	pause.AfterFunc(time.Millisecond, func() { t.Error("called after stop") })()
	pause.Set(false)
	time.Sleep(50 * time.Millisecond)
}

// A worker in another process gets the same answer.
func TestPausedHubAnswersWait(t *testing.T) {
	h := &teasel.Hub{Pause: &teasel.Pause{}}
	h.Seed([]byte("seed"))
	x := h.Join()
	h.Pause.Set(true)
	if r := publish(t, x, teasel.News{WantsSeeds: true}); !r.Wait || len(r.Entries) > 0 {
		t.Errorf("a paused hub answers %+v", r)
	}
	h.Pause.Set(false)
	if r := publish(t, x, teasel.News{WantsSeeds: true}); r.Wait || len(r.Entries) != 1 {
		t.Errorf("a hub that is not paused answers %+v", r)
	}
}

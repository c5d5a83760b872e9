package forkserver

import (
	"context"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// watchdog kills a child that takes too long or too much, and what runs have left behind. It looks from time to time, so
// that no run has to ask the clock or the kernel for anything.
type watchdog struct {
	memory uint64 // bytes that a run may hold; 0: no limit
	root   int    // the server; 0: there is none, and every child is our own
	marker string
	quit   chan struct{}
	done   sync.WaitGroup
	round  atomic.Uint64 // odd: a run is under way
	limit  atomic.Int64  // of a run, in nanoseconds
	pid    atomic.Int64  // of the child; 0: it is not known yet
	killed atomic.Uint32 // Reason

	mu     sync.Mutex // held while a child is killed
	cancel <-chan struct{}
}

func (w *watchdog) start(memory uint64, root int, marker string) {
	w.memory, w.root, w.marker, w.quit = memory, root, marker, make(chan struct{})
	w.done.Go(w.run)
}

func (w *watchdog) stop() {
	if w.quit == nil {
		return
	}
	close(w.quit)
	w.done.Wait()
	w.quit = nil
}

// begin is told which child will run, 0 if that is not known yet.
func (w *watchdog) begin(ctx context.Context, child int, limit time.Duration) {
	if done := ctx.Done(); done != w.cancel { // only begin writes it
		w.mu.Lock()
		w.cancel = done
		w.mu.Unlock()
	}
	w.killed.Store(0)
	w.pid.Store(int64(child))
	w.limit.Store(int64(limit))
	w.round.Add(1)
}

// end returns why the child was killed, if it was.
func (w *watchdog) end() Reason {
	w.round.Add(1)
	if w.killed.Load() == 0 {
		return NotKilled
	}
	w.mu.Lock() // for who kills to be done with it
	defer w.mu.Unlock()
	return Reason(w.killed.Load())
}

// kill ends the child of a round, if that is still the one.
func (w *watchdog) kill(r Reason, round uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pid := int(w.pid.Load())
	if pid <= 1 || !w.ours(pid) {
		return
	}
	w.hit(pid, r, round)
}

// killServer ends a server that neither forks nor tells of its child's end.
func (w *watchdog) killServer(round uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.root != 0 {
		w.hit(w.root, Slow, round)
	}
}

func (w *watchdog) hit(pid int, r Reason, round uint64) {
	w.killed.Store(uint32(r))
	if w.round.Load() != round {
		w.killed.Store(0)
		return
	}
	syscall.Kill(pid, syscall.SIGKILL)
}

// ours reports whether a child lives and is who it should be: its number comes from the target, and could be anybody's.
func (w *watchdog) ours(pid int) bool {
	seen, ok := proc.Look(pid)
	return ok && (w.root == 0 || seen.Parent == w.root || seen.Session == w.root)
}

const (
	ticksPerLimit = 10
	fastestTick   = 5 * time.Millisecond
	slowestTick   = 50 * time.Millisecond
	sweepEvery    = time.Second // looking at every process there is takes a millisecond or more
	sweepAgain    = 100 * time.Millisecond
	// patience is how many times its limit a run may take while it waits for a processor that others use.
	patience = 10
	// serverTime is how much longer than that a server may take to say something.
	serverTime = time.Second
)

// run looks at which run is under way. The same one at two looks that are the limit apart has run that long.
func (w *watchdog) run() {
	var seen uint64
	var since, swept time.Time
	var used time.Duration // processor time when it was seen first
	t := time.NewTicker(slowestTick)
	defer t.Stop()
	tick, sweep := slowestTick, sweepEvery
	for {
		var now time.Time
		select {
		case <-w.quit:
			return
		case now = <-t.C:
		}
		limit, round := time.Duration(w.limit.Load()), w.round.Load()
		if want := min(max(limit/ticksPerLimit, fastestTick), slowestTick); want != tick {
			tick = want
			t.Reset(tick)
		}
		if w.root != 0 && now.Sub(swept) >= sweep && round != seen { // not while nothing happens
			swept, sweep = now, w.sweep()
		}
		pid := int(w.pid.Load())
		if round != seen {
			seen, since, used = round, now, 0
			if s, ok := proc.Look(pid); ok {
				used = s.CPU
			}
		}
		if round%2 == 0 {
			continue
		}
		if w.cancelled() {
			w.kill(Cancelled, round)
			continue
		}
		life, _ := proc.Look(pid)
		switch wall := now.Sub(since); {
		case wall >= patience*limit+serverTime:
			w.killServer(round)
		case wall >= limit && life.Ready && life.CPU-used < limit/2 && wall < patience*limit:
		case wall >= limit:
			w.kill(Slow, round)
		case w.memory > 0 && life.RSS > w.memory:
			w.kill(Fat, round)
		}
	}
}

func (w *watchdog) cancelled() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	select {
	case <-w.cancel:
		return true
	default:
		return false
	}
}

// sweep kills what runs have left behind, and returns when to look again.
func (w *watchdog) sweep() time.Duration {
	if proc.KillStrays(w.root, w.marker) > 0 {
		return sweepAgain
	}
	return sweepEvery
}

package proc

import (
	"sync"
	"sync/atomic"
	"time"
)

// Reason says why a watchdog has killed a process.
type Reason uint32

// The reasons.
const (
	NotKilled   Reason = iota
	Timeout            // a run took longer than its limit
	MemoryLimit        // a run held more memory than its limit
	Cancelled          // the caller's context ended
)

// Watched is what runs under a watchdog: one run after another, each in a process. The watchdog calls it from a goroutine of
// its own.
type Watched interface {
	// Current returns a number that is another one for each run, and the process of the run, 0 if that is not known yet.
	// exempt says that what happens now is no part of the run: it has ten times the limit by the clock.
	Current() (run uint64, pid int, exempt bool)
	// Kill kills the process of a run, unless another run has begun since, and reports whether it did.
	Kill(why Reason, run uint64) bool
	// KillServer ends what starts the processes, because it does not report that one has ended. A run that was not
	// killed itself counts as timed out.
	KillServer(why Reason)
}

// Watchdog kills the process of a run that takes too long or holds too much memory. It looks from time to time, so that no
// run has to ask the clock or the kernel for anything. The limit is processor time: on a busy machine a run is not taken for
// a hang. A run that waits for something else uses none, and is killed when it has done so for three limits in a row.
//
// Begin, End and Cancel are for the goroutine that has the runs; Cancel may be called by any.
type Watchdog struct {
	// Memory is how many bytes a process may hold. 0: there is no limit.
	Memory uint64
	// Server is the process that starts those of the runs. 0: there is none.
	Server int
	// Look is called at each look, with whether another run is in flight than at the last one. nil: nothing is called.
	Look func(now time.Time, moved bool)

	of        Watched
	quit      chan struct{}
	done      sync.WaitGroup
	limit     atomic.Int64 // nanoseconds of the run in flight; 0: none is
	killed    atomic.Uint32
	waiting   atomic.Bool // a run that timed out had used less processor time than the limit
	cancelled atomic.Bool

	mu     sync.Mutex // held while a process is killed, and by End, so that no later run is hit
	cancel <-chan struct{}
}

// Start begins to watch.
func (w *Watchdog) Start(of Watched) {
	w.of, w.quit = of, make(chan struct{})
	w.done.Go(w.watch)
}

// Stop ends the watch. One that was not started is left alone.
func (w *Watchdog) Stop() {
	if w.quit == nil {
		return
	}
	close(w.quit)
	w.done.Wait()
	w.quit = nil
}

// Begin says that a run is about to begin, or a batch of runs with one limit each. When cancel is closed, what runs then is
// killed at the next look.
func (w *Watchdog) Begin(limit time.Duration, cancel <-chan struct{}) {
	if cancel != w.cancel { // only Begin writes it
		w.mu.Lock()
		w.cancel = cancel
		w.mu.Unlock()
	}
	w.killed.Store(0)
	w.waiting.Store(false)
	w.cancelled.Store(false)
	w.limit.Store(int64(limit))
}

// End says that the run is over and returns why its process was killed, if it was.
func (w *Watchdog) End() Reason {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit.Store(0)
	return Reason(w.killed.Load())
}

// Waited reports whether the run that timed out last was waiting: it had used less processor time than its limit.
func (w *Watchdog) Waited() bool { return w.waiting.Load() }

// Cancel kills what runs, now or as soon as there is a process.
func (w *Watchdog) Cancel() {
	w.cancelled.Store(true)
	run, _, _ := w.of.Current()
	w.kill(Cancelled, run)
}

func (w *Watchdog) kill(why Reason, run uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit.Load() != 0 && w.of.Kill(why, run) {
		w.killed.Store(uint32(why))
	}
}

func (w *Watchdog) killServer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit.Load() == 0 {
		return
	}
	why := Timeout
	if w.cancelled.Load() {
		why = Cancelled
	}
	w.killed.CompareAndSwap(uint32(NotKilled), uint32(why))
	w.of.KillServer(why)
}

const (
	looksPerLimit = 10
	fastestLook   = 5 * time.Millisecond
	slowestLook   = 50 * time.Millisecond
)

// watch looks at the run in flight until Stop.
func (w *Watchdog) watch() {
	var s sighting
	var last uint64
	t := time.NewTicker(slowestLook)
	defer t.Stop()
	pause := slowestLook
	for {
		var now time.Time
		select {
		case <-w.quit:
			return
		case now = <-t.C:
		}
		limit := time.Duration(w.limit.Load())
		if w.Look != nil {
			run, _, _ := w.of.Current()
			w.Look(now, run != last)
			last = run
		}
		if limit == 0 {
			s = sighting{}
			continue
		}
		if want := min(max(limit/looksPerLimit, fastestLook), slowestLook); want != pause {
			pause = want
			t.Reset(pause)
		}
		w.check(&s, now, limit)
	}
}

// check looks at the run in flight and does what the looks at it so far ask for.
func (w *Watchdog) check(s *sighting, now time.Time, limit time.Duration) {
	run, pid, exempt := w.of.Current()
	seen, alive := Look(pid)
	if !alive {
		seen = Sight{}
	}
	w.mu.Lock()
	select {
	case <-w.cancel:
		w.cancelled.Store(true)
	default:
	}
	w.mu.Unlock()
	cancelled := w.cancelled.Load()
	l := glance{now: now, run: run, cpu: seen.CPU, ready: seen.Ready, exempt: exempt,
		memory: w.Memory > 0 && seen.RSS > w.Memory, cancelled: cancelled, doomed: cancelled || w.killed.Load() != uint32(NotKilled)}
	if l.doomed && !l.ready && w.Server != 0 {
		server, _ := Look(w.Server)
		l.ready = server.Ready // which may not have got round to reporting the end
	}
	switch why, server := s.judge(l, limit); {
	case server:
		w.killServer()
	case why != NotKilled:
		if why == Timeout {
			w.waiting.Store(seen.CPU-s.used < limit)
		}
		w.kill(why, run)
	}
}

// glance is what is seen at one look at the run in flight.
type glance struct {
	now       time.Time
	run       uint64
	cpu       time.Duration // that the process has used
	ready     bool          // it runs, or would if there were a processor for it
	exempt    bool
	memory    bool // it holds too much
	cancelled bool
	doomed    bool // it was killed already, or cancelled
}

// sighting is what the looks at one run have shown.
type sighting struct {
	run    uint64
	first  time.Time     // when it was seen first; zero: none was
	used   time.Duration // processor time of the process then
	queued time.Duration // how long it has waited for a processor
	retry  time.Time     // before which it is not tried again to kill it
	doomed time.Time     // when it was first seen to be doomed; zero: it is not

	window     time.Time     // when the present window began, which is as long as the limit
	windowUsed time.Duration // processor time then
	idle       int           // windows in a row in which the run waited and used next to no processor time

	last     time.Time     // the look before this one
	lastUsed time.Duration // processor time then
}

const (
	// wallLimits is how many limits a run may take by the clock, whatever it waits for but a processor.
	wallLimits = 10
	// queueLimits is how many limits a run may take by the clock if it waits for a processor.
	queueLimits = 100
	// idleWindows is for how many limits in a row, by the clock, a run may wait without using a processor.
	idleWindows = 3
	// idleShare is the part of a processor below which a waiting run counts as idle: one that polls uses a little.
	idleShare = 10
	// serverTime is how long a server may take to report that a run has ended.
	serverTime = time.Second
)

// judge takes one more look in and says whether the process of the run has to be killed, or its server.
func (s *sighting) judge(l glance, limit time.Duration) (why Reason, server bool) {
	if l.run != s.run || s.first.IsZero() {
		*s = sighting{run: l.run, first: l.now, used: l.cpu, window: l.now, windowUsed: l.cpu, last: l.now, lastUsed: l.cpu}
	}
	if l.ready {
		s.queued += max(l.now.Sub(s.last)-(l.cpu-s.lastUsed), 0)
	}
	s.last, s.lastUsed = l.now, l.cpu
	if !l.doomed {
		s.doomed = time.Time{}
	} else if s.doomed.IsZero() {
		s.doomed = l.now
	}
	if l.now.Sub(s.window) >= limit {
		if s.idle++; l.cpu-s.windowUsed >= limit/idleShare || l.ready {
			s.idle = 0
		}
		s.window, s.windowUsed = l.now, l.cpu
	}
	wall, doomed := l.now.Sub(s.first), time.Duration(0)
	if !s.doomed.IsZero() {
		doomed = l.now.Sub(s.doomed)
	}
	over := max(wall-s.queued-wallLimits*limit, wall-queueLimits*limit) // beyond the limit by the clock, if positive
	switch {
	case over >= serverTime, doomed >= wallLimits*serverTime, doomed >= serverTime && !l.ready:
		return NotKilled, true
	case l.cancelled:
		return Cancelled, false
	case l.memory:
		return MemoryLimit, false
	case l.now.Before(s.retry), l.exempt && over < 0:
	case l.cpu-s.used >= limit, s.idle >= idleWindows, over >= 0:
		s.retry = l.now.Add(limit) // it may be in the kernel, or not be there yet
		return Timeout, false
	}
	return NotKilled, false
}

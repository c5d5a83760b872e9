package proc

import (
	"cmp"
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

// Watched executes the runs that a watchdog limits: one run after another, each in a process. The watchdog calls the methods
// from a goroutine of its own.
type Watched interface {
	// Current returns a number that differs from run to run, 0 between two runs, and the process of the run, 0 if that is not known
	// yet. exempt reports that the process is busy with work that does not count as the run's: it has ten times the limit by the
	// clock.
	Current() (run uint64, pid int, exempt bool)
	// Kill kills the process of a run, unless another run has begun since, and reports whether it did. It is called again if the
	// process does not end.
	Kill(why Reason, run uint64) bool
	// KillServer ends the process that starts the others, because it does not report that one has ended. A run that was
	// not killed itself counts as timed out.
	KillServer(why Reason)
}

// Watchdog kills the process of a run that takes too long or holds too much memory. It checks the run periodically, so that
// the run itself makes no system call for it. The limit is processor time, so that a run on a busy machine is not mistaken
// for a hang. A run that waits uses no processor time: it is killed when it has waited for three limits in a row. With ByClock
// the limit is time by the clock instead.
//
// Begin and End are called by the goroutine that executes the runs; Cancel may be called concurrently by any goroutine.
type Watchdog struct {
	// Memory is how many bytes a process may hold. 0: there is no limit.
	Memory uint64
	// Server is the process that starts those of the runs. 0: there is none.
	Server int
	// ByClock limits a run by the clock. The time does not count in which the process is stopped by a signal, or in which nobody
	// checked it for a second or more, since the machine slept then.
	ByClock bool
	// Interval is the time between two checks at most; 0: 50 ms.
	Interval time.Duration
	// OnCheck is called at each check, with the time by ByClock's clock if that is set. moved reports whether another run is in flight than at the previous check. nil: nothing is
	// called.
	OnCheck func(now time.Time, moved bool)

	watched   Watched
	started   time.Time
	quit      chan struct{}
	done      sync.WaitGroup
	limit     atomic.Int64 // nanoseconds of the run in flight; 0: none is
	killed    atomic.Uint32
	waiting   atomic.Bool // a run that timed out had used less processor time than the limit
	cancelled atomic.Bool

	mu     sync.Mutex // held while a process is killed, and by End, so that no later run is killed instead
	cancel <-chan struct{}
}

// Start starts the watchdog. Stop must be called in the end.
func (w *Watchdog) Start(watched Watched) {
	w.watched, w.started, w.quit = watched, time.Now(), make(chan struct{})
	w.done.Go(w.watch)
}

// Stop stops the watchdog. It does nothing if the watchdog was not started.
func (w *Watchdog) Stop() {
	if w.quit == nil {
		return
	}
	close(w.quit)
	w.done.Wait()
	w.quit = nil
}

// Begin announces a run, or a batch of runs each of which has the limit. When cancel is closed, the run in flight is killed at
// the next check.
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

// End announces the end of the run and returns why the process was killed, if it was.
func (w *Watchdog) End() Reason {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit.Store(0)
	return Reason(w.killed.Load())
}

// Waited reports whether the run that timed out last was waiting: it had used less processor time than the limit.
func (w *Watchdog) Waited() bool { return w.waiting.Load() }

// Cancel kills the process of the run, now or as soon as there is one.
func (w *Watchdog) Cancel() {
	w.cancelled.Store(true)
	run, _, _ := w.watched.Current()
	w.kill(Cancelled, run)
}

func (w *Watchdog) kill(why Reason, run uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit.Load() != 0 && w.watched.Kill(why, run) {
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
	w.watched.KillServer(why)
}

// A check takes some 40 µs on a busy machine: at the longest interval less than a thousandth of a core.
const (
	checksPerLimit   = 10
	shortestInterval = 5 * time.Millisecond
	longestInterval  = 50 * time.Millisecond
	// asleep is how long after the last check the machine must have slept.
	asleep = time.Second
)

// watch checks the run in flight until Stop is called.
func (w *Watchdog) watch() {
	var s runHistory
	var last uint64
	longest := cmp.Or(w.Interval, longestInterval)
	t := time.NewTicker(longest)
	defer t.Stop()
	pause, checked, lost := longest, time.Now(), time.Duration(0)
	for {
		var now time.Time
		select {
		case <-w.quit:
			return
		case now = <-t.C:
		}
		if w.ByClock {
			if passed := now.Sub(checked); passed >= asleep || w.stopped() {
				lost += passed
			}
			checked, now = now, now.Add(-lost)
		}
		limit := time.Duration(w.limit.Load())
		run, _, _ := w.watched.Current()
		if w.OnCheck != nil {
			w.OnCheck(now, run != last)
			last = run
		}
		if limit == 0 || run == 0 {
			s = runHistory{}
			continue
		}
		if want := min(max(limit/checksPerLimit, shortestInterval), longest); want != pause {
			pause = want
			t.Reset(pause)
		}
		w.check(&s, now, limit)
	}
}

// stopped reports whether a signal has stopped the process of the run in flight.
func (w *Watchdog) stopped() bool {
	_, pid, _ := w.watched.Current()
	seen, _ := StatusOf(pid)
	return seen.Stopped
}

// check samples the run in flight and kills its process, or the server, if the samples so far demand it.
func (w *Watchdog) check(s *runHistory, now time.Time, limit time.Duration) {
	run, pid, exempt := w.watched.Current()
	seen, alive := StatusOf(pid)
	if !alive {
		seen = Status{}
	}
	w.mu.Lock()
	select {
	case <-w.cancel:
		w.cancelled.Store(true)
	default:
	}
	w.mu.Unlock()
	if w.ByClock {
		seen.CPU, seen.Ready = now.Sub(w.started), false
	}
	cancelled := w.cancelled.Load()
	latest := sample{now: now, run: run, cpu: seen.CPU, ready: seen.Ready, exempt: exempt,
		memory: w.Memory > 0 && seen.RSS > w.Memory, cancelled: cancelled, killPending: cancelled || w.killed.Load() != uint32(NotKilled)}
	if latest.killPending && !latest.ready && w.Server != 0 {
		server, _ := StatusOf(w.Server)
		latest.ready = server.Ready // the server may not have reported the end yet
	}
	switch why, server := s.judge(latest, limit); {
	case server:
		w.killServer()
	case why != NotKilled:
		if why == Timeout {
			w.waiting.Store(seen.CPU-s.used < limit)
		}
		w.kill(why, run)
	}
}

// sample holds one observation of the run in flight.
type sample struct {
	now         time.Time
	run         uint64
	cpu         time.Duration // processor time that the process has used
	ready       bool          // the process runs or waits for a processor
	exempt      bool
	memory      bool // the process holds more memory than the limit
	cancelled   bool
	killPending bool // the run was killed already, or cancelled
}

// runHistory summarises the samples of one run.
type runHistory struct {
	run         uint64
	first       time.Time     // when the run was sampled first; zero: not yet
	used        time.Duration // processor time of the process at that time
	queued      time.Duration // how long the run has waited for a processor
	retry       time.Time     // the run is not killed again before
	killPending time.Time     // since when the run has been killed or cancelled; zero: it is neither

	window     time.Time     // when the current window began; a window is as long as the limit
	windowUsed time.Duration // processor time at that time
	idle       int           // windows in a row in which the run waited and used next to no processor time

	last     time.Time     // of the previous sample
	lastUsed time.Duration // processor time at that time
}

const (
	// wallLimits is how many limits a run may take by the clock, time spent waiting for a processor not counted.
	wallLimits = 10
	// queueLimits is how many limits a run may take by the clock, time spent waiting for a processor included.
	queueLimits = 100
	// idleWindows is for how many limits in a row, by the clock, a run may wait for something other than a processor.
	idleWindows = 3
	// idleShare divides the limit: a run that waits is idle if it uses less processor time than that, since polling uses some.
	idleShare = 10
	// serverTime is how long a server may take to report that a run has ended.
	serverTime = time.Second
)

// judge adds a sample and decides whether the process of the run has to be killed, or the server.
func (s *runHistory) judge(l sample, limit time.Duration) (why Reason, server bool) {
	if l.run != s.run || s.first.IsZero() {
		*s = runHistory{run: l.run, first: l.now, used: l.cpu, window: l.now, windowUsed: l.cpu, last: l.now, lastUsed: l.cpu}
	}
	if l.ready {
		s.queued += max(l.now.Sub(s.last)-(l.cpu-s.lastUsed), 0)
	}
	s.last, s.lastUsed = l.now, l.cpu
	if !l.killPending {
		s.killPending = time.Time{}
	} else if s.killPending.IsZero() {
		s.killPending = l.now
	}
	if l.now.Sub(s.window) >= limit {
		if s.idle++; l.cpu-s.windowUsed >= limit/idleShare || l.ready {
			s.idle = 0
		}
		s.window, s.windowUsed = l.now, l.cpu
	}
	wall, killPending := l.now.Sub(s.first), time.Duration(0)
	if !s.killPending.IsZero() {
		killPending = l.now.Sub(s.killPending)
	}
	beyond := max(wall-s.queued-wallLimits*limit, wall-queueLimits*limit) // the limit by the clock, if positive
	switch {
	case beyond >= serverTime, killPending >= wallLimits*serverTime, killPending >= serverTime && !l.ready:
		return NotKilled, true
	case l.cancelled:
		return Cancelled, false
	case l.memory:
		return MemoryLimit, false
	case l.now.Before(s.retry), l.exempt && beyond < 0:
	case l.cpu-s.used >= limit, s.idle >= idleWindows, beyond >= 0:
		s.retry = l.now.Add(limit) // the process may be in the kernel, or may not exist yet
		return Timeout, false
	}
	return NotKilled, false
}

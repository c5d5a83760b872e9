package sancov

import (
	"bytes"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Reason is why a child was killed by us.
type Reason uint32

// The reasons.
const (
	NotKilled   Reason = iota
	Timeout            // a run took longer than its limit
	MemoryLimit        // a run held more memory than its limit
	Cancelled          // the caller's context ended
)

// watchdog kills a child whose run takes too long or holds too much. It looks from time to time, so that no execution has
// to ask the clock or the kernel for anything.
type watchdog struct {
	s         *Server
	quit      chan struct{}
	done      sync.WaitGroup
	limit     atomic.Int64  // nanoseconds of a run of the batch in flight; 0: none is
	killed    atomic.Uint32 // Reason
	asleep    atomic.Bool   // a run that timed out had used less processor time than the limit
	cancelled atomic.Bool   // the batch's context has ended
	mu        sync.Mutex    // held while a child is killed, and by end, so that no other process is hit
}

func (w *watchdog) start(s *Server) {
	w.s, w.quit = s, make(chan struct{})
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

func (w *watchdog) begin(limit time.Duration) {
	w.killed.Store(0)
	w.asleep.Store(false)
	w.cancelled.Store(false)
	w.limit.Store(int64(limit))
}

// end returns why the child was killed, if it was.
func (w *watchdog) end() Reason {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit.Store(0)
	return Reason(w.killed.Load())
}

// cancel gives the batch up. If its child has not started yet, the next look finds it.
func (w *watchdog) cancel() {
	w.cancelled.Store(true)
	w.kill(Cancelled, 0)
}

// kill ends the child. After a timeout, at says which input has caused it: the child may have gone on to another by now.
func (w *watchdog) kill(r Reason, at uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit.Load() == 0 {
		return
	}
	pid := int(atomic.LoadInt32(&w.s.mem.r.pid))
	if pid <= 1 || !w.isChildOfServer(pid) {
		return
	}
	again := w.killed.Load() != uint32(NotKilled) // and its stack has been sampled
	if r == Timeout && !again && (w.sample(pid, at) || !w.isChildOfServer(pid) || w.s.mem.position() != at) {
		return
	}
	if syscall.Kill(pid, syscall.SIGKILL) == nil {
		w.killed.Store(uint32(r))
	}
}

// isChildOfServer guards against killing a stranger: the process number comes from the target.
func (w *watchdog) isChildOfServer(pid int) bool { return look(pid).parent == w.s.pid }

// stuck reports whether the server should have reported long since how its child has ended, and waits for no processor to do so.
func (w *watchdog) stuck(pid int, since time.Duration) bool {
	return since >= patience*serverTime || since >= serverTime && !look(pid).ready && !look(w.s.pid).ready
}

// killServer ends a server that does not report how its child has ended: it is stopped, or stuck. The guardian ends every
// other process that may have its end of the pipe.
func (w *watchdog) killServer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit.Load() == 0 {
		return
	}
	if w.cancelled.Load() {
		w.killed.Store(uint32(Cancelled))
	} else if w.killed.CompareAndSwap(uint32(NotKilled), uint32(Timeout)) {
		atomic.StoreUint32(&w.s.mem.r.samples, 0) // they are of an earlier batch
	}
	w.s.left()
}

const (
	samplePart    = 50 // of a limit, from one sample to the next
	fastestSample = 2 * time.Millisecond
	slowestSample = 20 * time.Millisecond
	answerPauses  = 20 // for an answer, if it does not wait for a processor
)

// sample asks a child some times where it is, and one that sleeps only once, since the question wakes it. One that does not
// answer is in the kernel, or has blocked the signal. It reports whether the run has come to its end meanwhile.
func (w *watchdog) sample(pid int, at uint64) (over bool) {
	if w.s.Hello.Flags&TSan != 0 { // which keeps signals back until the program calls the system
		return false
	}
	atomic.StoreUint32(&w.s.mem.r.samples, 0) // it may still say that another run of the batch was over
	atomic.StoreUint64(&w.s.mem.c.asked, at)
	pause := min(max(time.Duration(w.limit.Load())/samplePart, fastestSample), slowestSample)
	for n := range uint32(maxSamples) {
		with := askSample
		if n == maxSamples-1 || !look(pid).ready {
			with = lastSample
		}
		if syscall.Kill(pid, syscall.Signal(with)) != nil {
			return false
		}
		answered := func() bool { return atomic.LoadUint32(&w.s.mem.r.samples) > n }
		for i := 0; !answered() && (i < answerPauses || i < patience*answerPauses && look(pid).ready); i++ {
			time.Sleep(pause)
		}
		time.Sleep(pause)
		if w.s.mem.r.samples == sampleOver {
			return true
		}
		if with == lastSample || !answered() {
			return false
		}
	}
	return false
}

// life is what the kernel says of a process: see proc_pid_stat(5).
type life struct {
	parent int
	ready  bool // it runs, or would if there were a processor for it
}

func look(pid int) (l life) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return l
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // the name before may hold anything
	if len(f) < 2 {
		return l
	}
	l.parent, _ = strconv.Atoi(f[1])
	l.ready = f[0] == "R"
	return l
}

const (
	ticksPerLimit = 10
	fastestTick   = 5 * time.Millisecond
	slowestTick   = 50 * time.Millisecond
)

const (
	// patience is how many times its limit a run may take by the clock, whatever it waits for.
	patience = 10
	// idleWindows is for how many limits in a row, by the clock, a run may wait without using a processor.
	idleWindows = 3
	// idleShare is the part of a processor below which a waiting run counts as idle: one that polls uses a little.
	idleShare = 10
	// serverTime is how much longer than that a server may take to report how a run has ended.
	serverTime = time.Second
)

// run looks at the batch in flight from time to time.
func (w *watchdog) run() {
	var seen sighting
	t := time.NewTicker(slowestTick)
	defer t.Stop()
	tick := slowestTick
	for {
		var now time.Time
		select {
		case <-w.quit:
			return
		case now = <-t.C:
		}
		limit := time.Duration(w.limit.Load())
		if limit == 0 {
			seen = sighting{}
			continue
		}
		if want := min(max(limit/ticksPerLimit, fastestTick), slowestTick); want != tick {
			tick = want
			t.Reset(tick)
		}
		w.check(&seen, now, limit)
		trim(w.s.stderr)
	}
}

// sighting is what the looks at one run have shown.
type sighting struct {
	at     uint64        // which input it is
	first  time.Time     // when it was seen first; zero: none was
	retry  time.Time     // before which it is not tried again to kill it
	used   time.Duration // processor time of the process when the run was seen first
	doomed time.Time     // when it was first seen that the child was killed, or the batch cancelled; zero: neither

	window     time.Time     // when the present window began, which is as long as the limit
	windowUsed time.Duration // processor time then
	idle       int           // windows in a row in which the run waited and used next to no processor time
}

// check decides whether the run in flight has taken too long or holds too much. Too long is processor time, so that a busy
// machine makes no hang of a run; a run that sleeps, or waits for a lock, uses none, and has a longer limit by the clock.
func (w *watchdog) check(s *sighting, now time.Time, limit time.Duration) {
	pid := int(atomic.LoadInt32(&w.s.mem.r.pid))
	cpu := processorTime(pid)
	if at := w.s.mem.position(); at > s.at || at>>32 != s.at>>32 || s.first.IsZero() {
		*s = sighting{at: at, first: now, used: cpu, window: now, windowUsed: cpu}
	}
	if w.killed.Load() == uint32(NotKilled) && !w.cancelled.Load() {
		s.doomed = time.Time{}
	} else if s.doomed.IsZero() {
		s.doomed = now
	}
	if now.Sub(s.window) >= limit {
		if s.idle++; cpu-s.windowUsed >= limit/idleShare || look(pid).ready {
			s.idle = 0
		}
		s.window, s.windowUsed = now, cpu
	}
	wall := now.Sub(s.first)
	switch {
	case (wall-serverTime)/patience >= limit, !s.doomed.IsZero() && w.stuck(pid, now.Sub(s.doomed)):
		w.killServer()
	case w.cancelled.Load():
		w.kill(Cancelled, s.at)
	case w.s.cmd.Memory > 0 && residentBytes(pid) > w.s.cmd.Memory:
		w.kill(MemoryLimit, s.at)
	case now.Before(s.retry):
	case atomic.LoadUint32(&w.s.mem.r.looking) != 0 && wall < patience*limit: // for leaks, which is no part of the run
	case cpu-s.used >= limit, s.idle >= idleWindows, wall >= patience*limit:
		w.asleep.Store(cpu-s.used < limit)
		w.kill(Timeout, s.at)
		s.retry = now.Add(limit) // it may be in the kernel, or not be there yet
	}
}

// processorTime returns what all threads of a process have used, 0 if there is no such process. The clock's number is made
// as clock_getcpuclockid(3) makes it.
func processorTime(pid int) time.Duration {
	const schedulerClock = 2
	if pid <= 1 {
		return 0
	}
	var t unix.Timespec
	if unix.ClockGettime(int32(^pid)<<3|schedulerClock, &t) != nil {
		return 0
	}
	return time.Duration(t.Nano())
}

// residentBytes returns the resident memory of a process in bytes.
func residentBytes(pid int) uint64 {
	if pid <= 1 {
		return 0
	}
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/statm")
	if err != nil {
		return 0
	}
	f := strings.Fields(string(b))
	if len(f) < 2 {
		return 0
	}
	n, _ := strconv.ParseUint(f[1], 10, 64)
	return n * uint64(os.Getpagesize())
}

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
)

// Reason is why we have killed a child.
type Reason uint32

// The reasons.
const (
	NotKilled Reason = iota
	Slow             // a run took longer than its limit
	Fat              // a run held more memory than its limit
	Cancelled        // nobody wants to know any more
)

// watchdog kills a child whose run takes too long or too much. It looks from time to time, so that no execution has to
// ask the clock or the kernel for anything.
type watchdog struct {
	s      *Server
	quit   chan struct{}
	done   sync.WaitGroup
	limit  atomic.Int64  // nanoseconds of a run of the batch under way; 0: none is
	killed atomic.Uint32 // Reason
	vain   atomic.Bool   // nobody waits for the batch any more
	mu     sync.Mutex    // held while a child is killed, and by end, so that nobody else is hit
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
	w.vain.Store(false)
	w.limit.Store(int64(limit))
}

// end returns why the child was killed, if it was.
func (w *watchdog) end() Reason {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.limit.Store(0)
	return Reason(w.killed.Load())
}

// cancel gives the batch up. If its child is not there yet, the next look finds it.
func (w *watchdog) cancel() {
	w.vain.Store(true)
	w.kill(Cancelled, 0)
}

// kill ends the child. If that is for its time, at says which input has taken it: the child may be done with that by now.
func (w *watchdog) kill(r Reason, at uint64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit.Load() == 0 {
		return
	}
	pid := int(atomic.LoadInt32(&w.s.mem.h.pid))
	if pid <= 1 || !w.ours(pid) {
		return
	}
	again := w.killed.Load() != uint32(NotKilled) // and where it was is known
	if r == Slow && !again && (w.sample(pid, at) || !w.ours(pid) || w.s.mem.position() != at) {
		return
	}
	if syscall.Kill(pid, syscall.SIGKILL) == nil {
		w.killed.Store(uint32(r))
	}
}

// ours reports whether a process is the server's child: its number comes from the target, and could be anybody's.
func (w *watchdog) ours(pid int) bool { return look(pid).parent == w.s.pid }

// stuck reports whether the server should have told long since how its child has ended, and waits for no processor to do so.
func (w *watchdog) stuck(pid int, since time.Duration) bool {
	return since >= patience*serverTime || since >= serverTime && !look(pid).ready && !look(w.s.pid).ready
}

// killServer ends a server that does not tell how its child has ended: it is stopped, or stuck. The guardian ends what else
// may have its end of the pipe.
func (w *watchdog) killServer() {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.limit.Load() == 0 {
		return
	}
	if w.vain.Load() {
		w.killed.Store(uint32(Cancelled))
	} else if w.killed.CompareAndSwap(uint32(NotKilled), uint32(Slow)) {
		atomic.StoreUint32(&w.s.mem.h.samples, 0) // they are of an earlier batch
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
	atomic.StoreUint32(&w.s.mem.h.samples, 0) // it may still say that another run of the batch was over
	atomic.StoreUint64(&w.s.mem.h.asked, at)
	pause := min(max(time.Duration(w.limit.Load())/samplePart, fastestSample), slowestSample)
	for n := range uint32(maxSamples) {
		with := askSample
		if n == maxSamples-1 || !look(pid).ready {
			with = lastSample
		}
		if syscall.Kill(pid, with) != nil {
			return false
		}
		answered := func() bool { return atomic.LoadUint32(&w.s.mem.h.samples) > n }
		for i := 0; !answered() && (i < answerPauses || i < patience*answerPauses && look(pid).ready); i++ {
			time.Sleep(pause)
		}
		time.Sleep(pause)
		if w.s.mem.h.samples == sampleOver {
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
	ready  bool          // it runs, or would if there were a processor for it
	cpu    time.Duration // it has used
}

const clockTick = 10 * time.Millisecond

func look(pid int) (l life) {
	b, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return l
	}
	f := strings.Fields(string(b[bytes.LastIndexByte(b, ')')+1:])) // the name before may hold anything
	if len(f) < 13 {
		return l
	}
	l.parent, _ = strconv.Atoi(f[1])
	user, _ := strconv.Atoi(f[11])
	system, _ := strconv.Atoi(f[12])
	return life{l.parent, f[0] == "R", time.Duration(user+system) * clockTick}
}

const (
	ticksPerLimit = 10
	fastestTick   = 5 * time.Millisecond
	slowestTick   = 50 * time.Millisecond
)

// patience is how many times its limit a run may take while it waits for a processor that others use.
const patience = 10

// serverTime is how much longer than that a server may take to say how a run has ended.
const serverTime = time.Second

// run looks at the batch under way from time to time.
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
		w.judge(&seen, now, limit)
	}
}

// sighting is what the looks at one run have shown.
type sighting struct {
	at     uint64        // which input it is
	first  time.Time     // when it was seen first; zero: none was
	since  time.Time     // then, or when it was last tried to kill it
	used   time.Duration // processor time when it was seen first
	doomed time.Time     // when it was seen first that the child was killed, or nobody waits; zero: neither
}

// judge looks at which input runs. The same one at two looks that are the limit apart has run that long.
func (w *watchdog) judge(s *sighting, now time.Time, limit time.Duration) {
	pid := int(atomic.LoadInt32(&w.s.mem.h.pid))
	if at := w.s.mem.position(); at != s.at || s.first.IsZero() {
		*s = sighting{at: at, first: now, since: now, used: look(pid).cpu}
	}
	if w.killed.Load() == uint32(NotKilled) && !w.vain.Load() {
		s.doomed = time.Time{}
	} else if s.doomed.IsZero() {
		s.doomed = now
	}
	switch wall := now.Sub(s.since); {
	case (now.Sub(s.first)-serverTime)/patience >= limit, !s.doomed.IsZero() && w.stuck(pid, now.Sub(s.doomed)):
		w.killServer()
	case w.vain.Load():
		w.kill(Cancelled, s.at)
	case wall >= limit:
		waits := atomic.LoadUint32(&w.s.mem.h.looking) != 0
		if l := look(pid); (waits || l.ready && l.cpu-s.used < limit/2) && wall < patience*limit {
			return
		}
		w.kill(Slow, s.at)
		s.since = now // it may be in the kernel, or not be there yet: try again
	case w.s.cmd.Memory > 0 && held(pid) > w.s.cmd.Memory:
		w.kill(Fat, s.at)
	}
}

// held returns the resident memory of a process in bytes.
func held(pid int) uint64 {
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

package sancov

import (
	"sync/atomic"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// watch limits the time and the memory of the runs of a server's children, and samples the stack of a run before it is killed
// by a timeout.
type watch struct {
	dog              proc.Watchdog
	s                *Server
	limit            time.Duration // of a run of the batch
	seen             atomic.Uint64 // the highest run number so far
	sampled          atomic.Bool   // the stack of the child was sampled since the batch began
	looked           atomic.Bool   // Look has seen the run whose stack was sampled last
	tooManyLeftovers atomic.Bool   // runs have left behind more than maxLeftovers processes
}

var _ proc.Watched = (*watch)(nil)

func (w *watch) start(s *Server) {
	w.s = s
	w.dog.Memory, w.dog.Server = s.cmd.Memory, s.pid
	w.dog.OnCheck = func(time.Time, bool) {
		trim(s.stderr)
		if proc.ChildCount(s.pid)+proc.ChildCount(s.child()) > maxLeftovers {
			w.tooManyLeftovers.Store(true)
		}
	}
	w.dog.Start(w)
}

// maxLeftovers is the number of processes that runs may leave behind before these are killed, together with the child.
const maxLeftovers = 64

// begin announces a batch, each run of which has the limit.
func (w *watch) begin(limit time.Duration) {
	w.limit = limit
	w.sampled.Store(false)
	w.looked.Store(false)
	w.dog.Begin(limit, nil)
}

// Current implements [proc.Watched].
func (w *watch) Current() (run uint64, pid int, exempt bool) {
	at := w.s.mem.currentRun()
	if seen := w.seen.Load(); at>>32 == seen>>32 && at < seen {
		at = seen // the target has overwritten the index: that must not give it the time limit of another run
	}
	w.seen.Store(at)
	return at, w.s.child(), atomic.LoadUint32(&w.s.mem.r.leakCheck) != 0
}

// Kill implements [proc.Watched]. The number of the child comes from the target and may be that of an unrelated process.
func (w *watch) Kill(why proc.Reason, run uint64) bool {
	pid := w.s.child()
	if !w.isChild(pid) {
		return false
	}
	if (why == proc.Timeout || why == proc.MemoryLimit) && w.sampled.CompareAndSwap(false, true) &&
		(w.sample(pid, run, why) || !w.isChild(pid) || w.s.mem.currentRun() != run) {
		w.sampled.Store(false)
		w.looked.Store(false)
		return false
	}
	return syscall.Kill(pid, syscall.SIGKILL) == nil
}

func (w *watch) isChild(pid int) bool {
	seen, alive := proc.StatusOf(pid)
	return pid > 1 && alive && seen.Parent == w.s.pid
}

// KillServer implements [proc.Watched]. The guardian kills all processes that may have the target's end of the status pipe open.
func (w *watch) KillServer(proc.Reason) {
	if !w.sampled.Load() {
		atomic.StoreUint32(&w.s.mem.r.samples, 0) // the samples belong to an earlier batch
	}
	w.s.release()
}

const (
	samplePart    = 50 // the limit divided by this is the pause between samples
	shortestPause = 2 * time.Millisecond
	longestPause  = 20 * time.Millisecond
	answerPauses  = 20                // pauses to wait for a sample
	longestAnswer = 10 * answerPauses // the same for a child that waits for a processor
)

// sample finds out where the child is. One that runs records its stack several times. What another waits for may be in other threads, at
// which we look from outside; if we may not, the child records its stack once, since the signal wakes it. A child that does not react is
// in the kernel, or has blocked the signal. over reports that the run has ended meanwhile.
func (w *watch) sample(pid int, at uint64, why proc.Reason) (over bool) {
	atomic.StoreUint32(&w.s.mem.r.samples, 0) // it may still tell that an earlier run of the batch has ended
	outside := w.s.Hello.Flags&TSan != 0      // ThreadSanitizer delays signals until the next system call
	if look := w.s.cmd.Look; look != nil && (outside || !ready(pid)) {
		w.looked.Store(look(pid))
	}
	if w.looked.Load() || outside {
		return false
	}
	atomic.StoreUint64(&w.s.mem.c.asked, at)
	pause := min(max(w.limit/samplePart, shortestPause), longestPause)
	if why == proc.MemoryLimit { // it goes on to take more
		pause = shortestPause
	}
	for n := range uint32(maxSamples) {
		with := askSample
		if n == maxSamples-1 || !ready(pid) {
			with = lastSample
		}
		if syscall.Kill(pid, syscall.Signal(with)) != nil {
			return false
		}
		answered := func() bool { return atomic.LoadUint32(&w.s.mem.r.samples) > n }
		for i := 0; !answered() && (i < answerPauses || i < longestAnswer && ready(pid)); i++ {
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

// ready reports whether a process runs or waits for a processor.
func ready(pid int) bool {
	seen, _ := proc.StatusOf(pid)
	return seen.Ready
}

package sancov

import (
	"sync/atomic"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// watch has the runs of a server's children watched, and looks where a child is before it is killed for its time.
type watch struct {
	dog     proc.Watchdog
	s       *Server
	limit   time.Duration // of a run of the batch
	seen    atomic.Uint64 // the newest position of the batches
	sampled atomic.Bool   // where the child is has been asked since the batch began
	crowded atomic.Bool   // runs have left more processes behind than they may
}

var _ proc.Watched = (*watch)(nil)

func (w *watch) start(s *Server) {
	w.s = s
	w.dog.Memory, w.dog.Server = s.cmd.Memory, s.pid
	w.dog.OnCheck = func(time.Time, bool) {
		trim(s.stderr)
		if proc.ChildCount(s.pid)+proc.ChildCount(int(atomic.LoadInt32(&s.mem.r.pid))) > mostLeftBehind {
			w.crowded.Store(true)
		}
	}
	w.dog.Start(w)
}

// mostLeftBehind is how many processes runs may leave behind before all are ended, together with the child.
const mostLeftBehind = 64

// begin says that a batch begins, each run of which has the limit.
func (w *watch) begin(limit time.Duration) {
	w.limit = limit
	w.sampled.Store(false)
	w.dog.Begin(limit, nil)
}

// Current implements [proc.Watched]. The number of a run is its position in the batches.
func (w *watch) Current() (run uint64, pid int, exempt bool) {
	at := w.s.mem.position()
	if seen := w.seen.Load(); at>>32 == seen>>32 && at < seen {
		at = seen // a target that has written over its position does not get the time of another run
	}
	w.seen.Store(at)
	return at, int(atomic.LoadInt32(&w.s.mem.r.pid)), atomic.LoadUint32(&w.s.mem.r.looking) != 0 // for leaks
}

// Kill implements [proc.Watched]. The child's number comes from the target, and could be anybody's.
func (w *watch) Kill(why proc.Reason, run uint64) bool {
	pid := int(atomic.LoadInt32(&w.s.mem.r.pid))
	if !w.isChild(pid) {
		return false
	}
	if why == proc.Timeout && w.sampled.CompareAndSwap(false, true) &&
		(w.sample(pid, run) || !w.isChild(pid) || w.s.mem.position() != run) {
		w.sampled.Store(false)
		return false
	}
	return syscall.Kill(pid, syscall.SIGKILL) == nil
}

func (w *watch) isChild(pid int) bool {
	seen, alive := proc.StatusOf(pid)
	return pid > 1 && alive && seen.Parent == w.s.pid
}

// KillServer implements [proc.Watched]. The guardian ends every other process that may have the server's end of the pipe.
func (w *watch) KillServer(proc.Reason) {
	if !w.sampled.Load() {
		atomic.StoreUint32(&w.s.mem.r.samples, 0) // they are of an earlier batch
	}
	w.s.left()
}

const (
	samplePart    = 50 // of a limit, from one sample to the next
	fastestSample = 2 * time.Millisecond
	slowestSample = 20 * time.Millisecond
	answerPauses  = 20 // for an answer, if it does not wait for a processor
	longestAnswer = 10 * answerPauses
)

// sample asks a child some times where it is, and one that sleeps only once, since the question wakes it. One that does not
// answer is in the kernel, or has blocked the signal. It reports whether the run has come to its end meanwhile.
func (w *watch) sample(pid int, at uint64) (over bool) {
	if w.s.Hello.Flags&TSan != 0 { // which keeps signals back until the program calls the system
		return false
	}
	atomic.StoreUint32(&w.s.mem.r.samples, 0) // it may still say that another run of the batch was over
	atomic.StoreUint64(&w.s.mem.c.asked, at)
	pause := min(max(w.limit/samplePart, fastestSample), slowestSample)
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

// ready reports whether a process runs, or would if there were a processor for it.
func ready(pid int) bool {
	seen, _ := proc.StatusOf(pid)
	return seen.Ready
}

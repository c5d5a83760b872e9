package forkserver

import (
	"context"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// watch has the runs of a program watched: for how long they take and how much memory they hold, and for processes that runs
// have left behind.
type watch struct {
	dog    proc.Watchdog
	stderr *proc.Capture
	stdout *proc.Capture // nil: none
	root   int           // the server; 0: there is none, and every child is our own
	marker string
	run    atomic.Uint64
	pid    atomic.Int64 // of the child; 0: it is not known yet

	swept time.Time
	pause time.Duration // until the next sweep
}

var _ proc.Watched = (*watch)(nil)

// start begins to watch. root is the server, 0 if there is none.
func (w *watch) start(memory uint64, root int, marker string) {
	w.root, w.marker = root, marker
	w.dog.Memory, w.dog.Server, w.dog.OnCheck = memory, root, w.look
	w.dog.Start(w)
}

// begin says which child will run, 0 if that is not known yet.
func (w *watch) begin(ctx context.Context, child int, limit time.Duration) {
	w.pid.Store(int64(child))
	w.run.Add(1)
	w.dog.Begin(limit, ctx.Done())
}

// Current implements [proc.Watched].
func (w *watch) Current() (run uint64, pid int, exempt bool) {
	return w.run.Load(), int(w.pid.Load()), false
}

// Kill implements [proc.Watched]. The child's number comes from the target, and could be anybody's.
func (w *watch) Kill(_ proc.Reason, run uint64) bool {
	pid := int(w.pid.Load())
	if pid <= 1 || w.run.Load() != run {
		return false
	}
	seen, alive := proc.StatusOf(pid)
	if !alive || w.root != 0 && seen.Parent != w.root && seen.Session != w.root {
		return false
	}
	return syscall.Kill(pid, syscall.SIGKILL) == nil
}

// KillServer implements [proc.Watched].
func (w *watch) KillServer(proc.Reason) {
	if w.root != 0 {
		syscall.Kill(w.root, syscall.SIGKILL)
	}
}

const (
	sweepEvery = time.Second // looking at every process there is takes a millisecond or more
	sweepAgain = 100 * time.Millisecond
)

// look gives back memory of what was written, and kills what runs have left behind, but not while nothing happens.
func (w *watch) look(now time.Time, moved bool) {
	w.stderr.Trim()
	if w.stdout != nil {
		w.stdout.Trim()
	}
	if w.root == 0 || !moved || now.Sub(w.swept) < w.pause {
		return
	}
	w.swept, w.pause = now, sweepEvery
	if proc.KillOrphans(w.root, w.marker) > 0 {
		w.pause = sweepAgain
	}
}

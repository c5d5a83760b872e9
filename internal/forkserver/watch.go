package forkserver

import (
	"context"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// watch limits the time and the memory of a program's runs, and kills processes that runs have left behind.
type watch struct {
	dog    proc.Watchdog
	stderr *proc.Capture
	stdout *proc.Capture // nil: none
	root   int           // process number of the fork server; 0: there is none, and every child is our own
	marker string
	run    atomic.Uint64
	inside proc.Inside
	looked uint64             // the last run whose process was looked at
	saw    bool               // that has seen something of the run in flight
	look   func(pid int) bool // see Command; nil: nothing is called
	pid    atomic.Int64       // process number of the child, as the fork server gives it; 0: not known yet

	lastSweep time.Time
	pause     time.Duration // until the next sweep
}

var _ proc.Watched = (*watch)(nil)

// start starts the watchdog. root is the process number of the fork server, 0 if there is none.
func (w *watch) start(memory uint64, root int, marker string) {
	w.root, w.marker = root, marker
	if root != 0 {
		w.inside.Start(root)
	}
	w.dog.Memory, w.dog.Server, w.dog.OnCheck = memory, root, w.onCheck
	w.dog.Start(w)
}

// begin announces a run. child is the process number of its child, 0 if that is not known yet.
func (w *watch) begin(ctx context.Context, child int, limit time.Duration) {
	w.pid.Store(int64(child))
	w.run.Add(1)
	w.saw = false
	w.dog.Begin(limit, ctx.Done())
}

// Current implements [proc.Watched].
func (w *watch) Current() (run uint64, pid int, exempt bool) {
	return w.run.Load(), w.inside.PID(int(w.pid.Load())), false
}

// Kill implements [proc.Watched]. The number of the child comes from the target and may be that of an unrelated process.
func (w *watch) Kill(why proc.Reason, run uint64) bool {
	pid := w.inside.PID(int(w.pid.Load()))
	if pid <= 1 || w.run.Load() != run {
		return false
	}
	seen, alive := proc.StatusOf(pid)
	if !alive || w.root != 0 && seen.Parent != w.root && seen.Session != w.root {
		return false
	}
	if w.look != nil && w.looked != run && (why == proc.Timeout || why == proc.MemoryLimit) {
		w.looked = run
		w.saw = w.look(pid)
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
	sweepEvery = time.Second // listing all processes takes a millisecond or more
	sweepSoon  = 100 * time.Millisecond
)

// onCheck trims the captured output and, while runs go on, kills processes that runs have left behind.
func (w *watch) onCheck(now time.Time, moved bool) {
	w.stderr.Trim()
	if w.stdout != nil {
		w.stdout.Trim()
	}
	if w.root == 0 || !moved || now.Sub(w.lastSweep) < w.pause {
		return
	}
	w.lastSweep, w.pause = now, sweepEvery
	if proc.KillOrphans(w.root, w.marker) > 0 {
		w.pause = sweepSoon
	}
}

package process

import (
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// watch ends a test process whose input takes too long, or which holds too much memory during one.
type watch struct {
	dog     proc.Watchdog
	quitter proc.Quitter
	child   *child
}

var _ proc.Watched = (*watch)(nil)

// watchInterval is how often the watchdog looks: a program that fills a gigabyte a second gets 20 MB beyond its limit.
const watchInterval = 20 * time.Millisecond

func newWatch(c *child, timeout time.Duration, memory uint64) *watch {
	w := &watch{child: c, quitter: proc.Quitter{PID: c.cmd.Process.Pid}}
	w.dog = proc.Watchdog{Memory: memory, ByClock: true, Interval: watchInterval}
	w.dog.Start(w)
	w.dog.Begin(timeout, nil)
	return w
}

// stop ends the watch over a process that has ended, and returns why it was killed.
func (w *watch) stop() proc.Reason {
	why := w.dog.End()
	w.dog.Stop()
	return why
}

// Current implements [proc.Watched].
func (w *watch) Current() (run uint64, pid int, exempt bool) {
	run, running := w.child.page.Phase()
	if !running {
		run = 0
	}
	return run, w.quitter.PID, false
}

// Kill implements [proc.Watched].
func (w *watch) Kill(_ proc.Reason, run uint64) bool {
	now, _, _ := w.Current()
	return now == run && w.quitter.Quit()
}

// KillServer implements [proc.Watched].
func (w *watch) KillServer(proc.Reason) { w.quitter.Quit() }

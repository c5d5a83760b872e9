package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// GoInterval is how often [WatchGo] looks: one that fills a gigabyte a second gets 20 MB beyond its limit.
const GoInterval = 20 * time.Millisecond

// WatchGo starts a watchdog over a program written in Go, by the clock. Its processes end after they have printed the stacks of their
// goroutines; without, if one holds half as much again as it may: the memory of the machine may be filled meanwhile. run returns what
// [Watched] calls the current run. onCheck is the [Watchdog]'s.
func WatchGo(pid int, memory uint64, run func() uint64, onCheck func(now time.Time, moved bool)) *Watchdog {
	w := &Watchdog{Memory: memory, ByClock: true, Interval: GoInterval, OnCheck: onCheck}
	w.Start(&quitter{pid: pid, memory: memory, run: run})
	return w
}

// quitter ends a program written in Go after it has printed the stacks of its goroutines. It is for one goroutine at a time.
type quitter struct {
	pid    int // of the program, which nobody has waited for
	memory uint64
	run    func() uint64
	asked  time.Time
}

var _ Watched = (*quitter)(nil)

// Current implements [Watched].
func (q *quitter) Current() (run uint64, pid int, exempt bool) { return q.run(), q.pid, false }

// Kill implements [Watched].
func (q *quitter) Kill(why Reason, run uint64) bool {
	if q.run() != run {
		return false
	}
	if seen, _ := StatusOf(q.pid); why == MemoryLimit && seen.RSS >= q.memory+q.memory/2 {
		return q.kill()
	}
	return q.quit()
}

// KillServer implements [Watched].
func (q *quitter) KillServer(Reason) { q.quit() }

// stackTime is how long a program may take to print its stacks, after which it is killed. Those of ten thousand goroutines, twenty calls
// deep, took 4.1 to 6.5 s on two cores that 25 programs wanted. The runtime prints the one that runs first.
const stackTime = 5 * time.Second

// quit asks the program to print its stacks and to end. Further calls kill it once it has had five seconds for that. It reports whether
// this was the first call.
func (q *quitter) quit() (first bool) {
	switch {
	case q.asked.IsZero():
		q.asked = time.Now()
		// The thread that the signal is sent to prints its own stack, while it often has none of a goroutine that runs on another thread:
		// it is sent to the one that is busy.
		if unix.Tgkill(q.pid, busiest(q.pid), syscall.SIGQUIT) != nil { // the thread has just ended
			syscall.Kill(q.pid, syscall.SIGQUIT)
		}
		return true
	case time.Since(q.asked) >= stackTime:
		q.kill()
	}
	return false
}

// kill ends the program at once. It reports whether nothing was sent to it before.
func (q *quitter) kill() (first bool) {
	if first = q.asked.IsZero(); first {
		q.asked = time.Now()
	}
	syscall.Kill(q.pid, syscall.SIGKILL)
	return first
}

// A process is looked at for busyTime, since goroutines move from one thread to another; and so often if no thread runs, since it
// may be waiting for a processor.
const (
	busyTime  = 2 * time.Millisecond
	busyTries = 50
)

// busiest returns the thread of a process that runs most at the moment.
func busiest(pid int) (thread int) {
	thread = pid
	for range busyTries {
		before := runTimes(pid)
		time.Sleep(busyTime)
		most := time.Duration(0)
		for t, n := range runTimes(pid) {
			if ran := n - before[t]; ran > most {
				thread, most = t, ran
			}
		}
		if most >= busyTime/2 {
			break
		}
	}
	return thread
}

// runTimes returns how long each thread of a process has run so far.
func runTimes(pid int) map[int]time.Duration {
	times := map[int]time.Duration{}
	dir := fmt.Sprintf("/proc/%d/task", pid)
	entries, _ := os.ReadDir(dir) // none: the process is gone
	for _, e := range entries {
		text, err := os.ReadFile(dir + "/" + e.Name() + "/schedstat")
		thread, bad := strconv.Atoi(e.Name())
		if err != nil || bad != nil {
			continue
		}
		ran, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(ran, 10, 64)
		times[thread] = time.Duration(n)
	}
	return times
}

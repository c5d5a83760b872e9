package fuzztest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"golang.org/x/sys/unix"

	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// limits is what one input may use.
type limits struct{ time time.Duration }

// grace is how long a process may take to print the stacks of its goroutines, after which it is killed.
const grace = 5 * time.Second

// watchdog ends a test process whose input takes too long, or which holds too much memory.
type watchdog struct {
	pid    int
	m      *memory
	memory uint64
	space  atomic.Uint64 // bytes of address space when the process had become ready; 0: it has not
	limit  atomic.Int64  // nanoseconds for one input; 0: no batch runs
	cause  atomic.Uint32

	longest atomic.Int64 // nanoseconds, about, that an input has taken since somebody asked, if it was longer than interval

	stop  chan struct{}
	ended sync.WaitGroup

	confined bool // the loop has confined the process; to be read when it has ended
}

func newWatchdog(pid int, m *memory, memory uint64) *watchdog {
	w := &watchdog{pid: pid, m: m, memory: memory, stop: make(chan struct{})}
	w.ended.Go(w.loop)
	return w
}

func (w *watchdog) begin(l limits) { w.limit.Store(int64(l.time)) }

// end returns why the process was killed in this batch.
func (w *watchdog) end() judge.Cause {
	w.limit.Store(0)
	return judge.Cause(w.cause.Load())
}

func (w *watchdog) close() {
	close(w.stop)
	w.ended.Wait()
}

// interval is how often the watchdog looks.
const interval = 20 * time.Millisecond

// pause is by how much the watchdog looks late if it has not run for a while: neither has the process then, perhaps.
const pause = time.Second

func (w *watchdog) loop() {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	last, since, looked := uint64(0), time.Now(), time.Now()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		now := time.Now()
		if late := now.Sub(looked); late > pause {
			since = since.Add(late)
		}
		looked = now
		limit, at := time.Duration(w.limit.Load()), w.m.position()
		if limit == 0 || at != last {
			if spent := int64(now.Sub(since) - interval); limit > 0 && spent > w.longest.Load() {
				w.longest.Store(spent)
			}
			last, since = at, now
			if limit == 0 {
				continue
			}
		}
		held := w.held()
		switch {
		case w.memory > 0 && held > w.memory:
			w.cause.Store(uint32(judge.CauseMemory))
			w.dump(held < w.memory+w.memory/2)
			return
		case now.Sub(since) >= limit && stopped(w.pid):
			since = now
		case now.Sub(since) >= limit:
			w.cause.Store(uint32(judge.CauseTimeout))
			w.dump(true)
			return
		}
	}
}

// held returns how many bytes of memory the process holds, and confines it when it has reserved half of what it may hold. If it has
// reserved more than all of that already, the runtime still needs a little for itself.
func (w *watchdog) held() uint64 {
	space, held := occupied(w.pid)
	if ready := w.space.Load(); w.memory > 0 && !w.confined && ready > 0 && space > ready+w.memory/2 {
		w.confined = confine(w.pid, max(ready+w.memory, space)) == nil // it may be gone
	}
	return held
}

// stopped reports whether a process was stopped by a signal and waits to be continued.
func stopped(pid int) bool {
	s, _ := proc.StatusOf(pid)
	return s.Stopped
}

// dump has the process print its stacks, if there is time for that, and kills it.
func (w *watchdog) dump(ask bool) {
	if ask {
		w.quit()
		select {
		case <-w.stop:
			return
		case <-time.After(grace):
		}
	}
	syscall.Kill(w.pid, syscall.SIGKILL)
}

// quit has the runtime print the stacks. The thread that the signal is sent to prints its own, while it often has none of a
// goroutine that runs on another thread: it is sent to the one that is busy.
func (w *watchdog) quit() {
	if unix.Tgkill(w.pid, busiest(w.pid), syscall.SIGQUIT) != nil { // the thread has just ended
		syscall.Kill(w.pid, syscall.SIGQUIT)
	}
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

var pageSize = uint64(os.Getpagesize())

// occupied is how many bytes of address space a process has, and how many of memory it holds; 0: it is gone.
func occupied(pid int) (space, resident uint64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0, 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0, 0
	}
	space, _ = strconv.ParseUint(string(fields[0]), 10, 64)
	resident, _ = strconv.ParseUint(string(fields[1]), 10, 64)
	return space * pageSize, resident * pageSize
}

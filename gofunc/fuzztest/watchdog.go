package fuzztest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/teaselfuzz/teasel/gofunc/judge"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// limits is what one input may use.
type limits struct{ time time.Duration }

// watch ends a test process whose input takes too long, or which holds too much memory.
type watch struct {
	dog     proc.Watchdog
	quitter proc.Quitter
	m       *memory
	space   atomic.Uint64 // bytes of address space when the process had become ready; 0: it has not
	running atomic.Bool   // a batch is

	since   time.Time    // when the input in flight was first seen
	longest atomic.Int64 // nanoseconds, about, that an input has taken since somebody asked, if it was longer than interval

	confined bool // the process has a limit of its address space; to be read when it has ended
}

var _ proc.Watched = (*watch)(nil)

func newWatch(pid int, m *memory, memory uint64) *watch {
	w := &watch{m: m, quitter: proc.Quitter{PID: pid}, since: time.Now()}
	w.dog = proc.Watchdog{Memory: memory, ByClock: true, Interval: interval, OnCheck: w.onCheck}
	w.dog.Start(w)
	return w
}

// interval is how often the watchdog looks: a program that fills a gigabyte a second gets 20 MB beyond its limit.
const interval = 20 * time.Millisecond

func (w *watch) begin(l limits) {
	w.dog.Begin(l.time, nil)
	w.running.Store(true)
}

// end returns why the process was killed in this batch.
func (w *watch) end() judge.Cause {
	w.running.Store(false)
	switch w.dog.End() {
	case proc.Timeout:
		return judge.CauseTimeout
	case proc.MemoryLimit:
		return judge.CauseMemory
	}
	return judge.CauseInvalid
}

// Current implements [proc.Watched].
func (w *watch) Current() (run uint64, pid int, exempt bool) {
	return w.m.position(), w.quitter.PID, false
}

// Kill implements [proc.Watched]. There is no time for the stacks where the memory of the machine may be filled meanwhile.
func (w *watch) Kill(why proc.Reason, run uint64) bool {
	if w.m.position() != run {
		return false
	}
	if _, held := occupied(w.quitter.PID); why == proc.MemoryLimit && held >= w.dog.Memory+w.dog.Memory/2 {
		return w.quitter.Kill()
	}
	return w.quitter.Quit()
}

// KillServer implements [proc.Watched].
func (w *watch) KillServer(proc.Reason) { w.quitter.Quit() }

// onCheck measures inputs, and confines a process that has reserved half of what it may hold. If it has reserved more than all of that
// already, the runtime still needs a little for itself.
func (w *watch) onCheck(now time.Time, moved bool) {
	if running := w.running.Load(); moved || !running {
		if spent := int64(now.Sub(w.since) - interval); running && spent > w.longest.Load() {
			w.longest.Store(spent)
		}
		w.since = now
	}
	ready := w.space.Load()
	if w.dog.Memory == 0 || w.confined || ready == 0 || !w.running.Load() {
		return
	}
	if space, _ := occupied(w.quitter.PID); space > ready+w.dog.Memory/2 {
		w.confined = confine(w.quitter.PID, max(ready+w.dog.Memory, space)) == nil // it may be gone
	}
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

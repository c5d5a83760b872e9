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

// watch ends a test process whose input takes too long, or which holds too much memory.
type watch struct {
	dog     *proc.Watchdog
	pid     int
	memory  uint64        // that it may hold; 0: there is no limit
	space   atomic.Uint64 // bytes of address space when the process had become ready; 0: it has not
	running atomic.Bool   // a batch is

	since   time.Time    // when the input in flight was first seen
	longest atomic.Int64 // nanoseconds, about, that an input has taken since somebody asked, if it was longer than a check

	confined bool // the process has a limit of its address space; to be read when it has ended
}

func newWatch(pid int, m *memory, memory uint64) *watch {
	w := &watch{pid: pid, memory: memory, since: time.Now()}
	w.dog = proc.WatchGo(pid, memory, m.position, w.onCheck)
	return w
}

func (w *watch) begin(limit time.Duration) {
	w.dog.Begin(limit, nil)
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

// onCheck measures inputs, and confines a process that has reserved half of what it may hold. If it has reserved more than all of that
// already, the runtime still needs a little for itself.
func (w *watch) onCheck(now time.Time, moved bool) {
	if running := w.running.Load(); moved || !running {
		if spent := int64(now.Sub(w.since) - proc.GoInterval); running && spent > w.longest.Load() {
			w.longest.Store(spent)
		}
		w.since = now
	}
	ready := w.space.Load()
	if w.memory == 0 || w.confined || ready == 0 || !w.running.Load() {
		return
	}
	if space := occupied(w.pid); space > ready+w.memory/2 {
		w.confined = confine(w.pid, max(ready+w.memory, space)) == nil // it may be gone
	}
}

var pageSize = uint64(os.Getpagesize())

// occupied is how many bytes of address space a process has; 0: it is gone.
func occupied(pid int) (space uint64) {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	first, _, _ := bytes.Cut(text, []byte(" "))
	space, _ = strconv.ParseUint(string(first), 10, 64)
	return space * pageSize
}

package fuzztest

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/gofunc/judge"
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
	limit  atomic.Int64 // nanoseconds for one input; 0: no batch runs
	cause  atomic.Uint32
	stop   chan struct{}
	ended  sync.WaitGroup
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

func (w *watchdog) loop() {
	tick := time.NewTicker(interval)
	defer tick.Stop()
	last, since := uint64(0), time.Now()
	for {
		select {
		case <-w.stop:
			return
		case <-tick.C:
		}
		limit, at := time.Duration(w.limit.Load()), w.m.position()
		if limit == 0 || at != last {
			last, since = at, time.Now()
			if limit == 0 {
				continue
			}
		}
		held := resident(w.pid)
		switch {
		case w.memory > 0 && held > w.memory:
			w.cause.Store(uint32(judge.CauseMemory))
			w.dump(held < w.memory+w.memory/2)
			return
		case time.Since(since) >= limit:
			w.cause.Store(uint32(judge.CauseTimeout))
			w.dump(true)
			return
		}
	}
}

// dump has the process print its stacks, if there is time for that, and kills it.
func (w *watchdog) dump(ask bool) {
	if ask {
		syscall.Kill(w.pid, syscall.SIGQUIT)
		select {
		case <-w.stop:
			return
		case <-time.After(grace):
		}
	}
	syscall.Kill(w.pid, syscall.SIGKILL)
}

var pageSize = uint64(os.Getpagesize())

// resident is how many bytes of memory a process holds; 0: it is gone.
func resident(pid int) uint64 {
	text, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", pid))
	if err != nil {
		return 0
	}
	fields := bytes.Fields(text)
	if len(fields) < 2 {
		return 0
	}
	pages, _ := strconv.ParseUint(string(fields[1]), 10, 64)
	return pages * pageSize
}

package native

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// Cores assigns to each worker a processor core to which no other process is bound, as AFL++ does. The worker and the program share
// the core: they run alternately, and each finds the other's data in the core's cache. Its methods may be called concurrently.
type Cores struct {
	cpus  []int // that this process may use
	first int   // index of the core that is assigned first

	mu   sync.Mutex
	held map[int]bool // cores that are assigned
}

// NewCores returns the cores for a number of workers, and nil if there are fewer cores than workers: then no worker is bound. The
// warning, if it is not empty, is one sentence for the user that tells why not every worker gets a core of its own.
func NewCores(workers int) (c *Cores, warning string) {
	cpus, err := proc.CPUs()
	if err != nil {
		return nil, "workers are not bound to cores: " + err.Error()
	}
	// GOMAXPROCS takes into account that a container may limit processor time.
	if n := min(len(cpus), runtime.GOMAXPROCS(0)); n < workers {
		return nil, fmt.Sprintf("%d workers are more than the %d available cores: they are not bound to cores", workers, n)
	}
	c = &Cores{cpus: cpus, first: os.Getpid(), held: map[int]bool{}}
	if n := len(c.free(proc.BoundCPUs())); n < workers {
		warning = fmt.Sprintf("other processes are bound to %d of the %d cores: not every worker gets one of its own", len(cpus)-n, len(cpus))
	}
	return c, warning
}

// Procs returns the value to call [runtime.GOMAXPROCS] with, after [NewCores]: the current value, or one more than workers if that is
// larger. A worker spends most of its time in a system call that waits for the target. If no P of Go's scheduler is idle, the
// scheduler wakes up every few microseconds to take the Ps of such threads away, and each thread must get another P after the call.
func Procs(workers int) int { return max(runtime.GOMAXPROCS(0), max(workers, 1)+1) }

// free returns the cores to which no process is bound, in the order in which they are assigned. The order depends on the number of
// this process, so that two processes that start concurrently do not both take the first core. If err is not nil, it is unknown
// which cores are free, and free returns none.
func (c *Cores) free(bound map[int]bool, err error) (cpus []int) {
	if err != nil {
		return nil
	}
	for i := range c.cpus {
		if n := c.cpus[(c.first+i)%len(c.cpus)]; !c.held[n] && (!bound[n] || len(c.cpus) == 1) { // this process is bound to the only core itself
			cpus = append(cpus, n)
		}
	}
	return cpus
}

// bind binds the calling goroutine to a free core until release is called. If no core is free, it does nothing.
func (c *Cores) bind() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.free(proc.BoundCPUs()) {
		undo, err := proc.Bind(n)
		if err != nil { // the core was switched off, or taken from this process
			continue
		}
		c.held[n] = true
		return func() {
			undo()
			c.mu.Lock()
			defer c.mu.Unlock()
			delete(c.held, n)
		}
	}
	return func() {}
}

// bound binds the calling goroutine to one of the target's cores, and returns the target with the function release that ends the
// binding. Background executors are not bound.
func (t Target) bound(role teasel.Role) Target {
	t.release = func() {}
	if t.Cores != nil && !role.Background {
		t.release = sync.OnceFunc(t.Cores.bind())
	}
	return t
}

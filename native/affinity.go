package native

import (
	"fmt"
	"os"
	"runtime"
	"sync"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/proc"
)

// Cores gives each worker a processor core that no other process is bound to, as AFL++ does, for itself and the program:
// they hand work to each other and never run at once, and what one has written is in the core's cache for the other. Its
// methods may be called by several goroutines at once.
type Cores struct {
	cpus  []int // that this process may use
	first int   // index of the one that is given away first

	mu   sync.Mutex
	held map[int]bool
}

// NewCores returns the cores for a number of workers, nil if there are fewer cores than workers: then no worker is bound. A
// warning is one sentence for the user, which says why not every worker gets a core of its own.
func NewCores(workers int) (c *Cores, warning string) {
	cpus, err := proc.CPUs()
	if err != nil {
		return nil, "workers are not bound to cores: " + err.Error()
	}
	// A container may limit processor time, which GOMAXPROCS takes into account.
	if n := min(len(cpus), runtime.GOMAXPROCS(0)); n < workers {
		return nil, fmt.Sprintf("%d workers are more than the %d cores there are for them, and are not bound to any", workers, n)
	}
	c = &Cores{cpus: cpus, first: os.Getpid(), held: map[int]bool{}}
	if n := len(c.free(proc.BoundCPUs())); n < workers {
		warning = fmt.Sprintf("other processes are bound to %d of the %d cores: not every worker gets one of its own", len(cpus)-n, len(cpus))
	}
	return c, warning
}

// Procs returns the value to call [runtime.GOMAXPROCS] with, after [NewCores]: one more than there are workers, at least. A
// worker mostly waits in a system call for its target. If all of Go's processors (its Ps) are taken, the scheduler wakes up every few
// microseconds to take those away whose thread waits, and such a thread has to get another one before it can go on.
func Procs(workers int) int { return max(runtime.GOMAXPROCS(0), max(workers, 1)+1) }

// free returns the cores that no process is bound to, in the order in which they are given away. The order depends on the
// process, so that two that start at once do not both take the first. No core is free if err says that this is unknown.
func (c *Cores) free(bound map[int]bool, err error) (cpus []int) {
	if err != nil {
		return nil
	}
	for i := range c.cpus {
		if n := c.cpus[(c.first+i)%len(c.cpus)]; !c.held[n] && (!bound[n] || len(c.cpus) == 1) { // we are bound to the only one ourselves
			cpus = append(cpus, n)
		}
	}
	return cpus
}

// bind binds the calling goroutine to a free core until it calls release. If there is none, it does nothing.
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

// bound returns the target for an executor whose thread is bound to one of the target's cores until the executor calls release.
func (t Target) bound(role teasel.Role) Target {
	t.release = func() {}
	if t.Cores != nil && !role.Background {
		t.release = sync.OnceFunc(t.Cores.bind())
	}
	return t
}

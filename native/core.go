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
	cpus  []int // that we may use
	first int   // which of them is given away first

	mu   sync.Mutex
	held map[int]bool
}

// NewCores returns the cores for so many workers; nil: there are fewer, and nobody is bound. A warning is one sentence
// for the user: not every worker gets a core of its own, and why.
func NewCores(workers int) (c *Cores, warning string) {
	cpus, err := proc.CPUs()
	if err != nil {
		return nil, "workers are not bound to cores: " + err.Error()
	}
	// What a container limits is processor time, and Go counts that in.
	if n := min(len(cpus), runtime.GOMAXPROCS(0)); n < workers {
		return nil, fmt.Sprintf("%d workers are more than the %d cores there are for them, and are not bound to any", workers, n)
	}
	c = &Cores{cpus: cpus, first: os.Getpid(), held: map[int]bool{}}
	if n := len(c.free(proc.BoundCPUs())); n < workers {
		warning = fmt.Sprintf("other processes are bound to %d of the %d cores: not every worker gets one of its own", len(cpus)-n, len(cpus))
	}
	return c, warning
}

// Procs returns what a program should call [runtime.GOMAXPROCS] with, after [NewCores]: more than there are workers. A worker
// mostly waits in a system call for what it fuzzes. Where no processor of Go's is idle, its scheduler wakes up every few
// microseconds to take away those that wait, and each of them has to get another before it goes on.
func Procs(workers int) int { return max(runtime.GOMAXPROCS(0), max(workers, 1)+1) }

// free returns the cores that nobody is bound to, in the order in which they are given away: two of us that start at once
// should not both take the first. Nothing is free if nothing can be known.
func (c *Cores) free(bound map[int]bool, err error) (cpus []int) {
	if err != nil {
		return nil
	}
	for i := range c.cpus {
		if n := c.cpus[(c.first+i)%len(c.cpus)]; !c.held[n] && (!bound[n] || len(c.cpus) == 1) { // all of ours is bound to the only one
			cpus = append(cpus, n)
		}
	}
	return cpus
}

// bind binds the calling goroutine, until it calls release, if there is a core for it.
func (c *Cores) bind() (release func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range c.free(proc.BoundCPUs()) {
		undo, err := proc.Bind(n)
		if err != nil { // it was switched off, or taken from us
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

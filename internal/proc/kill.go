package proc

import (
	"bytes"
	"cmp"
	"fmt"
	"os"
	"syscall"
	"time"
)

// killTime is how long killed processes may take to disappear. A process takes long if it has gigabytes to release on a busy
// machine, or if it is stuck in the kernel. One that another process traces may stay for as long as that wants.
const killTime = 30 * time.Second

// loadTime is how long the kernel may take to load a program; meanwhile the environment of the process cannot be read.
const loadTime = time.Second

// killAll kills the group, the session, the descendants and all processes with the marker, until none is left.
func (p *Process) killAll() error {
	// Descendants can only be recognised while they still have their parents.
	known := map[int]uint64{}
	for _, r := range p.processTree() {
		known[r.pid] = r.began
	}
	syscall.Kill(-p.pid, syscall.SIGKILL)
	syscall.Kill(p.pid, syscall.SIGKILL) // one that was followed is in the group of another
	began := time.Now()
	limit := cmp.Or(p.killTime, killTime)
	p.awaitEnd(limit)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left, loading, err := p.remaining(known)
		if err != nil {
			return fmt.Errorf("listing the processes that the program has started: %w", err)
		}
		if len(left) == 0 && (!loading || time.Since(began) > loadTime) {
			if p.ended != nil && p.Running() {
				return fmt.Errorf("process %d was killed and has not ended", p.pid)
			}
			return nil
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if time.Since(began) > limit {
			return fmt.Errorf("processes %v cannot be killed", left)
		}
		time.Sleep(pause)
		syscall.Kill(-p.pid, syscall.SIGKILL)
	}
}

// Living returns the numbers of the living processes that Close would kill: the program and the processes it has started.
func (p *Process) Living() []int {
	known := map[int]uint64{}
	for _, r := range p.processTree() {
		known[r.pid] = r.began
	}
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		pids, loading, err := p.remaining(known)
		if err != nil || !loading || time.Since(began) > loadTime {
			return pids
		}
		time.Sleep(pause)
	}
}

// awaitEnd waits until the killed program has ended, but no longer than limit.
func (p *Process) awaitEnd(limit time.Duration) {
	if p.ended == nil { // the caller of KillAll waits for it
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
}

// remaining returns the numbers of the processes that are still to be killed. loading reports that there is a process whose
// environment cannot be read yet and which may turn out to be one of them.
func (p *Process) remaining(known map[int]uint64) (pids []int, loading bool, err error) {
	all, err := listProcesses(p.older)
	if err != nil {
		return nil, false, err
	}
	self := os.Getpid()
	for i := range all {
		r := &all[i]
		if r.dead() || r.pid == self {
			continue
		}
		began, ok := known[r.pid]
		ours := r.session == p.pid || ok && began == r.began
		if !ours {
			m := p.mark(r.pid)
			ours, loading = m == marked, loading || m == unmarked && r.loading
		}
		if ours {
			known[r.pid] = r.began
			pids = append(pids, r.pid)
		}
	}
	return pids, loading, nil
}

// mark tells whether a process has our marker in its environment.
type mark uint8

const (
	unmarked mark = iota
	marked
	unreadable // the process is gone, or belongs to another user, so that we could not kill it either
)

func (p *Process) mark(pid int) mark {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	switch {
	case err != nil:
		return unreadable
	case bytes.Contains(environ, []byte(p.marker)):
		return marked
	}
	return unmarked
}

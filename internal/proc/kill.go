package proc

import (
	"bytes"
	"fmt"
	"os"
	"syscall"
	"time"
)

// killTime is how long killed processes may take to be gone. One takes long that has gigabytes to give back while others want
// the processor, or that is stuck in the kernel.
const killTime = 30 * time.Second

// loadTime is how long the kernel may take to load a program, while the environment of the process cannot be read.
const loadTime = time.Second

// killAll kills the group, the session, the descendants and whatever carries the marker, until nothing is left.
func (p *Process) killAll() error {
	// Descendants are looked for while they still have their parents.
	known := map[int]uint64{}
	for _, r := range p.relatives() {
		known[r.pid] = r.began
	}
	syscall.Kill(-p.pid, syscall.SIGKILL)
	began := time.Now()
	p.awaitEnd(killTime)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		left, loading, err := p.left(known)
		if err != nil {
			return fmt.Errorf("looking for what the program has started: %w", err)
		}
		if len(left) == 0 && (!loading || time.Since(began) > loadTime) {
			return nil
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if time.Since(began) > killTime {
			return fmt.Errorf("processes %v do not die", left)
		}
		time.Sleep(pause)
		syscall.Kill(-p.pid, syscall.SIGKILL)
	}
}

// Living returns the numbers of the processes that killing the program ends: itself, and what it has started, that live.
func (p *Process) Living() []int {
	known := map[int]uint64{}
	for _, r := range p.relatives() {
		known[r.pid] = r.began
	}
	began := time.Now()
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		pids, loading, err := p.left(known)
		if err != nil || !loading || time.Since(began) > loadTime {
			return pids
		}
		time.Sleep(pause)
	}
}

// awaitEnd waits until the program that was killed has ended, but no longer than limit.
func (p *Process) awaitEnd(limit time.Duration) {
	if p.ended == nil { // somebody else waits for it
		return
	}
	timer := time.NewTimer(limit)
	defer timer.Stop()
	select {
	case <-p.ended:
	case <-timer.C:
	}
}

// left returns the numbers of the processes that are there of those to be killed. loading says that another one may come to be of them: its
// environment cannot be read yet.
func (p *Process) left(known map[int]uint64) (pids []int, loading bool, err error) {
	all, err := census(p.older)
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

// mark says whether a process has our marker in its environment.
type mark uint8

const (
	unmarked mark = iota
	marked
	unreadable // gone, or somebody else's, whom we could not kill either
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

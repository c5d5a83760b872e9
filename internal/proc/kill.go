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

// killAll kills the group, the session, the descendants and whatever carries the marker, until nothing is left.
func (p *Process) killAll() error {
	// Descendants are looked for while they still have their parents.
	known := map[int]uint64{}
	for _, r := range p.relatives() {
		known[r.pid] = r.began
	}
	deadline := time.Now().Add(killTime)
	for pause := time.Millisecond; ; pause = min(2*pause, 20*time.Millisecond) {
		syscall.Kill(-p.pid, syscall.SIGKILL)
		left, err := p.left(known)
		if err != nil {
			return fmt.Errorf("looking for what the program has started: %w", err)
		}
		if len(left) == 0 {
			return nil
		}
		for _, pid := range left {
			syscall.Kill(pid, syscall.SIGKILL)
		}
		if time.Now().After(deadline) {
			return fmt.Errorf("processes %v do not die", left)
		}
		time.Sleep(pause)
	}
}

// left returns the numbers of the processes that are still to be killed.
func (p *Process) left(known map[int]uint64) (pids []int, err error) {
	all, err := census(0)
	if err != nil {
		return nil, err
	}
	self := os.Getpid()
	for i := range all {
		r := &all[i]
		if r.dead() || r.pid == self {
			continue
		}
		began, ok := known[r.pid]
		if r.session == p.pid || ok && began == r.began || p.marked(r.pid) {
			known[r.pid] = r.began
			pids = append(pids, r.pid)
		}
	}
	return pids, nil
}

// marked reports whether the process has our marker in its environment.
func (p *Process) marked(pid int) bool {
	environ, err := os.ReadFile(fmt.Sprintf("/proc/%d/environ", pid))
	if err != nil {
		return false // gone, or somebody else's, whom we could not kill either
	}
	return bytes.Contains(environ, []byte(p.marker))
}

package proc

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// AdoptOrphans makes this process the parent of descendants whose own parent ends, instead of process 1, so that it learns how they end.
// It holds for the rest of this process's life; who starts no program that leaves processes behind notices nothing.
func AdoptOrphans() error {
	if err := unix.Prctl(unix.PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0); err != nil {
		return fmt.Errorf("adopting orphans: %w", err)
	}
	return nil
}

var errNoOrphan = errors.New("it has left no process that goes on")

// Follow returns the process that goes on in the background where the program has ended, as a daemon does. [AdoptOrphans] must have been
// called before the start. best chooses if there are several. The program's output, and what it has started, belongs to the process that is
// returned, which is to be closed in place of p.
func (p *Process) Follow(best func(pid int) bool) (*Process, error) {
	if p.Running() {
		return nil, errors.New("it has not ended")
	}
	self, orphans := os.Getpid(), []int(nil)
	for _, pid := range p.Living() {
		if r, ok := readStat(pid, make([]byte, 1024)); ok && r.ppid == self && !r.dead() {
			orphans = append(orphans, pid)
		}
	}
	if len(orphans) == 0 {
		return nil, errNoOrphan
	}
	pid := orphans[0]
	if i := slices.IndexFunc(orphans, best); i >= 0 {
		pid = orphans[i]
	}
	d := &Process{pid: pid, marker: p.marker, older: p.older, tail: p.tail, stderr: p.stderr, Stdin: p.Stdin, Stdout: p.Stdout,
		ended: make(chan struct{}), drained: p.drained, killTime: p.killTime}
	owned.Store(pid, true)
	p.once.Do(func() {
		p.settingNiceness.Wait()
		p.reap()
	})
	go d.await()
	return d, nil
}

// owned has the numbers of the children of ours of which somebody wants to know how they end.
var owned sync.Map

// reapFollowed reaps a process that was started by another one.
func (p *Process) reapFollowed() {
	defer reapStrays()
	for {
		var ws syscall.WaitStatus
		var ru syscall.Rusage
		_, err := syscall.Wait4(p.pid, &ws, 0, &ru)
		if err == syscall.EINTR {
			continue
		}
		if err == nil {
			p.state = stateOf(ws, &ru)
		}
		return
	}
}

// strayTicks is how old an orphan is, in ticks of the kernel's clock, before it is taken for one: a child of ours is known long before.
const strayTicks = 100

// reapStrays reaps the orphans that have ended and nobody wants to know about, such as the processes between a program and the daemon that it
// became. Commands of ours that are in our session are waited for by whoever runs them.
func reapStrays() {
	self := os.Getpid()
	session, err := unix.Getsid(0)
	var now unix.Timespec
	all, listErr := listProcesses(nil)
	if err != nil || listErr != nil || unix.ClockGettime(unix.CLOCK_BOOTTIME, &now) != nil {
		return // the next one does it
	}
	ticks := uint64(now.Nano() / (10 * time.Millisecond).Nanoseconds())
	for _, r := range all {
		if _, theirs := owned.Load(r.pid); !theirs && r.dead() && r.ppid == self && r.session != session && r.began+strayTicks <= ticks {
			_, _ = syscall.Wait4(r.pid, nil, syscall.WNOHANG, nil) // it is dead
		}
	}
}

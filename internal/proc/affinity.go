package proc

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// CPUs returns, in ascending order, the numbers of the processors that this process may use: those of its affinity mask,
// which a container restricts.
func CPUs() ([]int, error) {
	cpus, err := affinity(0)
	if err != nil {
		return nil, fmt.Errorf("reading the processor affinity: %w", err)
	}
	return cpus, nil
}

// affinity returns, in ascending order, the numbers of the processors that a process may use; 0 stands for this thread.
func affinity(pid int) (cpus []int, err error) {
	var set unix.CPUSet
	if err := unix.SchedGetaffinity(pid, &set); err != nil {
		return nil, err
	}
	for n := 0; len(cpus) < set.Count(); n++ {
		if set.IsSet(n) {
			cpus = append(cpus, n)
		}
	}
	return cpus, nil
}

// BoundCPUs returns the set of processors to each of which some process is bound exclusively. Kernel threads, which have
// no memory, do not count. It is what AFL++ does in bind_to_free_cpu (src/afl-fuzz-init.c).
func BoundCPUs() (map[int]bool, error) {
	all, err := listProcesses(nil)
	if err != nil {
		return nil, fmt.Errorf("listing the processors that other processes are bound to: %w", err)
	}
	bound, buf := map[int]bool{}, make([]byte, 4096)
	for i := range all {
		b, ok := readInto(fmt.Sprintf("/proc/%d/status", all[i].pid), buf)
		if !ok || all[i].dead() {
			continue
		}
		status := string(b)
		_, list, _ := strings.Cut(status, "\nCpus_allowed_list:\t")
		list, _, _ = strings.Cut(list, "\n")
		if n, err := strconv.Atoi(list); err == nil && strings.Contains(status, "\nVmSize:") { // one number, neither a list nor a range
			bound[n] = true
		}
	}
	return bound, nil
}

// Bind binds the calling goroutine, and the processes that it starts, to a processor until release is called, which the same
// goroutine must do. Their scheduling policy becomes SCHED_BATCH, so that they do not preempt each other on a wake-up: when two
// processes take turns, the one that wakes the other is about to wait, and a preemption would cost two more context switches.
// Bind returns an error if the processor is not available.
func Bind(cpu int) (release func(), err error) {
	runtime.LockOSThread()
	var before, only unix.CPUSet
	only.Set(cpu)
	if err = unix.SchedGetaffinity(0, &before); err == nil {
		err = unix.SchedSetaffinity(0, &only)
	}
	if err != nil {
		runtime.UnlockOSThread()
		return nil, fmt.Errorf("binding to processor %d: %w", cpu, err)
	}
	changedPolicy, _ := setPolicy(unix.SCHED_NORMAL, unix.SCHED_BATCH) // any other policy was set on purpose and stays
	return func() {
		err := unix.SchedSetaffinity(0, &before)
		if changedPolicy && err == nil {
			_, err = setPolicy(unix.SCHED_BATCH, unix.SCHED_NORMAL)
		}
		if err == nil {
			runtime.UnlockOSThread() // otherwise the thread stays locked and ends with the goroutine
		}
	}, nil
}

// addNiceness adds to the niceness of a process group that has just been started, which the processes it starts inherit, and
// returns the new value. The call takes less time than the group's first thread needs to start another thread.
func addNiceness(group, nice int) int {
	p, err := unix.Getpriority(unix.PRIO_PROCESS, group)
	if err != nil {
		return nice
	}
	nice = min(20-p+nice, 19) // the system call returns 20 minus the niceness
	_ = unix.Setpriority(unix.PRIO_PGRP, group, nice)
	return nice
}

// restrictToHalf restricts the calling thread, and the processes that it starts, to the second half of our processors until
// restore is called. It does nothing where there is one processor. Niceness alone does not suffice: a nice program still
// delays, by some milliseconds, a process that wakes up on its processor, and while it loads its threads occupy all of them.
func restrictToHalf() (restore func() error) {
	cpus, err := CPUs()
	if err != nil || len(cpus) < 2 {
		return func() error { return nil }
	}
	var all, half unix.CPUSet
	for i, n := range cpus {
		all.Set(n)
		if i >= len(cpus)/2 {
			half.Set(n)
		}
	}
	_ = unix.SchedSetaffinity(0, &half)
	return func() error { return unix.SchedSetaffinity(0, &all) }
}

// sessionPause is the time for which the kernel refuses a process without root to set the niceness of another session.
const sessionPause = 100 * time.Millisecond

// setSessionNiceness sets the niceness of the program's session. A kernel with autogroups distributes processor time among
// sessions first, so that a program's own niceness has no effect outside its session, and each program has its own session.
func (p *Process) setSessionNiceness(nice int) {
	file, text := fmt.Sprintf("/proc/%d/autogroup", p.pid), strconv.Itoa(nice)
	for errors.Is(os.WriteFile(file, []byte(text), 0), unix.EAGAIN) {
		select {
		case <-p.ended:
			return
		case <-time.After(sessionPause):
		}
	}
}

// setPolicy changes the scheduling policy of this thread if the current one is from.
func setPolicy(from, to uint32) (changed bool, err error) {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != from {
		return false, err
	}
	attr.Policy = to
	err = unix.SchedSetAttr(0, attr, 0)
	return err == nil, err
}

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

// CPUs returns the numbers of the processors that we may use, rising: those of our own affinity, which the processors of
// a container narrow.
func CPUs() ([]int, error) {
	cpus, err := affinity(0)
	if err != nil {
		return nil, fmt.Errorf("asking which processors are ours: %w", err)
	}
	return cpus, nil
}

// affinity returns the numbers of the processors that a process, or with 0 this thread, may use, rising.
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

// BoundCPUs returns the processors that some process is bound to, and to no other. The kernel's own threads, which have
// no memory, do not count. So does AFL++ (bind_to_free_cpu in src/afl-fuzz-init.c).
func BoundCPUs() (map[int]bool, error) {
	all, err := census(nil)
	if err != nil {
		return nil, fmt.Errorf("looking for what others are bound to: %w", err)
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
		if n, err := strconv.Atoi(list); err == nil && strings.Contains(status, "\nVmSize:") { // neither a list nor a range
			bound[n] = true
		}
	}
	return bound, nil
}

// Bind binds the calling goroutine, and all that it will start, to a processor, until it calls release. They share it as
// batch processes, which do not interrupt each other when one is woken: of those that take turns, who wakes another is
// about to wait, and to be interrupted for that costs a switch there and back. A processor that cannot be had is an error.
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
	patient, _ := setPolicy(unix.SCHED_NORMAL, unix.SCHED_BATCH) // what has another policy has its reasons
	return func() {
		err := unix.SchedSetaffinity(0, &before)
		if patient && err == nil {
			_, err = setPolicy(unix.SCHED_BATCH, unix.SCHED_NORMAL)
		}
		if err == nil {
			runtime.UnlockOSThread() // or else the thread ends with the goroutine
		}
	}, nil
}

// giveWay adds to the niceness of a group that has just been started, and so of all that it will start, and returns what it
// is then. Its first thread takes longer to start another one than this does.
func giveWay(group, nice int) int {
	p, err := unix.Getpriority(unix.PRIO_PROCESS, group)
	if err != nil {
		return nice
	}
	nice = min(20-p+nice, 19) // the system call counts from 20 down
	_ = unix.Setpriority(unix.PRIO_PGRP, group, nice)
	return nice
}

// halve keeps the calling thread, and all that it will start, to the latter half of our processors, until it calls restore,
// where that can be had. A program that gives way still holds up for a few milliseconds whoever is woken on the processor
// that it has got, and the threads of one that is loading are on all of them.
func halve() (restore func() error) {
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

// sessionPause is how long a kernel lets nobody but root set the niceness of another session.
const sessionPause = 100 * time.Millisecond

// yield sets the niceness of the program's session. A kernel that shares processors out among sessions first takes no
// heed of a program's own niceness beyond its session, and each program has one of its own.
func (p *Process) yield(nice int) {
	file, text := fmt.Sprintf("/proc/%d/autogroup", p.pid), strconv.Itoa(nice)
	for errors.Is(os.WriteFile(file, []byte(text), 0), unix.EAGAIN) {
		select {
		case <-p.ended:
			return
		case <-time.After(sessionPause):
		}
	}
}

// setPolicy gives this thread another policy of scheduling if it has the one that is expected.
func setPolicy(from, to uint32) (changed bool, err error) {
	attr, err := unix.SchedGetAttr(0, 0)
	if err != nil || attr.Policy != from {
		return false, err
	}
	attr.Policy = to
	err = unix.SchedSetAttr(0, attr, 0)
	return err == nil, err
}

package proc

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"
)

// processInfo describes a process.
type processInfo struct {
	pid, ppid, session int
	state              byte
	loading            bool   // it has no environment yet: the kernel is loading a program, or does not let us see it
	began              uint64 // start time in clock ticks since boot, which tells processes with the same number apart
	rss                uint64 // bytes
}

// dead reports whether the process is a zombie, which its parent has not reaped yet.
func (r *processInfo) dead() bool { return r.state == 'Z' || r.state == 'X' }

// listProcesses returns all processes, sorted by number, except those in older, which may be nil.
func listProcesses(older processSet) ([]processInfo, error) {
	now, err := newProcessSet()
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(now, func(pid int, inode uint64) bool { return older[pid] == inode })
	var all []processInfo
	var buf [1024]byte
	for _, pid := range slices.Sorted(maps.Keys(now)) {
		if r, ok := readStat(pid, buf[:]); ok {
			all = append(all, r)
		}
	}
	return all, nil
}

// readStat reads /proc/PID/stat: see proc_pid_stat(5).
func readStat(pid int, buf []byte) (r processInfo, ok bool) {
	b, ok := readInto("/proc/"+strconv.Itoa(pid)+"/stat", buf)
	if !ok {
		return r, false
	}
	// The name is in parentheses and may contain parentheses and spaces.
	i := bytes.LastIndexByte(b, ')')
	if i < 0 {
		return r, false
	}
	f := bytes.Fields(b[i+1:])
	if len(f) < 22 {
		return r, false
	}
	number := func(i int) uint64 {
		n, _ := strconv.ParseUint(string(f[i]), 10, 64)
		return n
	}
	const (
		kernelThread = 0x00200000 // a bit of the flags
		flags, end   = 6, 48      // indexes of the flags and of the end address of the environment
	)
	return processInfo{
		loading: len(f) > end && number(end) == 0 && number(flags)&kernelThread == 0,
		pid:     pid, state: f[0][0], ppid: int(number(1)), session: int(number(3)),
		began: number(19), rss: number(21) * uint64(os.Getpagesize()),
	}, true
}

// ChildCount returns the number of children of a process with one thread, zombies included: see proc_pid_task(5). It reads the
// first 4 KiB of the list of children.
func ChildCount(pid int) int {
	var buf [4096]byte
	id := strconv.Itoa(pid)
	b, _ := readInto("/proc/"+id+"/task/"+id+"/children", buf[:])
	return bytes.Count(b, []byte(" "))
}

func readInto(name string, buf []byte) ([]byte, bool) {
	f, err := os.Open(name)
	if err != nil {
		return nil, false
	}
	defer f.Close()
	n, err := io.ReadFull(f, buf)
	if n == 0 || err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return nil, false
	}
	return buf[:n], true
}

// processTree returns the program, the members of its session, and its descendants.
func (p *Process) processTree() []processInfo {
	all, err := listProcesses(p.older)
	if err != nil {
		return nil
	}
	ours := family(all, p.pid, true)
	return slices.DeleteFunc(all, func(r processInfo) bool { return !ours[r.pid] })
}

// family returns the ids of a process and its descendants; with session, those of the members of its session and their descendants too.
func family(all []processInfo, pid int, session bool) map[int]bool {
	ours := map[int]bool{pid: true}
	for grown := true; grown; {
		grown = false
		for i := range all {
			if r := &all[i]; !ours[r.pid] && (ours[r.ppid] || session && r.session == pid) {
				ours[r.pid], grown = true, true
			}
		}
	}
	return ours
}

// RSS returns the resident memory of the program and its descendants, in bytes. Shared memory counts once per process.
func (p *Process) RSS() (sum uint64) {
	for _, r := range p.processTree() {
		sum += r.rss
	}
	return sum
}

// Files returns how many files and sockets the program and its descendants have open; 0: the system does not say.
func (p *Process) Files() (sum int) {
	for _, r := range p.processTree() {
		open, err := os.ReadDir("/proc/" + strconv.Itoa(r.pid) + "/fd")
		if err != nil {
			continue // it has ended meanwhile
		}
		sum += len(open)
	}
	return sum
}

// Count returns how many processes there are of the program and its descendants, zombies included; 0: the system does not say.
func (p *Process) Count() int { return len(p.processTree()) }

// Clock measures the processor time of a program and of the descendants that were alive when the Clock was made.
type Clock struct{ pids []int }

// Clock returns a Clock of the program and its current descendants.
func (p *Process) Clock() Clock {
	var c Clock
	for _, r := range p.processTree() {
		c.pids = append(c.pids, r.pid)
	}
	return c
}

// Read returns the processor time used by those of the processes that are still alive. It makes one system call per process.
func (c Clock) Read() (sum time.Duration) {
	for _, pid := range c.pids {
		if d, ok := ProcessorTime(pid); ok {
			sum += d
		}
	}
	return sum
}

// ProcessorTime reads the CPU clock of another process, without what it has started, which has a resolution of nanoseconds, whereas /proc
// has hundredths of a second; not ok if there is no such process. For the number of the clock see clock_getcpuclockid(3).
func ProcessorTime(pid int) (time.Duration, bool) {
	if pid <= 0 { // the number of our own clock
		return 0, false
	}
	const schedulerClock = 2
	clock := uintptr(^pid)<<3 | schedulerClock
	var ts syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(int32(clock)), uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano()), errno == 0
}

// Threads returns the number of threads of the program and its descendants, and how many of them run, wait for a processor or
// wait for a disk. A hang in which none does is a deadlock or an endless wait, not an endless loop.
func (p *Process) Threads() (running, all int) {
	for _, r := range p.processTree() {
		n, m := threadsOf(r.pid)
		running, all = running+n, all+m
	}
	return running, all
}

// threadsOf is Threads for one process.
func threadsOf(pid int) (running, all int) {
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return 0, 0
	}
	for _, task := range tasks {
		var buf [512]byte
		b, ok := readInto(fmt.Sprintf("/proc/%d/task/%s/stat", pid, task.Name()), buf[:])
		if !ok {
			continue
		}
		all++
		if i := bytes.LastIndexByte(b, ')'); i >= 0 && i+2 < len(b) && (b[i+2] == 'R' || b[i+2] == 'D') {
			running++
		}
	}
	return running, all
}

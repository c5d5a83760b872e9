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

// A relative is a process that belongs to the program or descends from it.
type relative struct {
	pid, ppid, session int
	state              byte
	loading            bool   // it has no environment yet: the kernel is loading a program into it, or we may not know
	began              uint64 // in clock ticks since the machine started: tells a number's holders apart
	rss                uint64 // bytes
}

// dead reports whether there is nothing left but an entry which its parent has not looked at.
func (r *relative) dead() bool { return r.state == 'Z' || r.state == 'X' }

// census returns all processes there are, by number, but for those that are in the roster already; nil: none is.
func census(older roster) ([]relative, error) {
	now, err := newRoster()
	if err != nil {
		return nil, err
	}
	maps.DeleteFunc(now, func(pid int, inode uint64) bool { return older[pid] == inode })
	var all []relative
	var buf [1024]byte
	for _, pid := range slices.Sorted(maps.Keys(now)) {
		if r, ok := look(pid, buf[:]); ok {
			all = append(all, r)
		}
	}
	return all, nil
}

// look reads /proc/PID/stat: see proc_pid_stat(5).
func look(pid int, buf []byte) (r relative, ok bool) {
	b, ok := readInto("/proc/"+strconv.Itoa(pid)+"/stat", buf)
	if !ok {
		return r, false
	}
	// The name is in brackets and may have brackets and spaces in it.
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
		kernelThread = 0x00200000 // among the flags
		flags, end   = 6, 48      // where they are, and the end of the environment
	)
	return relative{
		loading: len(f) > end && number(end) == 0 && number(flags)&kernelThread == 0,
		pid:     pid, state: f[0][0], ppid: int(number(1)), session: int(number(3)),
		began: number(19), rss: number(21) * uint64(os.Getpagesize()),
	}, true
}

// ChildCount returns how many processes a process with one thread has started that are still there, dead ones included: see
// proc_pid_task(5). It looks at 4 KiB of their list.
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

// relatives returns the members of the program's session and its descendants, the program included.
func (p *Process) relatives() []relative {
	all, err := census(p.older)
	if err != nil {
		return nil
	}
	ours := map[int]bool{p.pid: true}
	for grown := true; grown; {
		grown = false
		for i := range all {
			r := &all[i]
			if !ours[r.pid] && (r.session == p.pid || ours[r.ppid]) {
				ours[r.pid], grown = true, true
			}
		}
	}
	return slices.DeleteFunc(all, func(r relative) bool { return !ours[r.pid] })
}

// RSS returns how much memory the program and its descendants hold, in bytes. What they share counts for each.
func (p *Process) RSS() (sum uint64) {
	for _, r := range p.relatives() {
		sum += r.rss
	}
	return sum
}

// CPU returns how much processor time the program and its living descendants have used.
func (p *Process) CPU() time.Duration { return p.Clock().Read() }

// Clock is the processor time of a program and the descendants that lived when it was asked for.
type Clock struct{ pids []int }

// Clock looks for the descendants.
func (p *Process) Clock() Clock {
	var c Clock
	for _, r := range p.relatives() {
		c.pids = append(c.pids, r.pid)
	}
	return c
}

// Read returns how much of it those have used that still live. It is one system call for each.
func (c Clock) Read() (sum time.Duration) {
	for _, pid := range c.pids {
		if d, ok := processorTime(pid); ok {
			sum += d
		}
	}
	return sum
}

// OwnCPU returns how much processor time the program itself has used. It is one system call.
func (p *Process) OwnCPU() time.Duration {
	d, _ := processorTime(p.pid)
	return d
}

// processorTime asks the clock of another process, which has nanoseconds where /proc has hundredths of a second: see
// clock_getcpuclockid(3) for the number.
func processorTime(pid int) (time.Duration, bool) {
	const schedulerClock = 2
	clock := uintptr(^pid)<<3 | schedulerClock
	var ts syscall.Timespec
	_, _, errno := syscall.Syscall(syscall.SYS_CLOCK_GETTIME, uintptr(int32(clock)), uintptr(unsafe.Pointer(&ts)), 0)
	return time.Duration(ts.Nano()), errno == 0
}

// Threads returns how many threads the program and its descendants have, and how many of them are running, wait for a disk
// or would run if there were a processor for them: a hang with none is a silent one.
func (p *Process) Threads() (running, all int) {
	for _, r := range p.relatives() {
		tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", r.pid))
		if err != nil {
			continue
		}
		for _, task := range tasks {
			var buf [512]byte
			b, ok := readInto(fmt.Sprintf("/proc/%d/task/%s/stat", r.pid, task.Name()), buf[:])
			if !ok {
				continue
			}
			all++
			if i := bytes.LastIndexByte(b, ')'); i >= 0 && i+2 < len(b) && (b[i+2] == 'R' || b[i+2] == 'D') {
				running++
			}
		}
	}
	return running, all
}

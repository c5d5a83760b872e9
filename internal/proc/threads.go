package proc

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// process is one process of the program.
type process struct {
	pid       int
	threads   []thread
	gone      bool
	used      time.Duration     // of the processor, when that was read last
	fruitless map[int]fruitless // by thread
}

type thread struct {
	id       int
	stat     int // file descriptors; -1: none
	children int
	call     int // the system call that it is in
	runs     int // what it has run

	ran uint64 // what runs said
}

func (p *process) close() {
	for _, t := range p.threads {
		t.close()
	}
	p.threads, p.gone = nil, true
}

func (t thread) close() {
	for _, fd := range [...]int{t.stat, t.children, t.call, t.runs} {
		if fd >= 0 {
			unix.Close(fd)
		}
	}
}

// list opens the files of the threads that a process has now.
func (p *process) list() {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", p.pid))
	if err != nil {
		p.close()
		return
	}
	for _, t := range p.threads {
		t.close()
	}
	p.threads = p.threads[:0]
	for _, e := range entries {
		id, err := strconv.Atoi(e.Name())
		if err != nil {
			continue
		}
		base := fmt.Sprintf("/proc/%d/task/%d/", p.pid, id)
		t := thread{id: id, children: -1, call: -1, runs: -1}
		if t.stat, err = unix.Open(base+"stat", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			continue // it has ended meanwhile
		}
		if fd, err := unix.Open(base+"children", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil { // not every kernel has it
			t.children = fd
		}
		if fd, err := unix.Open(base+"syscall", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil { // nor does it show us those of everybody
			t.call = fd
		}
		if fd, err := unix.Open(base+"schedstat", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil { // nor does every kernel have this
			t.runs = fd
		}
		p.threads = append(p.threads, t)
	}
	p.gone = len(p.threads) == 0
}

// A reading is what the files say at one moment.
type reading uint8

const (
	readingInvalid reading = iota
	readingAsleep
	readingAwake
	readingChanged // threads or processes have come or gone
	readingEnded   // the program itself has ended
)

// activity is what a program does whose threads were not all found asleep.
func (r reading) activity() Activity {
	if r == readingEnded {
		return Ended
	}
	return Awake
}

// sweep reads the state of every thread, up to the first that is awake.
func (q *Quiet) sweep() reading {
	changed := false
	for _, p := range q.processes {
		if p.gone && p.pid != q.root {
			continue
		}
		r := readingEnded
		if !p.gone {
			r = q.sweepProcess(p)
		}
		if r == readingEnded {
			if p.pid == q.root {
				return r
			}
			p.close()
			q.ended++
			r = readingChanged // its parent may not have been woken yet
		}
		if r == readingAwake {
			return r
		}
		changed = changed || r == readingChanged
	}
	if changed {
		return readingChanged
	}
	return readingAsleep
}

// runnable reports whether a thread runs, or waits for nothing but a processor.
func (q *Quiet) runnable() bool {
	for _, p := range q.processes {
		for _, t := range p.threads {
			n, err := unix.Pread(t.stat, q.buf[:], 0)
			if err != nil || n <= 0 {
				continue
			}
			if state, _ := threadState(q.buf[:n]); state == 'R' {
				return true
			}
		}
	}
	return false
}

// sweepProcess reads the states of one process. Its first thread's file says how many there are.
func (q *Quiet) sweepProcess(p *process) reading {
	if len(p.threads) == 0 {
		if p.list(); p.gone {
			return readingEnded
		}
	}
	for i := range p.threads {
		n, err := unix.Pread(p.threads[i].stat, q.buf[:], 0)
		if err != nil || n <= 0 {
			if p.list(); p.gone {
				return readingEnded
			}
			return readingChanged
		}
		state, count := threadState(q.buf[:n])
		switch {
		case p.threads[i].id == p.pid && (state == 'Z' || state == 'X') && count <= 1:
			return readingEnded
		case state == 'R' || state == 'D':
			return readingAwake
		case p.threads[i].id == p.pid && count != len(p.threads):
			if p.list(); p.gone {
				return readingEnded
			}
			return readingChanged
		}
	}
	return readingAsleep
}

// threadState returns the state of a thread and how many its process has: see proc_pid_stat(5).
func threadState(b []byte) (state byte, threads int) {
	i := bytes.LastIndexByte(b, ')') // the name may have anything in it
	if i < 0 || i+2 >= len(b) {
		return 'R', 0
	}
	state = b[i+2]
	const threadsField = 17 // behind the state
	for field := 0; field < threadsField; field++ {
		at := bytes.IndexByte(b[i+2:], ' ')
		if at < 0 {
			return state, 0
		}
		i += at + 1
	}
	for i += 2; i < len(b) && b[i] >= '0' && b[i] <= '9'; i++ {
		threads = threads*10 + int(b[i]-'0')
	}
	return state, threads
}

// countRuns notes what each thread has run. It reports whether the kernel says so of all of them.
func (q *Quiet) countRuns() (counted bool) {
	counted = true
	for _, p := range q.processes {
		if len(p.threads) == 0 && !p.gone {
			p.list()
		}
		for i := range p.threads {
			p.threads[i].ran = q.runsOf(p.threads[i])
			counted = counted && p.threads[i].ran > 0
		}
	}
	return counted
}

// haveRun reports whether a thread has run since countRuns.
func (q *Quiet) haveRun() bool {
	for _, p := range q.processes {
		for _, t := range p.threads {
			if q.runsOf(t) != t.ran {
				return true
			}
		}
	}
	return false
}

// runsOf returns a number that grows when a thread has run; 0: the kernel does not say. It is the sum of the numbers in
// /proc/PID/schedstat: the time on a processor, which the kernel adds when the thread leaves it, the time spent waiting for
// one, and how often it was given one. The first is not enough: on a virtual machine a short run may count as time stolen by
// others.
func (q *Quiet) runsOf(t thread) (sum uint64) {
	if t.runs < 0 {
		return 0
	}
	n, err := unix.Pread(t.runs, q.buf[:], 0)
	if err != nil {
		return 0
	}
	number := uint64(0)
	for _, c := range q.buf[:max(n, 0)] {
		if c >= '0' && c <= '9' {
			number = number*10 + uint64(c-'0')
		} else {
			sum, number = sum+number, 0
		}
	}
	return sum + number
}

// family looks for processes that were started since, and forgets those that are gone. It reports whether there are
// new ones.
func (q *Quiet) family() (grown bool) {
	q.zombies, q.before = q.before, q.zombies
	clear(q.zombies)
	kept := q.processes[:0]
	for _, p := range q.processes {
		if !p.gone || p.pid == q.root {
			kept = append(kept, p)
		} else {
			q.before[p.pid] = true // if it is still listed
			q.spent += p.used
		}
	}
	q.processes = kept
	for at := 0; at < len(q.processes); at++ {
		for _, t := range q.processes[at].threads {
			for f := range bytes.FieldsSeq(q.childrenOf(t)) {
				pid, err := strconv.Atoi(string(f))
				if err != nil || q.has(pid) {
					continue
				}
				if q.before[pid] {
					q.zombies[pid] = true
					continue
				}
				grown = q.add(pid) || grown
			}
		}
	}
	return grown
}

// add takes in a process that was forked, and reports whether anything may come of it.
func (q *Quiet) add(pid int) bool {
	p := &process{pid: pid}
	ended := q.sweepProcess(p) == readingEnded
	if p.gone {
		return false
	}
	if ended {
		p.close()
		q.zombies[pid] = true
		q.ended++
		return true // its parent may not have been woken yet
	}
	q.processes = append(q.processes, p)
	return true
}

// childrenOf returns the numbers of the processes that a thread has forked.
func (q *Quiet) childrenOf(t thread) []byte {
	q.children = q.children[:0]
	for t.children >= 0 {
		n, err := unix.Pread(t.children, q.buf[:], int64(len(q.children)))
		if err != nil || n <= 0 {
			break
		}
		q.children = append(q.children, q.buf[:n]...)
	}
	return q.children
}

func (q *Quiet) has(pid int) bool {
	for _, p := range q.processes {
		if p.pid == pid {
			return true
		}
	}
	return false
}

package conn

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strconv"
	"time"

	"golang.org/x/sys/unix"
)

// State is what a server is doing when nothing is on its way to it.
type State uint8

// The states of a server.
const (
	StateInvalid State = iota
	Asleep             // all its threads wait: it is done with what it was sent
	Ended              // it is no more
	Spinning           // it has used processor time up to the limit and goes on
	Stuck              // it neither sleeps nor gets anywhere, such as when it waits for a disk
	Waiting            // it lets time pass before it goes on: what it will say is not known yet
)

var stateNames = [...]string{"invalid", "asleep", "ended", "spinning", "stuck", "waiting"}

func (s State) String() string {
	if int(s) < len(stateNames) {
		return stateNames[s]
	}
	return "state?"
}

// quiet looks whether a process and what it has forked sleep. It keeps the kernel's files open, for opening one costs as
// much as the server takes for a small message. A message sent over the loopback wakes its receiver before the system call
// that sends it returns, so that a server all of whose threads sleep afterwards has handled it. One goroutine at a time uses
// it.
type quiet struct {
	root      int
	processes []*process
	zombies   map[int]bool // processes that have ended and that the server has not waited for: the kernel still lists them
	before    map[int]bool // the same, when we looked last
	ended     int          // processes that the server had forked and that have ended, since the last look at what they left
	buf       [4096]byte
	children  []byte // the file of that name of one thread
}

// process is one process of the server.
type process struct {
	pid            int
	threads        []thread
	gone           bool
	fruitlessWaits map[int]int // by thread: how often we have waited for it while it let time pass, and nothing came of that
}

type thread struct {
	id       int
	stat     int // file descriptors; -1: none
	children int
	call     int // the system call that it is in
}

func newQuiet(pid int) *quiet {
	return &quiet{root: pid, processes: []*process{{pid: pid}}, zombies: map[int]bool{}, before: map[int]bool{}}
}

func (q *quiet) close() {
	for _, p := range q.processes {
		p.close()
	}
	q.processes = nil
}

func (p *process) close() {
	for _, t := range p.threads {
		t.close()
	}
	p.threads, p.gone = nil, true
}

func (t thread) close() {
	for _, fd := range [...]int{t.stat, t.children, t.call} {
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
		t := thread{id: id, children: -1, call: -1}
		if t.stat, err = unix.Open(base+"stat", unix.O_RDONLY|unix.O_CLOEXEC, 0); err != nil {
			continue // it has ended meanwhile
		}
		if fd, err := unix.Open(base+"children", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil { // not every kernel has it
			t.children = fd
		}
		if fd, err := unix.Open(base+"syscall", unix.O_RDONLY|unix.O_CLOEXEC, 0); err == nil { // nor does it show us those of everybody
			t.call = fd
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
	readingEnded   // the server itself has ended
)

// look reads the state of every thread, up to the first that is awake.
func (q *quiet) look() reading {
	changed := false
	for _, p := range q.processes {
		if p.gone {
			continue
		}
		r := q.lookAt(p)
		if r == readingEnded {
			if p.pid == q.root {
				return r
			}
			p.close()
			q.ended++
			continue
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

// lookAt reads the states of one process. Its first thread's file says how many there are.
func (q *quiet) lookAt(p *process) reading {
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
		state, count := readStat(q.buf[:n])
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

// readStat returns the state of a thread and how many its process has: see proc_pid_stat(5).
func readStat(b []byte) (state byte, threads int) {
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

// family looks for processes that were forked since, and forgets those that are gone. It reports whether there are new ones.
func (q *quiet) family() (grown bool) {
	q.zombies, q.before = q.before, q.zombies
	clear(q.zombies)
	kept := q.processes[:0]
	for _, p := range q.processes {
		if !p.gone || p.pid == q.root {
			kept = append(kept, p)
		} else {
			q.before[p.pid] = true // if it is still listed
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

// add takes in a process that was forked, and reports whether it runs.
func (q *quiet) add(pid int) bool {
	p := &process{pid: pid}
	ended := q.lookAt(p) == readingEnded
	if p.gone {
		return false
	}
	if ended {
		p.close()
		q.zombies[pid] = true
		q.ended++
		return false
	}
	q.processes = append(q.processes, p)
	return true
}

// childrenOf returns the numbers of the processes that a thread has forked.
func (q *quiet) childrenOf(t thread) []byte {
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

func (q *quiet) has(pid int) bool {
	for _, p := range q.processes {
		if p.pid == pid {
			return true
		}
	}
	return false
}

const (
	asleepTwice = 2                     // readings in a row: between two threads that hand work over, neither may be seen awake
	quickPauses = 24                    // before we leave the processor to others for a moment
	briefWait   = 50 * time.Microsecond // for an answer
	// starved is how many times the limit may pass on the clock while the server gets less processor time than that: the
	// machine may be busy, but a server that waits for something other than a processor will not come back.
	starved = 20
)

// A wait is one call of settle.
type wait struct {
	q          *quiet
	fd         int // of the connection; -1: none
	used       func() time.Duration
	limit      time.Duration
	sleepLimit time.Duration
	began      time.Time // zero until there was no answer at once
	before     time.Duration
	pauses     int
	heard      bool             // there is something to receive
	waitedFor  map[*process]int // which thread of each we have waited for while it let time pass
}

// settle waits until the server sleeps, ends, or has used the limit of processor time since the call. used says how much. A
// thread that lets time pass is waited for until the limit on the clock, or until there is something to receive.
func (q *quiet) settle(ctx context.Context, fd int, used func() time.Duration, limit time.Duration) (State, error) {
	return q.settleWithin(ctx, fd, used, limit, limit)
}

// settleWithin is settle with another limit for threads that let time pass.
func (q *quiet) settleWithin(ctx context.Context, fd int, used func() time.Duration, limit, sleepLimit time.Duration) (State, error) {
	w := wait{q: q, fd: fd, used: used, limit: limit, sleepLimit: sleepLimit}
	asleep := 0
	for {
		switch q.look() {
		case readingEnded:
			return Ended, nil
		case readingAsleep:
			if asleep++; asleep < asleepTwice {
				continue
			}
			grown := q.family()
			p, id, awake := q.sleepingThread()
			switch {
			case grown, awake:
				asleep = 0
			case p == nil:
				w.learn()
				return Asleep, nil
			case w.timedOut():
				q.noteSleeping()
				return Waiting, nil
			default:
				w.waitFor(p, id)
			}
		default:
			asleep = 0
		}
		if state, err := w.pause(ctx); state != StateInvalid || err != nil {
			return state, err
		}
	}
}

func readable(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// pause lets the server run. It returns a state when the server has had all the time there is.
func (w *wait) pause(ctx context.Context) (State, error) {
	w.pauses++
	if w.pauses < quickPauses && w.waitedFor == nil {
		if w.fd < 0 || w.heard { // it has answered, and is about to sleep
			_, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			return StateInvalid, nil
		}
		// Who waits is woken sooner than who yields gets a turn, where others want the processor too.
		brief := unix.Timespec{Nsec: int64(briefWait)}
		n, _ := unix.Ppoll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}, &brief, nil)
		w.heard = n > 0
		return StateInvalid, nil
	}
	if w.began.IsZero() {
		w.began, w.before = time.Now(), w.used()
	}
	moment := unix.Timespec{Nsec: int64(min(time.Duration(w.pauses)*time.Microsecond, time.Millisecond))}
	_, _ = unix.Ppoll(nil, &moment, nil)
	if w.pauses%64 != 0 {
		return StateInvalid, nil
	}
	switch {
	case ctx.Err() != nil:
		return StateInvalid, ctx.Err()
	case w.used()-w.before >= w.limit:
		return Spinning, nil
	case time.Since(w.began) >= starved*w.limit:
		return Stuck, nil
	}
	return StateInvalid, nil
}

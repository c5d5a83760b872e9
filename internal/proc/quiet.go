package proc

import (
	"context"
	"time"

	"golang.org/x/sys/unix"
)

// Activity is what a program is doing when nothing is on its way to it.
type Activity uint8

// The activities of a program.
const (
	ActivityInvalid Activity = iota
	Asleep                   // all its threads wait: it is done with what it was sent
	Ended                    // it is no more
	Spinning                 // it has used processor time up to the limit and goes on
	Stuck                    // it neither sleeps nor gets anywhere, such as when it waits for a disk
	Waiting                  // a thread waits for a timer, and what the program will say then is not known yet
	Awake                    // some thread runs, or wants to
)

var activityNames = [...]string{"invalid", "asleep", "ended", "spinning", "stuck", "waiting", "awake"}

func (a Activity) String() string {
	if int(a) < len(activityNames) {
		return activityNames[a]
	}
	return "activity?"
}

// Quiet tells whether a program and the processes that it has started have gone quiet. A message sent over a pipe or the
// loopback interface wakes its receiver before the system call that sends it returns, so that a program all of whose threads
// sleep afterwards has handled it. Quiet keeps the kernel's files open, for opening one takes as long as a program needs for a
// small message. One goroutine at a time uses it.
//
// What a program waits for that is neither a clock nor another of its threads cannot be told from waiting for the next
// message: an answer from the network, a signal, a timer whose expiry it reads from a file (timerfd).
type Quiet struct {
	// Horizon makes every thread count as waiting for a timer that is in a system call with a timeout, such as epoll_wait or
	// futex, if less than Horizon is left of it. A program that uses an event loop, or a lock with a timeout, waits for
	// timers in no other way. Longer timeouts are those of caches, connections and garbage collectors. 0: only threads in nanosleep
	// or clock_nanosleep wait for a timer, for however long. It may be changed between calls.
	Horizon time.Duration

	root      int
	processes []*process
	zombies   map[int]bool  // processes that have ended and that the program has not waited for: the kernel still lists them
	before    map[int]bool  // the same, when we looked last
	ended     int           // processes that the program had started and that have ended
	spent     time.Duration // processor time of those that were forgotten
	buf       [4096]byte
	children  []byte // the file of that name of one thread
	paused    paused // found by the last Look
	blind     bool   // the last Look has not seen all system calls: the program runs as another user, or kernel.yama.ptrace_scope forbids it
}

// NewQuiet returns a Quiet for the process with a number and those that descend from it. Nobody may wait for the process, which
// frees its number, before Close. The caller must call Close.
func NewQuiet(pid int) *Quiet {
	return &Quiet{root: pid, processes: []*process{{pid: pid}}, zombies: map[int]bool{}, before: map[int]bool{}}
}

// Close closes the kernel's files. The program counts as Ended afterwards. Further calls do nothing.
func (q *Quiet) Close() {
	for _, p := range q.processes {
		p.close()
	}
}

// Processes returns the numbers of the processes that the last Look has found: first the program's own, then those that it has
// started.
func (q *Quiet) Processes() (pids []int) {
	for _, p := range q.processes {
		pids = append(pids, p.pid)
	}
	return pids
}

// Unreaped returns how many processes have ended that the program had started and has not waited for.
func (q *Quiet) Unreaped() int { return len(q.zombies) }

// EndedCount returns how many processes have ended that the program had started, of those that a Look had found.
func (q *Quiet) EndedCount() int { return q.ended }

// Used returns the processor time that the program and what it has started have used: of the processes that a Look has found, and of one that
// has ended what it had used at the last call. It makes one system call per process.
func (q *Quiet) Used() time.Duration {
	sum := q.spent
	for _, p := range q.processes {
		if used, ok := ProcessorTime(p.pid); ok && !p.gone {
			p.used = used
		}
		sum += p.used
	}
	return sum
}

// Look returns what the program does now, and never waits. It is Asleep if there was a moment since the call at which every
// thread slept and none waited for a timer, Waiting if all slept and one waited for a timer, Ended if the program has ended, and Awake
// otherwise. It takes some 7 µs for each thread.
//
// Threads are read one after the other, and one that was found asleep may have woken another one that was found asleep before
// it. So what each has run is read first and last: a thread that sleeps in between, and has not run, has slept since the first
// reading, and those of which this is true have all slept at the same time. The state of a thread alone does not tell, for it
// is that of a sleeper some time before it leaves its processor. The system call does, which the kernel shows after that.
func (q *Quiet) Look() Activity {
	counted := q.countRuns()
	if r := q.sweep(); r != readingAsleep {
		if r == readingChanged {
			q.family() // takes the lock under which the kernel wakes the parent of a process that has ended, for the next Look
		}
		return r.activity()
	}
	if q.family() {
		return Awake
	}
	waiting := q.clockWait()
	if waiting == Awake || q.haveRun() {
		return Awake
	}
	if !counted || q.blind { // all asleep twice in a row is the next best
		if r := q.sweep(); r != readingAsleep {
			return r.activity()
		}
	}
	return waiting
}

const (
	quickPauses = 24                    // before we leave the processor to others for a moment
	briefWait   = 50 * time.Microsecond // for an answer
	// starved is how many times the limit may pass on the clock while the program gets less processor time than that, unless it waits for
	// nothing but a processor: the machine may be busy, but a program that waits for something else will not come back.
	starved = 20
)

// A wait is one call of Settle.
type wait struct {
	q          *Quiet
	fd         int // -1: none
	limit      time.Duration
	sleepLimit time.Duration
	began      time.Time // zero until there was no answer at once
	before     time.Duration
	pauses     int
	heard      bool             // there is something to receive
	waitedFor  map[*process]int // which thread of each we have waited for while it waited for a timer
}

// Settle waits until the program sleeps, ends, or has used limit of processor time since the call. A thread that waits for a timer is waited
// for until sleepLimit on the clock. Answers come from fd, -1 if there is none: if there is nothing to receive once a timer
// has expired, the thread was waited for without result, and counts as asleep after a few times. The activity is never Awake or invalid unless there is an
// error, which is the context's.
func (q *Quiet) Settle(ctx context.Context, fd int, limit, sleepLimit time.Duration) (Activity, error) {
	w := wait{q: q, fd: fd, limit: limit, sleepLimit: sleepLimit}
	for {
		switch q.Look() {
		case Ended:
			return Ended, nil
		case Asleep:
			w.learn()
			return Asleep, nil
		case Waiting:
			if w.timedOut() {
				q.Fruitless()
				return Waiting, nil
			}
			w.waitFor(q.paused)
		}
		if a, err := w.pause(ctx); a != ActivityInvalid || err != nil {
			return a, err
		}
	}
}

func readable(fd int) bool {
	n, err := unix.Poll([]unix.PollFd{{Fd: int32(fd), Events: unix.POLLIN}}, 0)
	return err == nil && n > 0
}

// pause lets the program run. It returns a state when the server has had all the time there is.
func (w *wait) pause(ctx context.Context) (Activity, error) {
	w.pauses++
	if w.pauses < quickPauses && w.waitedFor == nil {
		if w.fd < 0 || w.heard { // it has answered, and is about to sleep
			_, _, _ = unix.Syscall(unix.SYS_SCHED_YIELD, 0, 0, 0)
			return ActivityInvalid, nil
		}
		// Who waits is woken sooner than who yields gets a turn, where others want the processor too.
		brief := unix.Timespec{Nsec: int64(briefWait)}
		n, _ := unix.Ppoll([]unix.PollFd{{Fd: int32(w.fd), Events: unix.POLLIN}}, &brief, nil)
		w.heard = n > 0
		return ActivityInvalid, nil
	}
	if w.began.IsZero() {
		w.began, w.before = time.Now(), w.q.Used()
	}
	if w.q.Used()-w.before >= w.limit { // asked each time: a process that ends before the next is counted as it is now
		if ctx.Err() != nil {
			return ActivityInvalid, ctx.Err()
		}
		return Spinning, nil
	}
	moment := unix.Timespec{Nsec: int64(min(time.Duration(w.pauses)*time.Microsecond, time.Millisecond))}
	_, _ = unix.Ppoll(nil, &moment, nil)
	if w.pauses%64 != 0 {
		return ActivityInvalid, nil
	}
	switch {
	case ctx.Err() != nil:
		return ActivityInvalid, ctx.Err()
	case time.Since(w.began) >= starved*max(w.limit, w.sleepLimit) && !w.q.runnable():
		return Stuck, nil
	}
	return ActivityInvalid, nil
}

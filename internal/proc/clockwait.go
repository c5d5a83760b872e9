package proc

import (
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

// mostFruitless is how often a thread that waits for a timer is waited for without result before it counts as asleep.
const mostFruitless = 3

// fruitless is what was learnt about a thread that waits for a timer: that its timer expires again and again, and nothing comes of it.
type fruitless struct {
	times    int           // it was waited for without result
	shortest time.Duration // that was left of a timeout when that was noted; 0: not known
}

// vainShare is the share of the shortest timeout for which a thread was waited for without result that a later one may last and count
// again. An event loop has one timeout for all its timers: that of one which always runs is rarely so short, and then not for long.
const vainShare = 10

// leaves reports whether a timeout of which so much is left need not be waited for.
func (f fruitless) leaves(left time.Duration) bool {
	return f.times >= mostFruitless && left >= f.shortest/vainShare
}

// paused is a thread that waits for a timer.
type paused struct {
	process *process
	id      int
}

// clockWait returns Waiting if a thread waits for a timer that has not been waited for too often without result, Asleep if none does and
// Awake if one runs. Programs have threads that do nothing but sleep, and some wait a little before they answer, or, as those in
// Go, before they die.
func (q *Quiet) clockWait() Activity {
	a := Asleep
	q.blind = false
	for _, p := range q.processes {
		for _, t := range p.threads {
			switch left, use := q.clockOf(p, t); {
			case use == clockAwake:
				return Awake
			case use == clockUnknown:
				q.blind = true
			case use == clockWaits && a == Asleep && !p.fruitless[t.id].leaves(left):
				a, q.paused = Waiting, paused{p, t.id}
			}
		}
	}
	return a
}

// clockUse is what a thread that is read has to do with clocks.
type clockUse uint8

const (
	clockUnknown clockUse = iota // it has ended, or the kernel does not tell
	clockAwake                   // it runs
	clockUnused                  // it waits for something else, or for long
	clockWaits                   // it waits for a timer
)

// clockOf reads the system call that a thread is in, and returns how much of its timeout is left, if that is known.
func (q *Quiet) clockOf(p *process, t thread) (left time.Duration, use clockUse) {
	if t.call < 0 {
		return 0, clockUnknown
	}
	n, err := unix.Pread(t.call, q.buf[:], 0)
	if err != nil || n <= 0 {
		return 0, clockUnknown
	}
	call, ok := parseSyscall(q.buf[:n])
	if !ok {
		return 0, clockAwake
	}
	waits := call.number == unix.SYS_NANOSLEEP || call.number == unix.SYS_CLOCK_NANOSLEEP
	if q.Horizon > 0 {
		left, waits = call.timeout(p.pid)
		waits = waits && left < q.Horizon
	}
	if !waits {
		return 0, clockUnused
	}
	return left, clockWaits
}

// Fruitless says that the caller has waited while Look said Waiting, that nothing has come and that it waits no longer. The
// threads that wait for a timer now count as asleep after a few such calls, for they may do nothing else. An event loop that
// counts as asleep still makes the program Waiting with a timeout that is far shorter than those it had at these calls.
func (q *Quiet) Fruitless() { q.noteWaits(1) }

// Rested says that nothing was sent to the program and that it has done what it does at its start: the threads that wait for
// a timer now do nothing else, and count as asleep from now on.
func (q *Quiet) Rested() { q.noteWaits(mostFruitless) }

// noteWaits notes that all threads which wait for a timer now have been waited for without result.
func (q *Quiet) noteWaits(times int) {
	for _, p := range q.processes {
		for _, t := range p.threads {
			if left, use := q.clockOf(p, t); use == clockWaits {
				p.noteFruitless(t.id, times, left)
			}
		}
	}
}

func (p *process) noteFruitless(id, times int, left time.Duration) {
	if p.fruitless == nil {
		p.fruitless = map[int]fruitless{}
	}
	f := p.fruitless[id]
	if f.times == 0 || left < f.shortest {
		f.shortest = left
	}
	f.times += times
	p.fruitless[id] = f
}

// timedOut reports whether a thread that waits for a timer has been given all the time there is.
func (w *wait) timedOut() bool { return !w.began.IsZero() && time.Since(w.began) >= w.sleepLimit }

// waitFor notes that a thread is being waited for.
func (w *wait) waitFor(t paused) {
	if w.waitedFor == nil {
		w.waitedFor = map[*process]int{}
	}
	w.waitedFor[t.process] = t.id
}

// learn remembers which threads have waited for a timer without result. The only thread of a process has not, now that it does something
// else: it has handled the message meanwhile, and the next one is not for a program that still sleeps. Nor has an event loop.
func (w *wait) learn() {
	if w.waitedFor == nil || w.q.Horizon > 0 || w.fd >= 0 && readable(w.fd) {
		return
	}
	for p, id := range w.waitedFor {
		if len(p.threads) > 1 {
			p.noteFruitless(id, 1, 0)
		}
	}
}

// A systemCall is one that a thread is in.
type systemCall struct {
	number int // -1: none, though it sleeps
	args   [6]uint64
}

// parseSyscall reads /proc/PID/syscall: see proc_pid_syscall(5). ok is false if the thread runs.
func parseSyscall(text []byte) (c systemCall, ok bool) {
	if len(text) > 0 && text[0] == '-' {
		return systemCall{number: -1}, true
	}
	at := 0
	for ; at < len(text) && text[at] >= '0' && text[at] <= '9'; at++ {
		c.number = c.number*10 + int(text[at]-'0')
	}
	if at == 0 {
		return c, false
	}
	const prefix = len(" 0x")
	for i := range c.args {
		at += prefix
		for ; at < len(text) && text[at] != ' ' && text[at] != '\n'; at++ {
			digit := text[at] - '0'
			if digit > 9 {
				digit = text[at] - 'a' + 10
			}
			c.args[i] = c.args[i]<<4 | uint64(digit)
		}
	}
	return c, true
}

// Where the arguments of futex(2) and clock_nanosleep(2) say how to read the time.
const (
	futexWait          = 0
	futexLockPI        = 6
	futexWaitBitset    = 9
	futexWaitRequeuePI = 11
	futexLockPI2       = 13
	futexFlags         = 128 | futexRealtime // private to the process, or by the clock of the day
	futexRealtime      = 256
	timerAbsolute      = 1
	relative           = -1 // in place of a clock
)

// timeout returns how much of its timeout the system call has left, as far as that is known, and whether it has one. That of a
// relative timeout is all of it: the kernel does not say when the call was made.
func (c *systemCall) timeout(pid int) (left time.Duration, has bool) {
	a := &c.args
	switch c.number {
	case unix.SYS_NANOSLEEP:
		return timeAt(pid, a[0], relative)
	case unix.SYS_CLOCK_NANOSLEEP:
		if a[1]&timerAbsolute != 0 {
			return timeAt(pid, a[2], int32(a[0]))
		}
		return timeAt(pid, a[2], relative)
	case unix.SYS_EPOLL_PWAIT, epollWait:
		return milliseconds(a[3])
	case poll:
		return milliseconds(a[2])
	case unix.SYS_EPOLL_PWAIT2, unix.SYS_SEMTIMEDOP:
		return timeAt(pid, a[3], relative)
	case unix.SYS_PPOLL, unix.SYS_RT_SIGTIMEDWAIT:
		return timeAt(pid, a[2], relative)
	case unix.SYS_PSELECT6, unix.SYS_IO_GETEVENTS, unix.SYS_IO_PGETEVENTS:
		return timeAt(pid, a[4], relative)
	case selectCall:
		left, has = timeAt(pid, a[4], relative)
		const second = uint64(time.Second)
		part := uint64(left) % second // microseconds, not nanoseconds
		return time.Duration(uint64(left) - part + part*1000), has
	case unix.SYS_FUTEX:
		return futexTimeout(pid, a)
	case unix.SYS_FUTEX_WAITV:
		return timeAt(pid, a[3], int32(a[4]))
	case unix.SYS_RESTART_SYSCALL: // one with a timeout, after a signal
		return 0, true
	}
	return 0, false
}

func futexTimeout(pid int, a *[6]uint64) (left time.Duration, has bool) {
	clock := int32(unix.CLOCK_MONOTONIC)
	switch operation := a[1] &^ futexFlags; {
	case operation == futexWait:
		clock = relative
	case operation == futexLockPI, a[1]&futexRealtime != 0:
		clock = unix.CLOCK_REALTIME
	case operation == futexWaitBitset, operation == futexWaitRequeuePI, operation == futexLockPI2:
	default:
		return 0, false
	}
	return timeAt(pid, a[3], clock)
}

// milliseconds reads an argument that is a timeout itself.
func milliseconds(arg uint64) (left time.Duration, has bool) {
	ms := int32(arg)
	return time.Duration(max(ms, 0)) * time.Millisecond, ms >= 0
}

// timeAt reads a time in the memory of a process, which an argument points to; 0: there is none. It is what is left, or the time of
// a clock. If it cannot be read there is no telling how much is left, and next to nothing may be.
func timeAt(pid int, arg uint64, clock int32) (left time.Duration, has bool) {
	if arg == 0 {
		return 0, false
	}
	var at unix.Timespec
	local := unix.Iovec{Base: (*byte)(unsafe.Pointer(&at)), Len: uint64(unsafe.Sizeof(at))}
	remote := unix.RemoteIovec{Base: uintptr(arg), Len: int(unsafe.Sizeof(at))}
	n, err := unix.ProcessVMReadv(pid, []unix.Iovec{local}, []unix.RemoteIovec{remote}, 0)
	if err != nil || n != int(unsafe.Sizeof(at)) {
		return 0, true
	}
	if clock != relative {
		var now unix.Timespec
		if unix.ClockGettime(clock, &now) != nil { // one of the process itself
			return 0, true
		}
		at.Sec, at.Nsec = at.Sec-now.Sec, at.Nsec-now.Nsec
	}
	const longest = int64(1 << 32) // seconds: what does not fit is for ever
	if at.Sec >= longest {
		return time.Duration(longest) * time.Second, true
	}
	return time.Duration(max(at.Nano(), 0)), true
}

package proc

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"

	"golang.org/x/sys/unix"
)

// Quitter ends a program written in Go after it has printed the stacks of its goroutines. It is for one goroutine at a time.
type Quitter struct {
	PID   int // of the program, which nobody has waited for
	asked time.Time
}

// stackTime is how long a program may take to print its stacks, after which it is killed. Those of ten thousand goroutines, twenty calls
// deep, took 4.1 to 6.5 s on two cores that 25 programs wanted. The runtime prints the one that runs first.
const stackTime = 5 * time.Second

// Quit asks the program to print its stacks and to end. Further calls kill it once it has had five seconds for that. It reports whether
// this was the first call.
func (q *Quitter) Quit() (first bool) {
	switch {
	case q.asked.IsZero():
		q.asked = time.Now()
		// The thread that the signal is sent to prints its own stack, while it often has none of a goroutine that runs on another thread:
		// it is sent to the one that is busy.
		if unix.Tgkill(q.PID, busiest(q.PID), syscall.SIGQUIT) != nil { // the thread has just ended
			syscall.Kill(q.PID, syscall.SIGQUIT)
		}
		return true
	case time.Since(q.asked) >= stackTime:
		q.Kill()
	}
	return false
}

// Kill ends the program at once. It reports whether nothing was sent to it before.
func (q *Quitter) Kill() (first bool) {
	if first = q.asked.IsZero(); first {
		q.asked = time.Now()
	}
	syscall.Kill(q.PID, syscall.SIGKILL)
	return first
}

// A process is looked at for busyTime, since goroutines move from one thread to another; and so often if no thread runs, since it
// may be waiting for a processor.
const (
	busyTime  = 2 * time.Millisecond
	busyTries = 50
)

// busiest returns the thread of a process that runs most at the moment.
func busiest(pid int) (thread int) {
	thread = pid
	for range busyTries {
		before := runTimes(pid)
		time.Sleep(busyTime)
		most := time.Duration(0)
		for t, n := range runTimes(pid) {
			if ran := n - before[t]; ran > most {
				thread, most = t, ran
			}
		}
		if most >= busyTime/2 {
			break
		}
	}
	return thread
}

// runTimes returns how long each thread of a process has run so far.
func runTimes(pid int) map[int]time.Duration {
	times := map[int]time.Duration{}
	dir := fmt.Sprintf("/proc/%d/task", pid)
	entries, _ := os.ReadDir(dir) // none: the process is gone
	for _, e := range entries {
		text, err := os.ReadFile(dir + "/" + e.Name() + "/schedstat")
		thread, bad := strconv.Atoi(e.Name())
		if err != nil || bad != nil {
			continue
		}
		ran, _, _ := strings.Cut(string(text), " ")
		n, _ := strconv.ParseInt(ran, 10, 64)
		times[thread] = time.Duration(n)
	}
	return times
}

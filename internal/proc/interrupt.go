package proc

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strconv"
	"syscall"
	"time"
	"unsafe"

	"golang.org/x/sys/unix"
)

const (
	mostInterrupted = 64                     // threads that are stopped at a time
	interruptTime   = 200 * time.Millisecond // for a process to stop: a thread in the kernel may take long
	interruptPause  = 100 * time.Microsecond
)

// Interrupt stops the threads of a process, calls at for each of them, the first thread of the process first, and lets them go on. It
// returns an error if none can be stopped: the process is gone, it is traced already, or the system forbids tracing. A thread that does not
// stop, since it is in the kernel, is left out.
func Interrupt(pid int, at func(Stop)) error {
	done := make(chan error)
	go func() {
		runtime.LockOSThread()
		if unix.Gettid() == unix.Getpid() { // Go parks the main thread instead of ending it: while we hold it, another goroutine gets another
			defer runtime.UnlockOSThread()
			done <- Interrupt(pid, at)
			return
		}
		// It stays locked: when the thread ends, the kernel releases what it still traces.
		done <- interrupt(pid, at)
	}()
	return <-done
}

func interrupt(pid int, at func(Stop)) error {
	entries, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", pid))
	if err != nil {
		return fmt.Errorf("listing threads: %w", err)
	}
	var threads []int
	for _, e := range entries {
		if n, err := strconv.Atoi(e.Name()); err == nil && len(threads) < mostInterrupted {
			threads = append(threads, n)
		}
	}
	slices.Sort(threads)
	var errs []error
	var stops []Stop
	for _, t := range threads {
		seen, _ := StatusOf(t)
		joined := futexValue(t)
		if err := unix.PtraceSeize(t); err != nil {
			errs = append(errs, fmt.Errorf("stopping thread %d: %w", t, err))
		} else if unix.PtraceInterrupt(t) == nil {
			stops = append(stops, Stop{Thread: t, Busy: seen.Ready, Joins: joined > 0 && slices.ContainsFunc(threads, func(o int) bool { return o != t && numberInside(o) == joined })})
		}
	}
	if len(stops) == 0 {
		return errors.Join(errs...)
	}
	end := time.Now().Add(interruptTime)
	for i := range stops {
		if s := &stops[i]; awaitStop(s.Thread, end) {
			s.Registers = registersOf(s.Thread)
			at(*s)
		}
	}
	for _, s := range stops {
		_ = syscall.PtraceDetach(s.Thread) // fails for one that has not stopped
	}
	return nil
}

// awaitStop waits until a thread has stopped, and reports whether it has.
func awaitStop(thread int, end time.Time) bool {
	for {
		var info [128]byte
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(thread), uintptr(unsafe.Pointer(&info[0])),
			unix.WSTOPPED|unix.WALL|unix.WNOHANG, 0, 0) // its end is for its parent, which we may be
		switch {
		case errno == 0 && binary.NativeEndian.Uint32(info[16:]) == uint32(thread):
			return true
		case errno != 0 && errno != syscall.EINTR, time.Now().After(end):
			return false
		}
		time.Sleep(interruptPause)
	}
}

// futexValue returns the value that a thread expects a futex to have while it waits, 0 if it does not wait for one. Where the end of another
// thread is waited for, the futex holds the number of that, which the kernel clears.
func futexValue(thread int) int {
	text, _ := os.ReadFile(fmt.Sprintf("/proc/%d/syscall", thread))
	call, ok := parseSyscall(text)
	if !ok || call.number != unix.SYS_FUTEX {
		return 0
	}
	return int(uint32(call.args[2]))
}

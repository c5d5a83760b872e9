package proc

import (
	"encoding/binary"
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Stop is a thread that is stopped: before it gets a signal by which a fault ends a program, or to see what it does.
type Stop struct {
	Thread    int
	Busy      bool // it ran, or waited for a processor, when [Interrupt] stopped it
	Joins     bool // it waited for the end of another thread then, as the C library of GNU does
	Signal    syscall.Signal
	Code      int32  // why there is one, see sigaction(2)
	Address   uint64 // that was accessed, for SIGSEGV and SIGBUS
	Registers []byte // the kernel's struct user_regs_struct or user_pt_regs; empty: they cannot be read
}

// faults are the signals that a fault causes.
const faults = 1<<syscall.SIGSEGV | 1<<syscall.SIGBUS | 1<<syscall.SIGFPE | 1<<syscall.SIGILL | 1<<syscall.SIGTRAP | 1<<syscall.SIGABRT | 1<<syscall.SIGSYS

// AwaitTraced is [AwaitEnd] for a program that the calling thread has started with Ptrace set in its [syscall.SysProcAttr], and traces
// alone: it calls at whenever a thread of the program is stopped by a fault, which the program may survive if it handles the signal. The
// processes that it forks are not traced. The goroutine must be locked to the thread.
func AwaitTraced(pid int, at func(Stop)) {
	options := false
	for {
		var info [128]byte
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, unix.P_PGID, uintptr(pid), uintptr(unsafe.Pointer(&info[0])),
			wExited|unix.WSTOPPED|unix.WALL|wNoWait, 0, 0)
		if errno == syscall.EINTR {
			continue
		}
		code, thread := binary.NativeEndian.Uint32(info[8:]), int(binary.NativeEndian.Uint32(info[16:]))
		ended := code == childExited || code == childKilled || code == childDumped
		if errno != 0 || ended && thread == pid {
			return
		}
		var ws syscall.WaitStatus
		if n, err := syscall.Wait4(thread, &ws, syscall.WALL, nil); err != nil || n != thread || !ws.Stopped() {
			continue
		}
		if !options { // it has begun to execute the program
			options = true
			_ = syscall.PtraceSetOptions(pid, unix.PTRACE_O_TRACECLONE|unix.PTRACE_O_TRACEEXEC|unix.PTRACE_O_EXITKILL) // it may have been killed
			_ = syscall.PtraceCont(pid, 0)
			continue
		}
		signal := ws.StopSignal()
		switch {
		case signal == syscall.SIGTRAP && ws.TrapCause() > 0, signal == syscall.SIGSTOP: // an event, and how a new thread begins
			signal = 0
		case signal < 64 && faults>>signal&1 == 1:
			at(stopOf(thread, signal))
		}
		_ = syscall.PtraceCont(thread, int(signal)) // it may have been killed
	}
}

// Why waitid says something of a child.
const (
	childExited = 1
	childKilled = 2
	childDumped = 3
)

// stopOf reads what the kernel says of a thread that is stopped.
func stopOf(thread int, signal syscall.Signal) Stop {
	s := Stop{Thread: thread, Signal: signal}
	var info [128]byte
	if ptrace(unix.PTRACE_GETSIGINFO, thread, 0, unsafe.Pointer(&info[0])) == 0 {
		s.Code = int32(binary.NativeEndian.Uint32(info[8:]))
		if s.Code > 0 && (signal == syscall.SIGSEGV || signal == syscall.SIGBUS) { // otherwise it says who has sent the signal
			s.Address = binary.NativeEndian.Uint64(info[16:])
		}
	}
	s.Registers = registersOf(thread)
	return s
}

// registersOf returns the registers of a thread that is stopped, nil if they cannot be read.
func registersOf(thread int) []byte {
	set := make([]byte, 1024)
	vector := unix.Iovec{Base: &set[0], Len: uint64(len(set))}
	if ptrace(unix.PTRACE_GETREGSET, thread, ntPrstatus, unsafe.Pointer(&vector)) != 0 {
		return nil
	}
	return set[:vector.Len]
}

// ntPrstatus selects the general registers.
const ntPrstatus = 1

func ptrace(request, thread int, address uintptr, data unsafe.Pointer) syscall.Errno {
	_, _, errno := syscall.Syscall6(syscall.SYS_PTRACE, uintptr(request), uintptr(thread), address, uintptr(data), 0, 0)
	return errno
}

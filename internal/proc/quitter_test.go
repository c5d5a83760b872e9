package proc

import (
	"os/exec"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"
)

// The thread that is busy is found, also where the machine has too little time for it.
func TestBusiest(t *testing.T) {
	started := make(chan int)
	var stop atomic.Bool
	var spinning sync.WaitGroup
	spinning.Go(func() {
		runtime.LockOSThread()
		started <- syscall.Gettid()
		for !stop.Load() {
		}
	})
	defer spinning.Wait()
	defer stop.Store(true)
	if want, got := <-started, busiest(syscall.Getpid()); got != want {
		t.Errorf("thread %d, want %d", got, want)
	}
}

// A program over its limit of memory is asked for its stacks, unless it holds half as much again.
func TestWatchGoMemory(t *testing.T) {
	for _, test := range []struct {
		memory uint64
		want   syscall.Signal
	}{{1 << 40, syscall.SIGQUIT}, {1, syscall.SIGKILL}} {
		cmd := exec.Command("sleep", "60")
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		for seen, _ := StatusOf(cmd.Process.Pid); seen.RSS == 0; seen, _ = StatusOf(cmd.Process.Pid) { // the kernel counts in batches
			time.Sleep(time.Millisecond)
		}
		q := quitter{pid: cmd.Process.Pid, memory: test.memory, run: func() uint64 { return 7 }}
		if q.Kill(MemoryLimit, 6) {
			t.Error("it was killed for a run that has ended")
		}
		if !q.Kill(MemoryLimit, 7) {
			t.Error("it was not killed")
		}
		cmd.Wait()
		if got := cmd.ProcessState.Sys().(syscall.WaitStatus).Signal(); got != test.want {
			t.Errorf("with a limit of %d bytes it was ended by %v, want %v", test.memory, got, test.want)
		}
	}
}

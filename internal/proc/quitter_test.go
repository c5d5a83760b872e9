package proc

import (
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
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

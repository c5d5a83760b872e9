package fuzztest

import (
	"runtime"
	"sync"
	"syscall"
	"testing"
)

// The thread that is busy is found, also where the machine has too little time for it.
func TestBusiest(t *testing.T) {
	stop, started := make(chan struct{}), make(chan int)
	var spinning sync.WaitGroup
	spinning.Go(func() {
		runtime.LockOSThread()
		started <- syscall.Gettid()
		for {
			select {
			case <-stop:
				return
			default:
			}
		}
	})
	defer spinning.Wait()
	defer close(stop)
	if want, got := <-started, busiest(syscall.Getpid()); got != want {
		t.Errorf("thread %d, want %d", got, want)
	}
}

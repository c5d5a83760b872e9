package native_test

import (
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// A run that only waits for a processor is no hang; one that spins or sleeps is, however busy the machine.
func TestBusyMachine(t *testing.T) {
	bin := build(t, `#include <stdint.h>
#include <stddef.h>
#include <time.h>
#include <unistd.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n == 1) { // works for 60 ms of its own time
		struct timespec t;
		do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); while (t.tv_nsec % 1000000000 < 60000000);
	}
	if (n == 2) sleep(100);
	if (n == 3) for (volatile int i = 0;; i++);
	return 0;
}`)
	ex := open(t, native.Target{Command: []string{bin}, Timeout: 200 * time.Millisecond, Runs: 1})
	var quit atomic.Bool
	var busy sync.WaitGroup
	for range 6 * runtime.NumCPU() {
		busy.Go(func() {
			for !quit.Load() {
			}
		})
	}
	for _, in := range []string{"1", "22", "333", "1"} {
		want := teasel.ExitHang
		if len(in) == 1 {
			want = teasel.ExitOK
		}
		if o := run(t, ex, teasel.Ask{}, in); o.Exit != want {
			t.Errorf("%q: %v, want %v: %s", in, o.Exit, want, o.Detail)
		}
	}
	quit.Store(true)
	busy.Wait()
}

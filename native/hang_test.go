package native_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// working is the source of a function that uses a number of milliseconds of processor time.
const working = `#include <stddef.h>
#include <stdint.h>
#include <time.h>
__attribute__((noinline)) static void work(int ms) {
	struct timespec t;
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	long end = t.tv_sec * 1000 + t.tv_nsec / 1000000 + ms;
	do clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t); while (t.tv_sec * 1000 + t.tv_nsec / 1000000 < end);
}
`

// TestBusyMachine: a run that only waits for a processor is not a hang; one that spins or sleeps is, however busy the machine is. The
// time that the host of a virtual machine steals counts as the run's own, so that the limit is much higher than needed.
func TestBusyMachine(t *testing.T) {
	bin := build(t, working+`#include <unistd.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n == 1) work(50);
	if (n == 2) sleep(100);
	if (n == 3) for (volatile int i = 0;; i++);
	return 0;
}`)
	ex := open(t, native.Target{Command: []string{bin}, Timeout: 500 * time.Millisecond, Runs: 1})
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
		obs := []teasel.Observation{{Runs: 1}}
		if _, err := ex.ExecBatch(t.Context(), [][]byte{[]byte(in)}, obs); err != nil || obs[0].Exit != want {
			t.Errorf("%q: %v, want %v: %s, %v", in, obs[0].Exit, want, obs[0].Detail, err)
		}
	}
	quit.Store(true)
	busy.Wait()
}

// TestSlowIsNoHang: an input that takes a little longer than the limit is a pending finding, and is not confirmed as a hang.
func TestSlowIsNoHang(t *testing.T) {
	bin := build(t, working+`int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { if (n == 1) work(300); return 0; }`)
	ex := open(t, native.Target{Command: []string{bin}, Timeout: 200 * time.Millisecond})
	obs := []teasel.Observation{{Runs: 1}}
	if _, err := ex.ExecBatch(t.Context(), [][]byte{{1}}, obs); err != nil || obs[0].Exit != teasel.ExitHang {
		t.Errorf("in a batch: %v, %v", obs[0].Exit, err)
	} else if c := obs[0].Evidence.(*native.Crash); c.Message != "no end within 200ms of processor time" {
		t.Errorf("message %q", c.Message)
	}
	if o := run(t, ex, teasel.Ask{}, "a"); o.Exit != teasel.ExitOK {
		t.Errorf("to confirm it: %v: %s", o.Exit, o.Detail)
	}
}

// TestSlowProgramIsNoHang tests the same without our runtime: through AFL's fork server and without instrumentation.
func TestSlowProgramIsNoHang(t *testing.T) {
	for mode, compiler := range map[string]string{native.ModeAFL: "afl-clang-fast", native.ModeBlackBox: "gcc"} {
		t.Run(mode, func(t *testing.T) {
			src := filepath.Join(t.TempDir(), "slow.c")
			if err := os.WriteFile(src, []byte(working+`#include <unistd.h>
int main(void) { char c = 0; if (read(0, &c, 1) == 1 && c == 's') work(300); return 0; }`), 0o600); err != nil {
				t.Fatal(err)
			}
			bin := filepath.Join(filepath.Dir(src), "slow")
			cmd := exec.Command(needTool(t, compiler), src, "-o", bin)
			cmd.Env = append(cmd.Environ(), "AFL_QUIET=1")
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Fatalf("%s: %v\n%s", compiler, err, out)
			}
			ex := start(t, native.Target{Command: []string{bin}, Mode: mode, Timeout: 200 * time.Millisecond})
			obs := []teasel.Observation{{Runs: 1}}
			if n, err := ex.(teasel.BatchExecutor[[]byte]).ExecBatch(t.Context(), [][]byte{[]byte("s")}, obs); err != nil || n != 1 || obs[0].Exit != teasel.ExitHang {
				t.Errorf("in a batch: %v, %v", obs[0].Exit, err)
			} else if c := obs[0].Evidence.(*native.Crash); c.Message != "no end within 200ms of processor time" {
				t.Errorf("message %q", c.Message)
			}
			if o := exec1(t, ex, teasel.Ask{}, "s"); o.Exit != teasel.ExitOK {
				t.Errorf("to confirm it: %v: %s", o.Exit, o.Detail)
			}
			if o := exec1(t, ex, teasel.Ask{Quick: true}, "s"); o.Exit != teasel.ExitHang || o.Evidence.(*native.Crash).Message != "no end within 200ms of processor time" {
				t.Errorf("a quick run, with a part of the limit: %v, %s", o.Exit, o.Detail)
			}
		})
	}
}

// TestHangsApart: hangs are distinguished by the function with the loop, with any number of samples and at any depth of a recursion.
func TestHangsApart(t *testing.T) {
	bin := build(t, `#include <stdint.h>
#include <stddef.h>
#include <unistd.h>
#define ALONE __attribute__((noinline))
static volatile int sink;
ALONE static int step(int i) { for (int k = 0; k < 1000; k++) sink += k; return i; }
ALONE static int other(int i) { for (int k = 0; k < 3000; k++) sink -= k; return i; }
ALONE static void spin(void) { for (;;) sink += step(1) + other(2); }
static inline void within(void) { for (;;) sink ^= sink << 1; }
ALONE static int branch(int n) { return n == 0 ? step(0) : branch(n - 1) + branch(n - 1) + sink; }
ALONE static int deep(int n) { for (;;) { if (n > 0) return deep(n - 1) + sink; sink += step(n); } }
ALONE static void doze(void) { for (;;) sleep(100); }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n != 2) return 0;
	if (d[0] == 's') spin();
	if (d[0] == 'w') within();
	if (d[0] == 'b') branch(40 + d[1] % 8);
	if (d[0] == 'd') doze();
	if (d[0] == 'r') deep(d[1] * 30);
	return 0;
}`, "-g", "-O1")
	ex := open(t, native.Target{Command: []string{bin}, Timeout: 150 * time.Millisecond})
	ids := map[string]string{}
	for _, in := range []string{"s1", "w1", "b1", "d1", "b7", "w2", "s2", "d2", "b4", "r1", "rx"} {
		o := run(t, ex, teasel.Ask{}, in)
		fs := native.Detect(&o)
		want := map[byte]string{'s': "spin", 'w': "within", 'b': "branch", 'd': "doze", 'r': "deep"}[in[0]]
		if len(fs) != 1 || fs[0].Rule != "native/hang" || fs[0].Subject != want {
			t.Fatalf("%s: %+v, want a hang in %s", in, fs, want)
		}
		if first, ok := ids[want]; ok && first != fs[0].ID() {
			t.Errorf("%s: it is another finding than before: %s", in, fs[0].Group)
		}
		ids[want] = fs[0].ID()
	}
}

// TestKnownLoop: in a batch, a run in a known loop is ended early; a run that only begins like it, or is in another loop, is not.
func TestKnownLoop(t *testing.T) {
	bin := build(t, working+`int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n == 1) for (volatile int i = 0;; i++);
	if (n == 2) work(400);
	return 0;
}`, "-O1")
	ex := open(t, native.Target{Command: []string{bin}, Timeout: time.Second})
	for i, want := range []teasel.Exit{teasel.ExitHang, teasel.ExitHang, teasel.ExitOK} {
		obs := []teasel.Observation{{Runs: 1}, {Runs: 1}}
		n, err := ex.ExecBatch(t.Context(), [][]byte{{1, 2, 3}, make([]byte, 1+i/2)}, obs)
		if err != nil || n != 2 || obs[0].Exit != teasel.ExitOK || obs[1].Exit != want {
			t.Fatalf("run %d: %d done, %v, %v, %v; want %v", i, n, err, obs[0].Exit, obs[1].Exit, want)
		}
		if again := obs[1].Runs > 1; again != (i == 2) {
			t.Errorf("run %d: %d executions", i, obs[1].Runs)
		}
	}
}

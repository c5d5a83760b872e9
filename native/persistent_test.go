package native_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/native"
)

// persistentPlanted is what the programs of TestPersistent do with an input: they abort for "FUZZ!" if main has been set up.
const persistentPlanted = `#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
static int set_up;
static volatile int sink;
static void work(const unsigned char *d, unsigned n) {
	if (n == 4 && !memcmp(d, "exit", 4)) exit(3);
	if (n > 20) sink++;
	if (n == 5 && d[0] == 'F' && d[1] == 'U' && d[2] == 'Z' && d[3] == 'Z' && d[4] == '!' && set_up == 7) abort();
}
`

// TestPersistent: a program that is written for AFL++'s persistent mode is compiled as it is, and runs all inputs of a batch: those
// before and behind one that ends the process too.
func TestPersistent(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		source string
		loops  bool
		args   []string
	}{
		"memory": {persistentPlanted + `
__AFL_FUZZ_INIT();
#pragma clang optimize off
int main(void) {
	set_up = 7;
	__AFL_INIT();
	unsigned char *buf = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(10000)) {
		int len = __AFL_FUZZ_TESTCASE_LEN;
		work(buf, len);
	}
	return 0;
}`, true, nil},
		"without deferral": {persistentPlanted + `
__AFL_FUZZ_INIT()
int main(void) {
	set_up = 7;
	for (set_up = 7; __AFL_LOOP(~0u); set_up = 7) work(__AFL_FUZZ_TESTCASE_BUF, __AFL_FUZZ_TESTCASE_LEN);
	return 0;
}`, true, nil},
		"standard input, few runs": {persistentPlanted + `
#ifndef __AFL_COMPILER
#error it is AFL's
#endif
int main(void) {
	set_up = 7;
#ifdef __AFL_HAVE_MANUAL_CONTROL
	__AFL_INIT();
#endif
	while (__AFL_LOOP(2)) {
		unsigned char b[64];
		work(b, read(0, b, sizeof b));
	}
	return 1;
}`, true, nil},
		"buffered standard input": {persistentPlanted + `
int main(void) {
	set_up = 7;
	while (__AFL_LOOP(1000)) {
		unsigned char b[64];
		work(b, fread(b, 1, sizeof b, stdin));
	}
}`, true, nil},
		"file": {persistentPlanted + `
int main(int argc, char **argv) {
	set_up = 7;
	while (__AFL_LOOP(1000)) {
		unsigned char b[64];
		int f = open(argv[1], O_RDONLY);
		work(b, read(f, b, sizeof b));
		close(f);
	}
}`, true, []string{"@@"}},
		"deferral alone": {persistentPlanted + `
__AFL_FUZZ_INIT();
int main(void) {
	set_up = 7;
	__AFL_INIT();
	work(__AFL_FUZZ_TESTCASE_BUF, __AFL_FUZZ_TESTCASE_LEN);
}`, false, nil},
	} {
		for _, cxx := range []bool{false, true} {
			bin := compiled(t, func(bin string) {
				file := bin + ".c"
				if cxx {
					file += "c"
				}
				write(t, file, test.source)
				compile(t, clang.Compiler{CXX: cxx}, "-Wall", "-Werror", "-g", file, "-o", bin)
			}, "persistent", test.source, map[bool]string{true: "c++"}[cxx])
			persistentRuns(t, name, test.loops, native.Target{Command: append([]string{bin}, test.args...)})
			if test.args != nil {
				continue
			}
			cmd := exec.Command(bin) // by hand it runs one input
			cmd.Stdin = strings.NewReader("FUZZ!")
			if err := cmd.Run(); err == nil || !strings.Contains(err.Error(), "abort") {
				t.Errorf("%s by hand: %v", name, err)
			}
		}
	}
}

// persistentRuns runs batches of inputs on one of these programs.
func persistentRuns(t *testing.T, name string, loops bool, target native.Target) {
	t.Helper()
	p, err := target.Inspect(t.Context())
	if err != nil || p.Persistent != loops || p.Harness || p.InMemory != (name == "memory" || name == "without deferral" || name == "deferral alone") {
		t.Errorf("%s: %+v, %v", name, p, err)
	}
	ex := open(t, target)
	if size := ex.BatchSize(); (size > 64) != loops {
		t.Errorf("%s: %d inputs at a time", name, size)
	}
	inputs := []string{"a", "exit", "longer than the one behind", "b", "FUZZ", "exit", "FUZZ?", "exit"}
	ins, obs := make([][]byte, len(inputs)), make([]teasel.Observation, len(inputs))
	for range 2 {
		for i := range ins {
			ins[i], obs[i] = []byte(inputs[i]), teasel.Observation{Runs: 1, Ask: teasel.Ask{Features: true}}
		}
		done, err := ex.ExecBatch(context.Background(), ins, obs)
		if err != nil || done != len(ins) {
			t.Fatalf("%s: %d of %d inputs, %v", name, done, len(ins), err)
		}
		for i := range obs {
			want := teasel.ExitOK
			if inputs[i] == "exit" {
				want = teasel.ExitRejected
			}
			if name == "standard input, few runs" && want == teasel.ExitOK && obs[i].Exit == teasel.ExitRejected {
				t.Errorf("%s: %q: the exit status behind the loop counts as that of the input", name, inputs[i])
			}
			if obs[i].Exit != want || len(obs[i].Features) == 0 {
				t.Errorf("%s: %q: %v, %d features", name, inputs[i], obs[i].Exit, len(obs[i].Features))
			}
		}
	}
	if slices.Equal(obs[0].Features, obs[2].Features) { // both are the first of their processes
		t.Errorf("%s: a short and a long input have the same features %v", name, obs[0].Features)
	}
	ins[2], obs[2] = []byte("FUZZ!"), teasel.Observation{Runs: 1}
	for i := range obs {
		obs[i] = teasel.Observation{Runs: 1}
	}
	done, err := ex.ExecBatch(context.Background(), ins, obs)
	if err != nil || done != 3 || obs[2].Exit != teasel.ExitCrash || obs[1].Exit != teasel.ExitRejected {
		t.Errorf("%s: the crash: %d of %d inputs, %v, %v", name, done, len(ins), obs[2].Exit, err)
	}
}

// TestPersistentFiles: the loop may be in another file than the declarations, and the code under test in a library.
func TestPersistentFiles(t *testing.T) {
	dir := t.TempDir()
	bin, lib := filepath.Join(dir, "p"), filepath.Join(dir, "libwork.so")
	write(t, filepath.Join(dir, "work.c"), "void abort(void);\nvoid work(const unsigned char *d, int n) { if (n > 1 && d[0] == 'x' && d[1] == 'y') abort(); }")
	write(t, filepath.Join(dir, "loop.cc"), `extern "C" void work(const unsigned char *, int);
extern "C" unsigned char *buffer(void);
extern "C" int length(void);
namespace inside { void loop() { while (__AFL_LOOP(1000)) work(buffer(), length()); } }
int main() {
	__AFL_INIT();
	inside::loop();
}`)
	write(t, filepath.Join(dir, "buffer.c"), `__AFL_FUZZ_INIT();
unsigned char *buffer(void) { return __AFL_FUZZ_TESTCASE_BUF; }
int length(void) { return __AFL_FUZZ_TESTCASE_LEN; }`)
	compile(t, clang.Compiler{}, "-shared", "-fPIC", filepath.Join(dir, "work.c"), "-o", lib)
	compile(t, clang.Compiler{}, "-c", filepath.Join(dir, "buffer.c"), "-o", filepath.Join(dir, "buffer.o"))
	compile(t, clang.Compiler{CXX: true}, filepath.Join(dir, "loop.cc"), filepath.Join(dir, "buffer.o"), "-L"+dir, "-lwork", "-Wl,-rpath,"+dir, "-o", bin)
	ex := open(t, native.Target{Command: []string{bin}})
	for in, want := range map[string]teasel.Exit{"ab": teasel.ExitOK, "xy": teasel.ExitCrash, "x": teasel.ExitOK} {
		if o := run(t, ex, teasel.Ask{}, in); o.Exit != want {
			t.Errorf("%q: %v, want %v", in, o.Exit, want)
		}
	}
}

// TestPersistentCoverage: what runs while coverage is off, or before it is discarded, reaches nothing, and a run that is to be skipped
// is rejected.
func TestPersistentCoverage(t *testing.T) {
	bin := build(t, `#include <unistd.h>
volatile int sink;
__AFL_FUZZ_INIT();
__AFL_COVERAGE();
__AFL_COVERAGE_START_OFF();
static void many(const unsigned char *d, int n) { for (int i = 0; i < n; i++) if (d[i] == 'a') sink++; else if (d[i] == 'b') sink += 2; else sink += 3; }
int main(void) {
	__AFL_INIT();
	unsigned char *d = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(1000)) {
		int n = __AFL_FUZZ_TESTCASE_LEN;
		if (!n) continue;
		if (d[0] == 'o') many(d, n);
		__AFL_COVERAGE_ON();
		if (d[0] == 'm' || d[0] == 'd') many(d, n);
		if (d[0] == 'd') __AFL_COVERAGE_DISCARD();
		if (d[0] == 's') __AFL_COVERAGE_SKIP();
		__AFL_COVERAGE_OFF();
		if (d[0] == 'o') many(d, n);
	}
}`)
	ex := open(t, native.Target{Command: []string{bin}})
	features := func(in string) int { return len(run(t, ex, teasel.Ask{Features: true}, in).Features) }
	none, on := features("xabc"), features("mabc")
	if off, discarded := features("oabc"), features("dabc"); on < none+3 || off > none || discarded > none {
		t.Errorf("features: %d always, %d with coverage, %d while it is off, %d discarded", none, on, off, discarded)
	}
	if o := run(t, ex, teasel.Ask{}, "skip"); o.Exit != teasel.ExitRejected {
		t.Errorf("a run that is to be skipped: %v", o.Exit)
	}
}

// TestPersistentThreads: a program that has threads before the loop is started anew for each process.
func TestPersistentThreads(t *testing.T) {
	bin := build(t, `#include <pthread.h>
#include <stdlib.h>
#include <unistd.h>
__AFL_FUZZ_INIT();
static volatile int asked, answered;
static void *helper(void *p) {
	for (;;) {
		if (asked != answered) answered = asked;
		usleep(50);
	}
	return p;
}
int main(void) {
	pthread_t t;
	pthread_create(&t, 0, helper, 0);
	__AFL_INIT();
	unsigned char *d = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(1000)) {
		int n = __AFL_FUZZ_TESTCASE_LEN;
		asked++;
		while (answered != asked) usleep(50);
		if (n && d[0] == '!') abort();
	}
}`, "-pthread")
	ex := open(t, native.Target{Command: []string{bin}})
	for _, test := range []struct {
		in   string
		want teasel.Exit
	}{{"a", teasel.ExitOK}, {"b", teasel.ExitOK}, {"!", teasel.ExitCrash}, {"c", teasel.ExitOK}} {
		if o := run(t, ex, teasel.Ask{}, test.in); o.Exit != test.want {
			t.Errorf("%q: %v, want %v: %s", test.in, o.Exit, test.want, o.Detail)
		}
	}
}

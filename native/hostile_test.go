package native_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/native"
)

// hostile are programs that overwrite the memory that they share with teasel, close its descriptors, or are unusual without being
// at fault. Each is fuzzed from inputs that make it misbehave immediately, and must have exactly its real findings.
var hostile = []struct {
	name   string
	source string
	flags  []string
	seeds  []string
	runs   uint64
	want   []string // rules of the findings
	note   string   // part of the only note; "": no note; "?": depends on the scheduling of threads
}{
	{"a heap overflow reaches beyond the heap", "overflow.c", []string{"-O1"}, []string{"I\xf0\xf0", "I\x01\x01"}, 5_000, []string{"native/invalid-access"}, ""},
	{"standard error is far beyond its end", "seek.c", nil, []string{"Q!", "a"}, 5_000, []string{"native/abort"}, ""},
	{"counts are overwritten", "counts.c", nil, []string{"ZZ", "a"}, 20_000, nil, "?"},
	{"all shared memory is overwritten", "wipe.c", nil, []string{"wipe\x001", "wipe\xff1", "wipe\x5a2", "BUGG."}, 8_000, []string{"native/abort"}, "overwrites memory"},
	{"all descriptors are closed", "descriptors.c", nil, []string{"clos.", "garb.", "BUG.."}, 20_000, []string{"native/abort"}, ""},
	{"a logger needs its writes to go well", "logger.c", nil, []string{"a"}, 5_000, nil, ""},
	{"a filter writes more than it reads", "filter.c", nil, []string{strings.Repeat("\xff", 5000)}, 1_000, nil, ""},
	{"threads are started when it is initialised", "pool.c", nil, []string{"oop."}, 10_000, []string{"native/abort"}, ""},
	{"threads are started by a constructor", "pool.c", []string{"-DEARLY"}, []string{"oop."}, 10_000, []string{"native/abort"}, ""},
	{"threads compare at once", "comparisons.c", []string{"-O0"}, []string{"a"}, 100, nil, ""},
	{"quick_exit", "abruptexit.c", []string{"-DEND=quick_exit(0)"}, []string{"a..."}, 8_000, []string{"native/abort"}, ""},
	{"the system call exit_group", "abruptexit.c", []string{"-DEND=syscall(SYS_exit_group, 0)"}, []string{"a..."}, 8_000, []string{"native/abort"}, ""},
	{"execve", "abruptexit.c", []string{"-DEND=execl(\"/bin/true\", \"true\", (char *)0)"}, []string{"a..."}, 8_000, []string{"native/abort"}, ""},
	{"_exit within a library", "abruptexit.c", []string{"-DEND=((void (*)(int))dlsym(RTLD_NEXT, \"_exit\"))(0)"}, []string{"a..."}, 8_000, []string{"native/abort"}, ""},
	{"the system call exit_group after a fork", "abruptexit.c", []string{"-DFORK", "-DEND=syscall(SYS_exit_group, 0)"}, []string{"a..."}, 100, nil, ""},
	{"uninitialised memory that nothing depends on", "uninitialised.c", []string{"-fsanitize=memory"}, []string{"x", "y"}, 300, nil, ""},
	{"a mutator under MemorySanitizer", "uninitialised.c", []string{"-fsanitize=memory", "-DMUTATOR"}, []string{"x", "y"}, 300, nil, ""},
	{"a large allocation", "allocation.c", []string{"-fsanitize=address"}, []string{"M\x00\x00\x00\x80\x00\x00\x00\x00", "M\x01\x00\x00\x00\x00\x00\x00\x00"}, 60, []string{"native/out-of-memory"}, ""},
	{"detached threads", "detached.c", []string{"-fsanitize=address"}, []string{"dt..", "boo.."}, 15_000, []string{"native/abort"}, ""},
	{"processes are left behind", "forks.c", nil, []string{"a", "k!"}, 200, []string{"native/abort"}, ""},
}

func TestHostile(t *testing.T) {
	for _, test := range hostile {
		t.Run(test.name, func(t *testing.T) {
			bin := build(t, source(t, "hostile/"+test.source), append([]string{"-g", "-pthread"}, test.flags...)...)
			var mu sync.Mutex
			var notes []string
			note := func(s string) { mu.Lock(); defer mu.Unlock(); notes = append(notes, s) }
			c := native.Campaign(native.Target{Command: []string{bin}, Timeout: time.Second, Note: note}, &mutate.Bytes{})
			for _, s := range test.seeds {
				c.Seeds = append(c.Seeds, []byte(s))
			}
			c.Seed, c.Runs = 1, test.runs
			if testing.Short() && len(test.want) == 0 {
				c.Runs /= 10
			}
			if test.source == "abruptexit.c" || testing.Short() { // a run costs a process, and whether its coverage was kept is known once the bug is found
				c.StopAfter = len(test.want)
			}
			s, err := c.Run(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			eventually(t, "all processes have gone", func() bool { return len(running(bin)) == 0 })
			t.Cleanup(func() { endAll(bin) }) // run by hand, its processes are not killed
			var got []string
			for _, f := range s.Findings {
				got = append(got, f.Rule)
				if !f.Confirmed() {
					t.Errorf("%s was reproduced %d of %d times", f.Rule, f.Stable, f.Tries)
				}
				file := filepath.Join(t.TempDir(), "input")
				write(t, file, string(f.Input))
				if status, said := byHand(t, nil, "/bin/sh", "-c", fmt.Sprintf("%q %q <%[2]q", bin, file)); status == 0 {
					t.Errorf("by hand %q is no %s:\n%s", f.Input, f.Rule, said)
				}
			}
			slices.Sort(got)
			if !slices.Equal(got, test.want) {
				t.Errorf("findings %q, want %q", got, test.want)
				for _, f := range s.Findings {
					t.Logf("%s: %q: %s\n%s", f.Rule, f.Input, f.Message, f.Detail)
				}
			}
			if s.Executions < c.Runs && c.StopAfter == 0 {
				t.Errorf("%d executions of %d", s.Executions, c.Runs)
			}
			if text := strings.Join(notes, "\n"); test.note != "?" && ((test.note == "") != (text == "") || !strings.Contains(text, test.note)) {
				t.Errorf("notes %q, want %q", text, test.note)
			}
		})
	}
}

// TestLeftoverProcesses: processes that runs leave behind are killed long before they exhaust the machine.
func TestLeftoverProcesses(t *testing.T) {
	bin := build(t, source(t, "hostile/forks.c"))
	ex := open(t, native.Target{Command: []string{bin}})
	const runs = 4000
	most := 0
	for i := range runs / 50 {
		ins, obs := make([][]byte, 50), make([]teasel.Observation, 50)
		if n, err := ex.ExecBatch(t.Context(), ins, obs); err != nil || n != len(ins) {
			t.Fatal(n, err)
		}
		if i%10 == 9 {
			most = max(most, len(running(bin)))
		}
	}
	if most > runs/2 {
		t.Errorf("up to %d processes existed, after %d runs with one each", most, runs)
	}
}

// TestLateEdges: a message says that edges of modules that are loaded later are not counted.
func TestLateEdges(t *testing.T) {
	dir := t.TempDir()
	src, lib := filepath.Join(dir, "lib.c"), filepath.Join(dir, "lib.so")
	var text strings.Builder
	text.WriteString("volatile int sink;\nvoid branches(int x) {\n")
	for i := range 12_000 {
		fmt.Fprintf(&text, "\tif (x == %d) sink++;\n", i)
	}
	write(t, src, text.String()+"}\n")
	compile(t, clang.Compiler{}, "-g0", "-O0", "-fPIC", "-shared", "-o", lib, src)
	bin := build(t, `#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return n && !dlopen(LIB, RTLD_NOW); }`, "-DLIB=\""+lib+"\"")
	var notes []string
	ex := open(t, native.Target{Command: []string{bin}, Note: func(s string) { notes = append(notes, s) }})
	for _, in := range []string{"", "a", "b", ""} {
		if o := run(t, ex, teasel.Ask{}, in); o.Exit != teasel.ExitOK {
			t.Errorf("%q: %v: %s", in, o.Exit, o.Detail)
		}
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "edges do not fit into the shared memory") {
		t.Errorf("notes %q", notes)
	}
}

// running returns the process numbers of a program.
func running(bin string) (pids []int) {
	exes, _ := filepath.Glob("/proc/[0-9]*/exe")
	for _, exe := range exes {
		if path, _ := os.Readlink(exe); path == bin {
			pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(exe)))
			pids = append(pids, pid)
		}
	}
	return pids
}

// endAll kills the processes of a program.
func endAll(bin string) {
	for _, pid := range running(bin) {
		syscall.Kill(pid, syscall.SIGKILL) // it may have ended by itself
	}
}

// TestAllocationStacks: the report of a finding has the stacks of the allocation and of the free.
func TestAllocationStacks(t *testing.T) {
	const text = `#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
__attribute__((noinline)) static void drop(char *p) { free(p); }
__attribute__((noinline)) static char *make(void) { return malloc(10); }
int USE(const uint8_t *d, size_t n) {
	if (n < 2 || d[0] != 'U') return 0;
	char *p = make();
	drop(p);
	return p[3] == 7;
}
`
	const program = text + `#include <unistd.h>
int main(void) { uint8_t b[8]; ssize_t n = read(0, b, sizeof b); return n > 0 && USE(b, (size_t)n); }
`
	for name, bin := range map[string]string{
		"harness": build(t, text, "-DUSE=LLVMFuzzerTestOneInput", "-g", "-O1", "-fsanitize=fuzzer,address"),
		"program": build(t, program, "-DUSE=use", "-g", "-O1", "-fsanitize=address"),
	} {
		o := run(t, open(t, native.Target{Command: []string{bin}}), teasel.Ask{}, "U!")
		c, _ := o.Evidence.(*native.Crash)
		if c == nil {
			t.Fatalf("%s: %v", name, o.Exit)
		}
		for _, part := range []string{"freed by", "allocated by"} {
			_, stack, _ := strings.Cut(c.Report, part)
			stack, _, _ = strings.Cut(stack, "\n\n")
			want := map[string]string{"freed by": " in drop ", "allocated by": " in make "}[part]
			if !strings.Contains(stack, want) || !strings.Contains(stack, "target.c:") {
				t.Errorf("%s, %s: no %q in %s", name, part, want, stack)
			}
		}
	}
}

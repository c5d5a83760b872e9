package native_test

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/native"
)

const trivial = `
#include <stdint.h>
#include <stddef.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n < 4) return 0;
	if (d[0] == 'b')
		if (d[1] == 'a')
			if (d[2] == 'd')
				if (d[3] == '!') __builtin_trap();
	return 0;
}
`

func TestBatch(t *testing.T) {
	ex := open(t, native.Target{Command: []string{build(t, trivial)}})
	ins := [][]byte{[]byte("aaaa"), []byte("aaaa"), []byte("baaa"), []byte("bad!"), []byte("baaa")}
	obs := make([]teasel.Observation, len(ins))
	done, err := ex.ExecBatch(context.Background(), ins, obs)
	if err != nil {
		t.Fatal(err)
	}
	if done != 4 || obs[3].Exit != teasel.ExitCrash {
		t.Fatalf("%d inputs were run, the fourth ended with %v (%s)", done, obs[3].Exit, obs[3].Detail)
	}
	for i, want := range []bool{true, false, true} {
		if got := len(obs[i].Features) > 0; got != want || obs[i].Exit != teasel.ExitOK {
			t.Errorf("input %d: exit %v, features %v, news %v", i, obs[i].Exit, obs[i].Features, want)
		}
	}
	if fs := native.Detect(&obs[3]); len(fs) != 1 || fs[0].Subject != "LLVMFuzzerTestOneInput" {
		t.Errorf("findings %+v", fs)
	}
	if o := run(t, ex, teasel.Ask{Operands: true}, "bax!"); len(o.Operands) == 0 {
		t.Error("no operands")
	}
}

// TestBatchSize: a batch for a harness is larger than one for a program that is forked for each input.
func TestBatchSize(t *testing.T) {
	harness, program := build(t, trivial), build(t, "int main(void) { return 0; }")
	for _, test := range []struct {
		target native.Target
		want   int
	}{
		{native.Target{Command: []string{harness}}, 256},
		{native.Target{Command: []string{program}}, 64},
		{native.Target{Command: []string{harness}, Batch: 7}, 7},
		{native.Target{Command: []string{program}, Batch: 300}, 300},
	} {
		ex := open(t, test.target)
		if got := ex.BatchSize(); got != test.want {
			t.Errorf("%+v: %d, want %d", test.target, got, test.want)
		}
		ins := slices.Repeat([][]byte{[]byte("a")}, test.want)
		obs := make([]teasel.Observation, len(ins))
		for len(ins) > 0 {
			n, err := ex.ExecBatch(t.Context(), ins, obs)
			if err != nil {
				t.Fatal(err)
			}
			if ins, obs = ins[n:], obs[n:]; len(ins) > 0 {
				t.Errorf("%+v: %d inputs of a batch were not run", test.target, len(ins))
			}
		}
	}
}

// TestQuiet: a quiet run reports no new features and marks none as known.
func TestQuiet(t *testing.T) {
	ex := open(t, native.Target{Command: []string{build(t, trivial)}})
	if o := run(t, ex, teasel.Ask{Trace: true, Quiet: true}, "baaa"); len(o.Features) > 0 || o.Trace == 0 {
		t.Errorf("features %v, trace %d", o.Features, o.Trace)
	}
	if o := run(t, ex, teasel.Ask{}, "baaa"); len(o.Features) == 0 {
		t.Error("a quiet run has marked features as known")
	}
}

// TestTexts: the result of a string comparison is a feature, whether it leads to another edge or not: one for different and one for
// equal strings, for each string constant of the program.
func TestTexts(t *testing.T) {
	ex := open(t, native.Target{Command: []string{build(t, `#include <stddef.h>
#include <stdint.h>
#include <string.h>
static volatile int sink;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	static const char *const names[] = {"red", "green", 0};
	char s[8] = {0};
	memcpy(s, d, n < 7 ? n : 7);
	for (int i = 0; names[i]; i++) sink += strcmp(s, names[i]) == 0;
	return 0;
}`)}})
	for _, test := range []struct {
		in   string
		news int
	}{{"", -1}, {"", 0}, {"tan", 2}, {"sky", 0}, {"red", 1}, {"red", 0}, {"green", 1}, {"green", 0}, {"yellow", 0}} {
		o := run(t, ex, teasel.Ask{}, test.in)
		if test.news >= 0 && len(o.Features) != test.news {
			t.Errorf("%q: features %v, want %d", test.in, o.Features, test.news)
		}
		for _, f := range o.Features {
			if edge := f <= 1<<32; edge != (test.news < 0) {
				t.Errorf("%q: feature %d is an edge: %v", test.in, f, edge)
			}
		}
	}
}

// TestSimpler: an input that reaches a feature is new if it is shorter than all earlier ones, and otherwise not.
func TestSimpler(t *testing.T) {
	ex := open(t, native.Target{Command: []string{build(t, trivial)}})
	first := run(t, ex, teasel.Ask{}, "bbbbbbbb")
	if len(first.Features) == 0 {
		t.Fatal("the first input is not new")
	}
	for _, test := range []struct {
		in   string
		news bool
	}{{"bbbbbbbb", false}, {"bbbbbbbbb", false}, {"bbbbbbb", true}, {"bbbbbbb", false}} {
		if o := run(t, ex, teasel.Ask{}, test.in); len(o.Features) > 0 != test.news {
			t.Errorf("%d bytes: features %v, news %v", len(test.in), o.Features, test.news)
		}
	}
	ex.Learn(first.Features, 5.5) // the worker has imported an input of 5 bytes
	if o := run(t, ex, teasel.Ask{}, "bbbbb"); len(o.Features) > 0 {
		t.Errorf("5 bytes: %v, which the worker holds", o.Features)
	}
	if o := run(t, ex, teasel.Ask{}, "bbbb"); len(o.Features) != len(first.Features) {
		t.Errorf("4 bytes: %v, want %v", o.Features, first.Features)
	}
}

// TestLeftovers: state that earlier inputs have left in the process neither makes an input new nor hides a later one.
func TestLeftovers(t *testing.T) {
	bin := build(t, `#include <stdint.h>
#include <stddef.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	static int count;
	volatile int x = 0;
	if (n == 0) return 0;
	if (count++ == 1) x = 1; // in the second run only
	if (d[0] == 'z') x = 2;
	return x - x;
}`)
	ex := open(t, native.Target{Command: []string{bin}})
	run(t, ex, teasel.Ask{Features: true}, "a")
	if o := run(t, ex, teasel.Ask{}, "a"); len(o.Features) > 0 || o.Runs != 2 {
		t.Errorf("the second run: features %v after %d runs", o.Features, o.Runs)
	}
	if o := run(t, ex, teasel.Ask{}, "z"); len(o.Features) != 1 {
		t.Errorf("a branch of its own: features %v", o.Features)
	}
	if err := ex.Reset(context.Background()); err != nil {
		t.Fatal(err)
	}
	one := run(t, ex, teasel.Ask{Features: true, Trace: true}, "a")
	two := run(t, ex, teasel.Ask{Features: true, Trace: true}, "a")
	if three := run(t, ex, teasel.Ask{Features: true, Trace: true}, "a"); one.Trace == two.Trace || three.Trace != one.Trace {
		t.Errorf("a fresh process does not start from the initial state: %v, %v, %v", one.Features, two.Features, three.Features)
	}
}

// TestTwoBuilds: a second build may record the comparisons, if its counters are the same.
func TestTwoBuilds(t *testing.T) {
	dir := t.TempDir()
	src, other := filepath.Join(dir, "a.c"), filepath.Join(dir, "b.c")
	write(t, src, trivial)
	write(t, other, "int more(int x) { return x ? 1 : 2; }"+trivial)
	plain, hooked, wrong := filepath.Join(dir, "plain"), filepath.Join(dir, "hooked"), filepath.Join(dir, "wrong")
	compile(t, clang.Compiler{NoHooks: true}, src, "-o", plain)
	compile(t, clang.Compiler{}, src, "-o", hooked)
	compile(t, clang.Compiler{}, other, "-o", wrong)
	if o := run(t, open(t, native.Target{Command: []string{plain}}), teasel.Ask{Operands: true}, "bax!"); len(o.Operands) > 0 {
		t.Errorf("operands without hooks: %v", o.Operands)
	}
	ex := open(t, native.Target{Command: []string{plain}, Operands: hooked})
	if o := run(t, ex, teasel.Ask{Operands: true}, "bax!"); len(o.Operands) == 0 {
		t.Error("no operands of the second build")
	}
	a := teasel.Ask{Features: true, Trace: true}
	one := run(t, ex, a, "bax!")
	a.Operands = true
	if two := run(t, ex, a, "bax!"); two.Trace != one.Trace {
		t.Errorf("the builds differ: %x, %x", one.Trace, two.Trace)
	}
	if bad, err := (native.Target{Command: []string{plain}, Operands: wrong}).Open(context.Background(), teasel.Role{}); err == nil {
		bad.Close()
		t.Error("a build with other counters was accepted")
	} else if !strings.Contains(err.Error(), "other build") {
		t.Error(err)
	}
}

// TestSizes: long and empty inputs are run, and so are batches that exceed the shared memory.
func TestSizes(t *testing.T) {
	ex := open(t, native.Target{Command: []string{build(t, trivial)}})
	big := make([]byte, 3<<20)
	ins := make([][]byte, 64)
	for i := range ins {
		ins[i] = big[:i*len(big)/64]
	}
	for at := 0; at < len(ins); {
		obs := make([]teasel.Observation, len(ins)-at)
		n, err := ex.ExecBatch(context.Background(), ins[at:], obs)
		if err != nil || n < 1 {
			t.Fatal(n, err)
		}
		for i := range n {
			if obs[i].Exit != teasel.ExitOK {
				t.Errorf("%d bytes: %v", len(ins[at+i]), obs[i].Exit)
			}
		}
		at += n
	}
	if o := run(t, ex, teasel.Ask{}, string(make([]byte, 65<<20))); o.Exit != teasel.ExitRejected || o.Runs != 0 {
		t.Errorf("an input that does not fit: %v", o.Exit)
	}
}

// TestDroppedStaysNews: features of a run whose input is not kept are still new when another input reaches them.
func TestDroppedStaysNews(t *testing.T) {
	for _, test := range []struct {
		name, source string
		flags        []string
		known        string // input that reaches all but one branch
		dropped      string
		exit         teasel.Exit
		kept         string
	}{
		{"refused", `#include <stddef.h>
#include <stdint.h>
static volatile int sink;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n && d[0] == 'a') sink = 1;
	return n < 8 ? -1 : 0;
}`, nil, "bbbbbbbb", "aaaa", teasel.ExitRejected, "aaaaaaaa"},
		{"crash by exit status", `#include <unistd.h>
static volatile int sink;
int main(void) {
	char s[4] = {0};
	if (read(0, s, 3) > 0 && s[0] == 'a') sink = 1;
	return s[1] == 'x' ? 4 : 0;
}`, nil, "by", "ax", teasel.ExitCrash, "ay"},
		{"leak", `#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
static volatile int sink;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n && d[0] == 'a') sink = 1;
	char *volatile p = malloc(8);
	if (n != 2) free(p);
	p = 0;
	return 0;
}`, []string{"-fsanitize=address"}, "bbb", "aa", teasel.ExitCrash, "aaa"},
	} {
		ex := open(t, native.Target{Command: []string{build(t, test.source, test.flags...)}, Exits: []int{4}})
		run(t, ex, teasel.Ask{}, test.known)
		if o := run(t, ex, teasel.Ask{}, test.dropped); o.Exit != test.exit || len(o.Features) > 0 {
			t.Errorf("%s: %v with features %v: %s", test.name, o.Exit, o.Features, o.Detail)
		}
		if o := run(t, ex, teasel.Ask{}, test.kept); o.Exit != teasel.ExitOK || len(o.Features) == 0 {
			t.Errorf("%s: afterwards %v with features %v: %s", test.name, o.Exit, o.Features, o.Detail)
		}
	}
}

// TestServerKilled: a target that kills the process it was forked from is started again.
func TestServerKilled(t *testing.T) {
	ex := open(t, native.Target{Command: []string{build(t, `#include <signal.h>
#include <stdint.h>
#include <unistd.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n > 0 && d[0] == 'k') kill(getppid(), SIGKILL), sleep(5);
	return 0;
}`)}})
	for _, in := range []string{"a", "k", "a", "k", "a"} {
		want := teasel.ExitOK
		if in == "k" {
			want = teasel.ExitCrash
		}
		if o := run(t, ex, teasel.Ask{}, in); o.Exit != want {
			t.Errorf("%q: %v, want %v: %s", in, o.Exit, want, o.Detail)
		}
	}
}

// TestCancelled: a cancelled context ends a run that cannot end by itself.
func TestCancelled(t *testing.T) {
	ex := open(t, native.Target{Command: []string{build(t, source(t, "planted.c"))}, Timeout: time.Hour})
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	var o teasel.Observation
	if err := ex.Exec(ctx, []byte("hx.."), &o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v, %v", o.Exit, err)
	}
	if o := run(t, ex, teasel.Ask{}, "abc"); o.Exit != teasel.ExitOK {
		t.Errorf("after that: %v", o.Exit)
	}
}

// TestUninitialised: MemorySanitizer reports the use of uninitialised values.
func TestUninitialised(t *testing.T) {
	bin := build(t, `#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
static volatile int sink;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	char *volatile p = malloc(4);
	if (n > 0 && d[0] != 'x') p[1] = 0;
	if (p[1]) sink = 1;
	free(p);
	return 0;
}`, "-fsanitize=memory")
	ex := open(t, native.Target{Command: []string{bin}})
	if o := run(t, ex, teasel.Ask{}, "ab"); o.Exit != teasel.ExitOK {
		t.Errorf("a harmless input: %v, %s", o.Exit, o.Detail)
	}
	check(t, run(t, ex, teasel.Ask{}, "xb"), "xb", "native/uninitialised-value", "LLVMFuzzerTestOneInput", teasel.Medium)
}

// TestDataRace: ThreadSanitizer reports a data race of two threads, in a harness and in a program, and nothing if they use a lock.
// Other faults are reported as without it, except that a hang has no stack.
func TestDataRace(t *testing.T) {
	const racing = `#include <assert.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int careful, total;
static volatile int spun;
static void put(int n) {
	if (careful) pthread_mutex_lock(&lock);
	total += n;
	if (careful) pthread_mutex_unlock(&lock);
}
static void take(int n) {
	if (careful) pthread_mutex_lock(&lock);
	total -= n;
	if (careful) pthread_mutex_unlock(&lock);
}
static void *one(void *d) { put(*(const uint8_t *)d); return 0; }
static void *two(void *d) { take(*(const uint8_t *)d); return 0; }
static int parse(const uint8_t *d, size_t n) {
	if (n < 2) return 0;
	if (d[0] == 'n') *(volatile int *)0 = 1;
	while (d[0] == 'h') spun++;
	assert(d[0] != 'a');
	careful = d[0] != 'x';
	pthread_t a, b;
	void *(*first)(void *) = d[1] & 1 ? one : two, *(*second)(void *) = d[1] & 1 ? two : one;
	if (pthread_create(&a, 0, first, (void *)d)) return 0;
	if (pthread_create(&b, 0, second, (void *)d) == 0) pthread_join(b, 0);
	pthread_join(a, 0);
	return 0;
}
#ifdef PROGRAM
int main(void) { uint8_t b[16]; size_t n = fread(b, 1, sizeof b, stdin); return parse(b, n); }
#else
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return parse(d, n); }
#endif`
	for _, flags := range [][]string{{"-fsanitize=fuzzer,thread"}, {"-fsanitize=thread", "-DPROGRAM"}} {
		ex := open(t, native.Target{Command: []string{build(t, racing, append(flags, "-g", "-O1")...)}, Timeout: 300 * time.Millisecond})
		for _, good := range []string{"b0", "b1", ""} {
			if o := run(t, ex, teasel.Ask{}, good); o.Exit != teasel.ExitOK {
				t.Errorf("%v: %q: %v, %s", flags, good, o.Exit, o.Detail)
			}
		}
		var groups []string
		for _, bad := range []string{"x0", "x1", "x0"} { // whichever thread is first
			o := run(t, ex, teasel.Ask{}, bad)
			check(t, o, bad, "native/data-race", "put", teasel.Medium)
			if fs := native.Detect(&o); len(fs) > 0 {
				groups = append(groups, fs[0].Group)
			}
		}
		if slices.Sort(groups); groups[0] != groups[len(groups)-1] {
			t.Errorf("%v: one race has the groups %q", flags, groups)
		}
		hang := run(t, ex, teasel.Ask{}, "h0")
		if fs := native.Detect(&hang); len(fs) != 1 || fs[0].Rule != "native/hang" || fs[0].Group != "" && !strings.Contains(fs[0].Group, "parse") {
			t.Errorf("h0: %+v", fs) // in the middle of ThreadSanitizer's own code the stack cannot always be read
		}
		check(t, run(t, ex, teasel.Ask{}, "n0"), "n0", "native/null-dereference", "parse", teasel.Medium)
		o := run(t, ex, teasel.Ask{}, "a0")
		check(t, o, "a0", "native/abort", "parse", teasel.Medium)
		if !strings.Contains(o.Detail, "Assertion `d[0] != 'a'") {
			t.Errorf("%v: an assertion is reported as %q", flags, o.Detail)
		}
	}
}

// TestThreadsOfOneFunction: that threads run the same code, and so count the same edges, is no data race.
func TestThreadsOfOneFunction(t *testing.T) {
	const same = `#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
struct job { const uint8_t *d; size_t n; };
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static int lines;
static void *count(void *arg) {
	struct job *j = arg;
	for (size_t i = 0; i < j->n; i++) {
		if (j->d[i] != '-' && j->d[i] != 'x') continue;
		if (j->d[0] != 'x') pthread_mutex_lock(&lock);
		lines++;
		if (j->d[0] != 'x') pthread_mutex_unlock(&lock);
	}
	return 0;
}
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	struct job j = {d, n};
	pthread_t a, b;
	if (pthread_create(&a, 0, count, &j)) return 0;
	if (pthread_create(&b, 0, count, &j) == 0) pthread_join(b, 0);
	pthread_join(a, 0);
	return 0;
}`
	ex := open(t, native.Target{Command: []string{build(t, same, "-fsanitize=fuzzer,thread", "-g", "-O1")}})
	for _, good := range []string{"", "a", "--", "ab-cd-ef-gh", "a-------------------------------------------------b"} {
		for range 10 {
			if o := run(t, ex, teasel.Ask{}, good); o.Exit != teasel.ExitOK {
				t.Fatalf("%q: %v, %s", good, o.Exit, o.Detail)
			}
		}
	}
	check(t, run(t, ex, teasel.Ask{}, "xx"), "xx", "native/data-race", "count", teasel.Medium)
}

// TestManyFeatures: the table of features has room for all features of a batch.
func TestManyFeatures(t *testing.T) {
	var src strings.Builder
	src.WriteString("#include <stddef.h>\n#include <stdint.h>\nstatic volatile int zero, sink;\nint LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {\n")
	for i := range 4000 {
		fmt.Fprintf(&src, "if (zero == 0) sink = %d;\n", i)
	}
	for i := range 1000 {
		fmt.Fprintf(&src, "if (n && d[0] == %d) sink = %d;\n", i%64, i)
	}
	src.WriteString("return 0;\n}\n")
	ex := open(t, native.Target{Command: []string{build(t, src.String(), "-O0")}})
	ins, obs := make([][]byte, 64), make([]teasel.Observation, 64)
	for i := range ins {
		ins[i], obs[i] = []byte{byte(i)}, teasel.Observation{Ask: teasel.Ask{Features: true, Quiet: true}, Runs: 1}
	}
	if n, err := ex.ExecBatch(context.Background(), ins, obs); n != len(ins) || err != nil {
		t.Fatal(n, err)
	}
	count := map[teasel.Feature]int{}
	for i := range obs {
		for _, f := range obs[i].Features {
			count[f]++
		}
	}
	for i := range obs {
		own := 0
		for _, f := range obs[i].Features {
			if count[f] == 1 {
				own++
			}
		}
		if own < 15 || len(obs[i].Features) < 4000 {
			t.Errorf("input %d: %d features, %d of its own", i, len(obs[i].Features), own)
		}
	}
}

// One operation is one execution of a batch.
func BenchmarkExec(b *testing.B) {
	ex := open(b, native.Target{Command: []string{build(b, trivial)}})
	ins, obs := make([][]byte, ex.BatchSize()), make([]teasel.Observation, ex.BatchSize())
	for i := range ins {
		ins[i] = []byte("aaaa")
	}
	n := 0
	for b.Loop() {
		if n++; n%len(ins) != 0 {
			continue
		}
		for i := range obs {
			obs[i].Exit, obs[i].Features = teasel.ExitInvalid, obs[i].Features[:0]
		}
		if _, err := ex.ExecBatch(context.Background(), ins, obs); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "exec/s")
}

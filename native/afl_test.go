package native_test

import (
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// aflBuild builds a C file of testdata with one of AFL++'s compilers, or another one.
func aflBuild(t testing.TB, compiler, file string, flags ...string) string {
	t.Helper()
	path := needTool(t, compiler)
	return compiled(t, func(bin string) {
		cmd := exec.Command(path, append([]string{filepath.Join("testdata", file), "-g", "-o", bin}, flags...)...)
		cmd.Env = append(cmd.Environ(), "AFL_QUIET=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", compiler, err, out)
		}
	}, append([]string{compiler, file}, flags...)...)
}

// start opens a target of any kind.
func start(t testing.TB, target native.Target) teasel.Executor[[]byte] {
	t.Helper()
	ex, err := target.Open(context.Background(), teasel.Role{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := ex.Close(); err != nil {
			t.Error(err)
		}
	})
	return ex
}

func exec1(t testing.TB, ex teasel.Executor[[]byte], a teasel.Ask, in string) teasel.Observation {
	t.Helper()
	o := teasel.Observation{Ask: a, Runs: 1}
	if err := ex.Exec(context.Background(), []byte(in), &o); err != nil {
		t.Fatal(err)
	}
	return o
}

// aflBuilds are the ways in which AFL++ builds programs, and how the programs are run.
var aflBuilds = []struct {
	name, compiler string
	flags          []string
	args           []string
	want           native.Program
}{
	{"fork, standard input", "afl-clang-fast", []string{"-DSTDIN"}, nil, native.Program{}},
	{"fork, file", "afl-clang-fast", []string{"-DSTDIN"}, []string{"@@"}, native.Program{}},
	{"persistent", "afl-clang-fast", nil, nil, native.Program{Persistent: true, Shared: true}},
	{"afl-gcc", "afl-gcc", []string{"-DSTDIN"}, nil, native.Program{Map: 65536}},
	{"AddressSanitizer", "afl-clang-fast", []string{"-fsanitize=address"}, nil, native.Program{Persistent: true, Shared: true}},
}

// TestAFL: a campaign finds each planted bug once through every kind of fork server, and nothing in the clean twin.
func TestAFL(t *testing.T) {
	for _, w := range aflBuilds {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			bin := aflBuild(t, w.compiler, "harness.c", w.flags...)
			target := native.Target{Command: append([]string{bin}, w.args...)}
			i, err := target.Inspect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if i.Mode != native.ModeAFL || i.Persistent != w.want.Persistent || i.Shared != w.want.Shared ||
				w.want.Map > 0 && i.Map != w.want.Map || len(i.Warnings) != 1 ||
				strings.Contains(i.Warnings[0], "it is fuzzed faster") != w.want.Persistent { // one that forks is not, by itself
				t.Errorf("Inspect returns %+v", i)
			}
			c := campaign(bin, 1)
			c.Target, c.Seeds, c.StopAfter = target, [][]byte{[]byte("bae"), []byte("num"), []byte("oxx")}, 2 // one step away, since a fork takes a millisecond
			c.Runs, c.Duration = 400_000, 15*time.Minute                                                      // enough even with bad luck, and on a busy machine
			c.MinimizeRuns = 500
			want := map[string]string{"ba": "native/abort", "nu": "native/null-dereference"} // by the first two of three bytes
			if slices.Contains(w.flags, "-fsanitize=address") {
				want["ov"], c.StopAfter = "native/heap-buffer-overflow", 3
			}
			s, err := c.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			for _, f := range s.Findings {
				if len(f.Input) == 3 && want[string(f.Input[:2])] == f.Rule && f.Confirmed() {
					delete(want, string(f.Input[:2]))
				}
			}
			if len(want) > 0 || len(s.Findings) != c.StopAfter {
				for _, f := range s.Findings {
					t.Logf("%s %s %q %q %d/%d", f.Rule, f.Subject, f.Group, f.Input, f.Stable, f.Tries)
				}
				t.Errorf("after %d executions, not found: %v", s.Executions, want)
			}
			c.Target = native.Target{Command: append([]string{aflBuild(t, w.compiler, "harness.c", append(w.flags, "-DCLEAN")...)}, w.args...)}
			c.StopAfter, c.Runs = 0, 500
			if s, err = c.Run(context.Background()); err != nil || len(s.Findings) > 0 {
				t.Errorf("the clean twin: %+v, %v", s.Findings, err)
			}
		})
	}
}

// TestAFLForkedSanitizer runs a program with AddressSanitizer that is forked for every input, which takes milliseconds each.
func TestAFLForkedSanitizer(t *testing.T) {
	t.Parallel()
	flags := []string{"-DSTDIN", "-fsanitize=address"}
	target := native.Target{Command: []string{aflBuild(t, "afl-clang-fast", "harness.c", flags...), "@@"}}
	p, err := target.Inspect(context.Background())
	if err != nil || p.Mode != native.ModeAFL || p.Persistent {
		t.Fatalf("Inspect returns %+v, %v", p, err)
	}
	ex := start(t, target)
	rules := map[string]string{"ovx": "native/heap-buffer-overflow", "nul": "native/null-dereference", "bad": "native/abort", "oxx": ""}
	for in, rule := range rules {
		o := exec1(t, ex, teasel.Ask{}, in)
		if fs := native.Detect(&o); len(fs) > 0 && fs[0].Rule != rule || len(fs) == 0 && rule != "" {
			t.Errorf("%q: %v, want %s", in, fs, rule)
		}
	}
	c := campaign("", 1)
	c.Target, c.Seeds, c.Runs, c.StopAfter, c.MinimizeRuns = target, [][]byte{[]byte("owl"), []byte("bae"), []byte("num")}, 50_000, 1, 100
	s, err := c.Run(context.Background())
	known := func(f teasel.Finding) bool {
		for in, rule := range rules {
			if rule == f.Rule && len(f.Input) == 3 && in[:2] == string(f.Input[:2]) {
				return f.Confirmed()
			}
		}
		return false
	}
	if err != nil || len(s.Findings) != 1 || !known(s.Findings[0]) {
		t.Errorf("after %d executions: %+v, %v", s.Executions, s.Findings, err)
	}
	c.Target = native.Target{Command: []string{aflBuild(t, "afl-clang-fast", "harness.c", append(flags, "-DCLEAN")...), "@@"}}
	c.Seeds, c.StopAfter, c.Runs = [][]byte{[]byte("ovx"), []byte("nul"), []byte("bad")}, 0, 200
	if s, err = c.Run(context.Background()); err != nil || len(s.Findings) > 0 {
		t.Errorf("the clean twin: %+v, %v", s.Findings, err)
	}
}

// TestNewDialect tests the dialect of AFL++ 4.20c and later: its parameters, and a map that is larger than the initial one.
func TestNewDialect(t *testing.T) {
	for _, test := range []struct {
		name  string
		flags []string
		want  int
	}{
		{"small", nil, 1000},
		{"persistent", []string{"-DLOOPS"}, 1000},
		{"large", []string{"-DMAP=9000000"}, 9000000},
		{"refused", []string{"-DMAP=9000000", "-DREFUSE"}, 9000000},
	} {
		t.Run(test.name, func(t *testing.T) {
			t.Parallel()
			target := native.Target{Command: []string{aflBuild(t, "gcc", "speaker.c", test.flags...)}, Timeout: 200 * time.Millisecond}
			i, err := target.Inspect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if i.Mode != native.ModeAFL || !i.Shared || i.Persistent != (test.name == "persistent") || i.Map != (test.want+7)&^7 || !slices.Equal(i.Tokens, []string{"abc", "xy"}) {
				t.Errorf("Inspect returns %+v", i)
			}
			ex := start(t, target)
			for _, run := range []struct {
				in       string
				exit     teasel.Exit
				features []teasel.Feature
			}{
				{"x", teasel.ExitOK, []teasel.Feature{1, teasel.Feature(test.want-1)*8 + 1}},
				{"b", teasel.ExitOK, []teasel.Feature{10*8 + 7 + 1}},
				{"ba", teasel.ExitOK, []teasel.Feature{20*8 + 3 + 1}},
				{"ba", teasel.ExitOK, nil},
				{"h", teasel.ExitHang, nil},
				{"bax", teasel.ExitOK, nil},
				{"bad", teasel.ExitCrash, nil},
				{"bad", teasel.ExitCrash, nil},
				{"", teasel.ExitOK, []teasel.Feature{1, teasel.Feature(test.want-1)*8 + 1}}, // shorter than before
			} {
				o := exec1(t, ex, teasel.Ask{}, run.in)
				if o.Exit != run.exit || !slices.Equal(o.Features, run.features) {
					t.Errorf("%q: %v, %v, want %v, %v (%s)", run.in, o.Exit, o.Features, run.exit, run.features, o.Detail)
				}
			}
		})
	}
}

// TestAFLQuiet: a quiet run reports no new features, marks none as known, and counts as one run.
func TestAFLQuiet(t *testing.T) {
	ex := start(t, native.Target{Command: []string{aflBuild(t, "gcc", "speaker.c")}})
	if o := exec1(t, ex, teasel.Ask{Trace: true, Quiet: true}, "ba"); o.Exit != teasel.ExitOK || len(o.Features) > 0 || o.Trace == 0 || o.Runs != 1 {
		t.Errorf("%v, features %v, trace %d, %d runs", o.Exit, o.Features, o.Trace, o.Runs)
	}
	if o := exec1(t, ex, teasel.Ask{Features: true, Quiet: true}, "ba"); len(o.Features) != 4 {
		t.Errorf("all features: %v", o.Features)
	}
	if o := exec1(t, ex, teasel.Ask{}, "ba"); len(o.Features) != 4 || o.Runs != 2 {
		t.Errorf("after a quiet run: features %v, %d runs, want 4 features", o.Features, o.Runs)
	}
}

// TestAFLUnstable: a feature that is not reproduced may be new a few times, and is known after that.
func TestAFLUnstable(t *testing.T) {
	ex := start(t, native.Target{Command: []string{aflBuild(t, "gcc", "speaker.c")}})
	exec1(t, ex, teasel.Ask{}, "fx") // reaches the stable features
	long := "f" + strings.Repeat("x", 800)
	for i := range 300 { // the first input of each round is the shortest so far, the second is not
		n := 800 - 2*i
		first, second := exec1(t, ex, teasel.Ask{}, long[:n]), exec1(t, ex, teasel.Ask{}, long[:n+1])
		if i >= 5 && (first.Runs != 2 || second.Runs != 1) {
			t.Fatalf("round %d: %d runs, then %d", i, first.Runs, second.Runs)
		}
	}
}

// TestAFLRuns: all runs are counted: the first, the one that should confirm its new features and crashed, those that find variable edges,
// and three under a tracer, none of which crashes.
func TestAFLRuns(t *testing.T) {
	ex := start(t, native.Target{Command: []string{aflBuild(t, "gcc", "speaker.c")}})
	if o := exec1(t, ex, teasel.Ask{}, "m"); o.Exit != teasel.ExitCrash || o.Runs != 12 {
		t.Errorf("%v, %d runs, want 12", o.Exit, o.Runs)
	}
}

// TestAFLAllocations: a run without new features does not allocate memory.
func TestAFLAllocations(t *testing.T) {
	ex := start(t, native.Target{Command: []string{aflBuild(t, "afl-clang-fast", "harness.c")}})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	in, o := []byte("abc"), teasel.Observation{Runs: 1}
	least := 1e9 // of several measurements, since once a second the watchdog lists all processes
	for range 8 {
		least = min(least, testing.AllocsPerRun(200, func() {
			o.Exit, o.Runs, o.Features = teasel.ExitInvalid, 1, o.Features[:0]
			if err := ex.Exec(ctx, in, &o); err != nil || o.Exit != teasel.ExitOK {
				t.Fatal(o.Exit, err)
			}
		}))
	}
	if least > 0 {
		t.Errorf("%v allocations", least)
	}
}

// TestAFLCancelled: a cancelled context ends a run that cannot end by itself, and does not affect the program of another worker.
func TestAFLCancelled(t *testing.T) {
	target := native.Target{Command: []string{aflBuild(t, "gcc", "speaker.c", "-DLOOPS")}, Timeout: time.Hour}
	ex, other := start(t, target), start(t, target)
	ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond)
	defer cancel()
	var o teasel.Observation
	if err := ex.Exec(ctx, []byte("h"), &o); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("ended with %v, %v", o.Exit, err)
	}
	for _, e := range []teasel.Executor[[]byte]{ex, other} {
		if o := exec1(t, e, teasel.Ask{}, "x"); o.Exit != teasel.ExitOK {
			t.Errorf("after that: %v, %s", o.Exit, o.Detail)
		}
	}
}

// TestAFLRoom: an input that does not fit into shared memory is rejected, and the next one is run.
func TestAFLRoom(t *testing.T) {
	ex := start(t, native.Target{Command: []string{aflBuild(t, "gcc", "speaker.c")}})
	if o := exec1(t, ex, teasel.Ask{}, strings.Repeat("x", 1<<20+1)); o.Exit != teasel.ExitRejected || o.Runs != 0 {
		t.Errorf("%v, %d runs", o.Exit, o.Runs)
	}
	if o := exec1(t, ex, teasel.Ask{}, strings.Repeat("x", 1<<20)); o.Exit != teasel.ExitOK {
		t.Errorf("%v, %s", o.Exit, o.Detail)
	}
}

// TestAFLRevived: a program whose fork server dies is started again, and Reset gives a process that has not run any input.
func TestAFLRevived(t *testing.T) {
	ex := start(t, native.Target{Command: []string{aflBuild(t, "gcc", "speaker.c", "-DLOOPS")}})
	for _, in := range []string{"x", "k", "x", "k", "x"} {
		want := teasel.ExitOK
		if in == "k" {
			want = teasel.ExitCrash
		}
		if o := exec1(t, ex, teasel.Ask{}, in); o.Exit != want {
			t.Errorf("%q: %v, want %v: %s", in, o.Exit, want, o.Detail)
		}
	}
	stopped := start(t, native.Target{Command: []string{aflBuild(t, "gcc", "speaker.c")}, Timeout: 20 * time.Millisecond})
	if o := exec1(t, stopped, teasel.Ask{}, "s"); o.Exit != teasel.ExitHang {
		t.Errorf("a stopped server: %v, %s", o.Exit, o.Detail)
	}
	if o := exec1(t, stopped, teasel.Ask{}, "x"); o.Exit != teasel.ExitOK {
		t.Errorf("after that: %v, %s", o.Exit, o.Detail)
	}
	again := func() bool { return len(exec1(t, ex, teasel.Ask{Features: true}, "c").Features) == 3 } // the process runs it the second time
	if again() || !again() {
		t.Error("the process does not run several inputs")
	}
	if err := ex.(teasel.Resetter).Reset(context.Background()); err != nil {
		t.Fatal(err)
	}
	if again() {
		t.Error("the process is not fresh after Reset")
	}
}

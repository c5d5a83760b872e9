package native_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// aflBuild builds a C file of testdata with one of AFL++'s compilers, or another one.
func aflBuild(t testing.TB, compiler, file string, flags ...string) string {
	t.Helper()
	path, err := exec.LookPath(compiler)
	if err != nil {
		t.Skipf("%s is not installed (Debian: apt-get install afl++ clang gcc): %v", compiler, err)
	}
	bin := filepath.Join(t.TempDir(), "target")
	cmd := exec.Command(path, append([]string{filepath.Join("testdata", file), "-g", "-o", bin}, flags...)...)
	cmd.Env = append(cmd.Environ(), "AFL_QUIET=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return bin
}

// start opens a target of any kind.
func start(t testing.TB, target native.Target) teasel.Executor[[]byte] {
	t.Helper()
	ex, err := target.Open(context.Background())
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

// ways are how AFL++ builds programs, and how they are run.
var ways = []struct {
	name, compiler string
	flags          []string
	args           []string
	want           native.Inspection
}{
	{"fork, standard input", "afl-clang-fast", []string{"-DSTDIN"}, nil, native.Inspection{}},
	{"fork, file", "afl-clang-fast", []string{"-DSTDIN"}, []string{"@@"}, native.Inspection{}},
	{"persistent", "afl-clang-fast", nil, nil, native.Inspection{Persistent: true, Deferred: true, Shared: true}},
	{"afl-gcc", "afl-gcc", []string{"-DSTDIN"}, nil, native.Inspection{Counters: 65536}},
	{"AddressSanitizer", "afl-clang-fast", []string{"-fsanitize=address"}, nil, native.Inspection{Persistent: true, Deferred: true, Shared: true}},
}

// A campaign finds each planted bug once through every kind of server, and nothing in the twin without bugs.
func TestAFL(t *testing.T) {
	for _, w := range ways {
		t.Run(w.name, func(t *testing.T) {
			t.Parallel()
			bin := aflBuild(t, w.compiler, "harness.c", w.flags...)
			target := native.Target{Command: append([]string{bin}, w.args...)}
			i, err := target.Inspect(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if i.Mode != native.ModeAFL || i.Persistent != w.want.Persistent || i.Deferred != w.want.Deferred || i.Shared != w.want.Shared ||
				w.want.Counters > 0 && i.Counters != w.want.Counters || len(i.Warnings) != 1 {
				t.Errorf("it is %+v", i)
			}
			c := campaign(bin, 1)
			c.Target, c.Seeds, c.Runs, c.StopAfter, c.Duration = target, [][]byte{[]byte("bax"), []byte("nux"), []byte("oxx")}, 50_000, 2, time.Minute
			c.MinimizeRuns = 30
			want := map[string]string{"ba": "native/abort", "nu": "native/invalid-access"} // by the first two of three bytes
			if slices.Contains(w.flags, "-fsanitize=address") {
				want["ov"], want["nu"], c.StopAfter = "native/heap-buffer-overflow", "native/null-dereference", 3
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
				t.Errorf("the twin without bugs: %+v, %v", s.Findings, err)
			}
		})
	}
}

// The dialect of AFL++ 4.20c and later: its parameters, and a map that is larger than what we begin with.
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
			if i.Mode != native.ModeAFL || !i.Shared || i.Persistent != (test.name == "persistent") || i.Counters != (test.want+7)&^7 || !slices.Equal(i.Tokens, []string{"abc", "xy"}) {
				t.Errorf("it is %+v", i)
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

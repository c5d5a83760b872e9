package native_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestOverLimit: what goes over a limit is named after the function that is to blame, whatever the program was built with: one that waits for a
// lock, and not the one that waits for the end of a thread; the one with the loop; the one that takes the memory. What only takes two locks in the
// same order is no finding.
func TestOverLimit(t *testing.T) {
	source, err := os.ReadFile("testdata/overlimit.c")
	if err != nil {
		t.Fatal(err)
	}
	for _, build := range []struct {
		name  string
		long  bool
		build func(t *testing.T) string
	}{
		{"harness", true, func(t *testing.T) string { return build(t, string(source), "-g", "-O1", "-lpthread") }},
		{"address", false, func(t *testing.T) string {
			return build(t, string(source), "-g", "-O1", "-lpthread", "-fsanitize=fuzzer,address")
		}},
		{"thread", false, func(t *testing.T) string {
			return build(t, string(source), "-g", "-O1", "-lpthread", "-fsanitize=fuzzer,thread")
		}},
		{"program", true, func(t *testing.T) string { return build(t, string(source), "-g", "-O1", "-lpthread", "-DMAIN") }},
		{"afl", true, func(t *testing.T) string { return compiledBy(t, "afl-clang-fast", "testdata/overlimit.c") }},
		{"black box", false, func(t *testing.T) string { return compiledBy(t, "gcc", "testdata/overlimit.c") }},
	} {
		t.Run(build.name, func(t *testing.T) {
			if build.long && testing.Short() {
				t.Skip("three other builds show the same")
			}
			ex := start(t, native.Target{Command: []string{build.build(t)}, Timeout: 200 * time.Millisecond, Memory: 128 << 20})
			for _, test := range []struct{ in, rule, subject, message string }{
				{"i", "native/hang", "take_ab", "a thread waits for a lock, and so does one in take_ba "},
				{"c", "native/hang", "await_signal", "while it waits"},
				{"s", "native/hang", "spin", "no end"},
				{"t", "native/hang", "lock_twice", "a thread waits for a lock"},
				{"m", "native/out-of-memory", "hold_many", "more than 128 MiB held"},
				{"M", "native/out-of-memory", "hold_mapped", "more than 128 MiB held"},
				{"o", "", "", ""},
			} {
				o := exec1(t, ex, teasel.Ask{Quick: test.rule == "native/hang"}, test.in)
				fs := native.Detect(&o)
				if test.rule == "" {
					if len(fs) > 0 || o.Exit != teasel.ExitOK {
						t.Errorf("%s: %v, %+v, want no finding", test.in, o.Exit, fs)
					}
					continue
				}
				if len(fs) != 1 || fs[0].Rule != test.rule || fs[0].Subject != test.subject || !strings.Contains(fs[0].Message, test.message) || !fs[0].Uncertain {
					t.Errorf("%s: %+v, want %s in %s with %q", test.in, fs, test.rule, test.subject, test.message)
				} else if strings.Contains(fs[0].Group, ":") {
					t.Errorf("%s: the group %q has a line, which differs from run to run", test.in, fs[0].Group)
				}
				if test.in == "i" && len(fs) == 1 && strings.Count(fs[0].Detail, ", which waits for a lock:\n") != 2 {
					t.Errorf("the stacks of the threads are missing: %s", fs[0].Detail)
				}
			}
		})
	}
}

// compiledBy returns a program that reads standard input, built by another compiler than teasel's.
func compiledBy(t *testing.T, compiler, source string) string {
	t.Helper()
	bin := filepath.Join(t.TempDir(), "program")
	cmd := exec.Command(needTool(t, compiler), "-g", "-O1", "-DMAIN", source, "-o", bin, "-lpthread")
	cmd.Env = append(cmd.Environ(), "AFL_QUIET=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", compiler, err, out)
	}
	return bin
}

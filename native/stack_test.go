package native_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestStackWithoutReport: a fault of which the program says nothing has a stack, in programs with and without instrumentation, debug
// information and frame pointers. It is the same whatever the input is besides.
func TestStackWithoutReport(t *testing.T) {
	t.Parallel()
	for name, target := range map[string]native.Target{
		"plain":          {Command: []string{aflBuild(t, "clang", "faults.c", "-O1", "-fstack-protector-strong")}, Mode: native.ModeBlackBox},
		"no information": {Command: []string{aflBuild(t, "gcc", "faults.c", "-g0", "-O2", "-fomit-frame-pointer", "-fstack-protector-strong")}, Mode: native.ModeBlackBox},
		"AFL":            {Command: []string{aflBuild(t, "afl-clang-fast", "faults.c", "-O1", "-fstack-protector-strong")}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			ex := start(t, target)
			for _, f := range []struct{ in, rule, group string }{
				{"n", "native/null-dereference", "null_write < main"},
				{"w", "native/invalid-access", "wild_read < main"},
				{"d", "native/arithmetic", "divide"},
				{"a", "native/abort", "give_up < main"},
				{"r", "native/stack-exhaustion", "deep"},
				{"j", "native/wild-jump", "jump < main"},
				{"J", "native/wild-jump", "jump < main"},
				{"c", "native/null-dereference", "copy < main"},
				{"s", "native/stack-buffer-overflow", "smash"},
				{"t", "native/null-dereference", "null_write < in_thread"},
				{"h", "native/null-dereference", "null_write < main"},
				{"H", "native/abort", "give_up < main"},
			} {
				groups := map[string]bool{}
				for _, more := range []string{"", "\x03abc", "\x07\xff\xff\xff\xff\xff\xff\xff\xff"} {
					o := exec1(t, ex, teasel.Ask{}, f.in+more)
					fs := native.Detect(&o)
					if len(fs) != 1 || fs[0].Rule != f.rule {
						t.Errorf("%q: %+v, want %s", f.in+more, fs, f.rule)
						continue
					}
					groups[fs[0].Group] = true
					if got := withoutPlaces(fs[0].Group); got != f.group && !strings.HasPrefix(f.group, got+" < ") {
						t.Errorf("%q: group %q, want %q", f.in+more, fs[0].Group, f.group)
					}
				}
				if len(groups) > 1 {
					t.Errorf("%q: one fault has the groups %v", f.in, groups)
				}
			}
		})
	}
}

// TestStackSometimes: a fault that only some runs show has its stack too.
func TestStackSometimes(t *testing.T) {
	t.Parallel()
	ex := start(t, native.Target{Command: []string{aflBuild(t, "clang", "faults.c", "-O1", "-fstack-protector-strong")}, Mode: native.ModeBlackBox, Dir: t.TempDir()})
	o := exec1(t, ex, teasel.Ask{}, "o")
	fs := native.Detect(&o)
	if len(fs) != 1 || withoutPlaces(fs[0].Group) != "null_write < main" || o.Runs != 3 {
		t.Errorf("%+v after %d runs", fs, o.Runs)
	}
}

// withoutPlaces returns a group without lines, and without the instruction that stands for one.
func withoutPlaces(group string) string {
	var names []string
	for _, call := range strings.Split(group, " < ") {
		name, _, _ := strings.Cut(strings.Fields(call)[0], ":")
		names = append(names, name)
	}
	return strings.Join(names, " < ")
}

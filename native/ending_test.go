package native_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestEndingsWithoutStack: crashes without a stack are different findings if the program's message, or the signal, differs. Those that a
// fault has ended have one.
func TestEndingsWithoutStack(t *testing.T) {
	black := start(t, native.Target{Command: []string{plainBuild(t, "ending.c")}, Mode: native.ModeBlackBox, Exits: []int{2, 101}})
	ours := open(t, native.Target{Command: []string{build(t, source(t, "ending.c"), "-g")}})
	ends := []struct{ in, rule, group, says string }{
		{"t", "native/signal", "SIGTERM", "SIGTERM"},
		{"p", "native/signal", "SIGPIPE", "SIGPIPE"},
		{"x", "native/signal", "SIGXCPU", "SIGXCPU"},
		{"k", "native/signal", "SIGKILL", "SIGKILL"},
		{"r", "native/signal", "SIGRTMIN+1", "SIGRTMIN+1"},
		{"a", "native/abort", "first:7", "Assertion"},
		{"b", "native/abort", "second:8", "Assertion"},
		{"1", "native/panic", "src/main.rs:3:5", "index out of bounds"},
		{"2", "native/panic", "src/main.rs:9:5", "index out of bounds"},
		{"3", "native/panic", "main.main:4", "index out of range"},
		{"4", "native/panic", "main.main:8", "index out of range"},
	}
	for name, ex := range map[string]teasel.Executor[[]byte]{"black box": black, "runtime": ours} {
		ids := map[string]string{}
		for _, end := range ends {
			if name != "black box" && end.rule == "native/panic" {
				continue
			}
			o := exec1(t, ex, teasel.Ask{}, end.in)
			fs := native.Detect(&o)
			if len(fs) != 1 || fs[0].Rule != end.rule || !strings.Contains(fs[0].Message, end.says) {
				t.Errorf("%s: %q: %+v, want %s that says %s", name, end.in, fs, end.rule, end.says)
				continue
			}
			if grouped := strings.HasSuffix(fs[0].Group, end.group) || strings.HasPrefix(fs[0].Group, end.group); !grouped {
				t.Errorf("%s: %q: group %q, want %q", name, end.in, fs[0].Group, end.group)
			}
			if other := ids[fs[0].ID()]; other != "" {
				t.Errorf("%s: %q and %q are one finding", name, end.in, other)
			}
			ids[fs[0].ID()] = end.in
		}
	}
}

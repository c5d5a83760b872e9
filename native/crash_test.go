package native_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/native"
)

func source(t testing.TB, name string) string {
	t.Helper()
	b, err := os.ReadFile("testdata/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// planted are the bugs of planted.c by the byte that triggers them.
var planted = []struct {
	byte      string
	rule      string
	severity  teasel.Severity
	function  string
	undefined string // its rule under UndefinedBehaviorSanitizer; "": the same as without
	onlyUnder string // sanitizer without which it is not detected; "": none
}{
	{"n", "native/null-dereference", teasel.Medium, "null_read", "", ""},
	{"w", "native/invalid-access", teasel.Critical, "wild_write", "", ""},
	{"j", "native/wild-jump", teasel.Critical, "wild_jump", "", ""},
	{"d", "native/arithmetic", teasel.Medium, "divide", "native/undefined-behaviour", ""},
	{"t", "native/trap", teasel.Medium, "trap", "", ""},
	{"b", "native/trap", teasel.Medium, "breakpoint", "", ""},
	{"a", "native/abort", teasel.Medium, "assertion", "", ""},
	{"e", "native/exit", teasel.Low, "", "", ""},
	{"h", "native/hang", teasel.Medium, "hang", "", ""},
	{"2", "native/double-free", teasel.Critical, "double_free", "", ""},
	{"r", "native/stack-exhaustion", teasel.Medium, "recurse", "", ""},
	{"m", "native/out-of-memory", teasel.Medium, "memory", "", ""},
	{"H", "native/heap-buffer-overflow", teasel.Critical, "heap_write", "", "address"},
	{"S", "native/stack-buffer-overflow", teasel.Critical, "stack_write", "", "address"},
	{"G", "native/global-buffer-overflow", teasel.High, "global_read", "", "address"},
	{"U", "native/use-after-free", teasel.Critical, "use_after_free", "", "address"},
	{"O", "native/undefined-behaviour", teasel.Medium, "overflow", "", "undefined"},
}

// TestComparisonCrashes: the stack of a crash in a comparison function of the C library has the frames of the program, and none of
// the function's wrapper.
func TestComparisonCrashes(t *testing.T) {
	for name, flags := range map[string][]string{"plain": {"-g"}, "address": {"-g", "-fsanitize=address"}} {
		ex := open(t, native.Target{Command: []string{build(t, `#include <stddef.h>
#include <stdint.h>
#include <string.h>
__attribute__((noinline)) static int look(const char *s) { return strcmp(s, "abc") == 7; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return look(n ? 0 : "x"); }`, flags...)}})
		for _, ask := range []teasel.Ask{{}, {Operands: true}} {
			c, _ := run(t, ex, ask, "a").Evidence.(*native.Crash)
			if c == nil {
				t.Fatalf("%s: no crash", name)
			}
			var names []string
			for _, f := range c.Stack {
				names = append(names, f.Function)
			}
			if !slices.Contains(names, "look") || slices.ContainsFunc(names, func(n string) bool { return strings.HasPrefix(n, "__wrap_") }) {
				t.Errorf("%s: %q", name, names)
			}
		}
	}
}

// TestCrashes: every class of crash is reported with its rule, severity and function, in every build, and nothing in the clean twin.
func TestCrashes(t *testing.T) {
	for _, b := range []struct {
		name  string
		flags []string
	}{
		{"plain", nil},
		{"address", []string{"-fsanitize=address", "-DSANITIZED"}},
		{"undefined", []string{"-fsanitize=undefined", "-DSANITIZED"}},
	} {
		t.Run(b.name, func(t *testing.T) {
			t.Parallel()
			src := source(t, "planted.c")
			target := native.Target{Command: []string{build(t, src, append(b.flags, "-O1")...)}, Timeout: 300 * time.Millisecond, Memory: 128 << 20}
			clean := target
			clean.Command = []string{build(t, src, append(b.flags, "-O1", "-DCLEAN")...)}
			bad, good := open(t, target), open(t, clean)
			for _, p := range planted {
				if p.onlyUnder != "" && p.onlyUnder != b.name {
					continue
				}
				rule := p.rule
				if b.name == "undefined" && p.undefined != "" {
					rule = p.undefined
				}
				for _, a := range []teasel.Ask{{}, {Operands: true}} {
					in := p.byte + "x.."
					if o := run(t, good, a, in); o.Exit != teasel.ExitOK {
						t.Errorf("%s: the twin ended with %v: %s", in, o.Exit, o.Detail)
					}
					check(t, run(t, bad, a, in), in, rule, p.function, p.severity)
				}
			}
		})
	}
}

func check(t *testing.T, o teasel.Observation, in, rule, function string, severity teasel.Severity) {
	t.Helper()
	if o.Exit != teasel.ExitCrash && o.Exit != teasel.ExitHang {
		t.Errorf("%s: exit %v", in, o.Exit)
		return
	}
	fs := native.Detect(&o)
	if len(fs) != 1 {
		t.Fatalf("%s: %d findings", in, len(fs))
	}
	f := fs[0]
	first, _, _ := strings.Cut(f.Group, " < ")
	if f.Rule != rule || f.Severity != severity || function != "" && !strings.HasPrefix(first+":", function+":") || function == "" && f.Group != "" && rule != "native/exit" {
		t.Errorf("%s: %v %s in %q, want %v %s in %q\n%s\n%s", in, f.Severity, f.Rule, f.Group, severity, rule, function, f.Message, f.Detail)
	}
}

// TestPathWithSpaces: the path of a source file may contain spaces and parentheses.
func TestPathWithSpaces(t *testing.T) {
	for _, flags := range [][]string{nil, {"-fsanitize=address", "-DSANITIZED"}} {
		dir := filepath.Join(t.TempDir(), "my code (copy)")
		if err := os.Mkdir(dir, 0o755); err != nil {
			t.Fatal(err)
		}
		src, bin := filepath.Join(dir, "target.c"), filepath.Join(dir, "target")
		write(t, src, source(t, "planted.c"))
		compile(t, clang.Compiler{}, append([]string{src, "-o", bin, "-O1"}, flags...)...)
		o := run(t, open(t, native.Target{Command: []string{bin}}), teasel.Ask{}, "wx..")
		check(t, o, "wx..", "native/invalid-access", "wild_write", teasel.Critical)
		if c, ok := o.Evidence.(*native.Crash); !ok || len(c.Stack) == 0 || c.Stack[0].File != src {
			t.Errorf("%v: %+v, want the file %s", flags, o.Evidence, src)
		}
	}
}

// TestGroups: the group of a finding consists of the target's own functions, without those of libraries.
func TestGroups(t *testing.T) {
	lib := func(module, function string) native.Frame { return native.Frame{Module: module, Function: function} }
	bare := func(function string) native.Frame { return lib("/tmp/target", function) }
	at := func(function, file string, line int) native.Frame {
		return native.Frame{Module: "/tmp/target", Function: function, File: file, Line: line}
	}
	main := at("main", "/src/main.cc", 3)
	for _, test := range []struct {
		name  string
		stack []native.Frame
		want  string
	}{
		{"abort", []native.Frame{bare("raise"), bare("abort"), main}, "main:3"},
		{"named like abort", []native.Frame{bare("abort"), at("abort_request", "/src/a.c", 10), main}, "abort_request:10 < main"},
		{"named like abort, elsewhere", []native.Frame{bare("abort"), at("abort_request", "/src/a.c", 20), main}, "abort_request:20 < main"},
		{"named like raise", []native.Frame{bare("raise"), at("raise_error", "/src/a.c", 7), main}, "raise_error:7 < main"},
		{"namespace core", []native.Frame{at("core::parse", "/src/core.cc", 5), main}, "core::parse:5 < main"},
		{"namespace alloc", []native.Frame{at("alloc::Pool::get", "/src/alloc/pool.cc", 6), main}, "alloc::Pool::get:6 < main"},
		{"Rust's crates", []native.Frame{bare("core::panicking::panic_fmt"), at("core::slice::index", "/rustc/0a1b/library/core/src/slice/index.rs", 8),
			at("<alloc::vec::Vec<T> as core::ops::index::Index<I>>::index", "/usr/lib/rustlib/src/rust/library/alloc/src/vec/mod.rs", 9), main}, "main:3"},
		{"a trait of the target's for a type of Rust's", []native.Frame{at("<alloc::boxed::Box<T> as record::Read>::read", "/src/lib.rs", 4), main},
			"<alloc::boxed::Box<T> as record::Read>::read:4 < main"},
		{"libc++", []native.Frame{lib("/usr/lib/libc++abi.so.1", "demangling_terminate_handler()"), lib("/usr/lib/libc++.so.1", "x"), lib("/usr/lib/libunwind.so.1", "y"), main}, "main:3"},
		{"exceptions", []native.Frame{bare("__cxxabiv1::failed_throw"), bare("__cxa_throw"), bare("_Unwind_RaiseException"), main}, "main:3"},
		{"a static C library", []native.Frame{bare("__pthread_kill_implementation"), bare("raise"), bare("abort"), bare("__libc_message"), bare("malloc_printerr"),
			bare("_int_free"), bare("free"), main}, "main:3"},
		{"a static assertion", []native.Frame{bare("raise"), bare("abort"), bare("__assert_fail_base"), bare("__assert_fail"), main}, "main:3"},
	} {
		fs := native.Detect(&teasel.Observation{Evidence: &native.Crash{Rule: "native/abort", Stack: test.stack}})
		if len(fs) != 1 || fs[0].Group != test.want {
			t.Errorf("%s: %+v, want the group %q", test.name, fs, test.want)
		}
	}
}

// TestLeak: a leak is reported for the run that causes it, with the full stack of the allocation; memory that stays in use is not
// reported.
func TestLeak(t *testing.T) {
	const text = `#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static char *kept[4096];
static int used;
__attribute__((noinline)) static char *grab(size_t n) { return malloc(n); }
__attribute__((noinline)) static void lose(void) { char *volatile p = grab(33); p[0] = 1; p = 0; }
__attribute__((noinline)) static void other(void) { char *volatile p = grab(5); p[0] = 1; p = 0; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n == 1 && d[0] == 'l') lose();
	if (n == 1 && d[0] == 'o') other();
	if (n == 1 && d[0] == 'k') kept[used++ % 4096] = grab(10);
	if (n == 1 && d[0] == 'f') free(grab(3));
	return 0;
}`
	for _, sanitizer := range []string{"address", "leak"} {
		ex := open(t, native.Target{Command: []string{build(t, text, "-g", "-O1", "-fno-omit-frame-pointer", "-fsanitize=fuzzer,"+sanitizer)}})
		for _, test := range []struct{ in, function string }{{"k", ""}, {"f", ""}, {"l", "lose"}, {"k", ""}, {"o", "other"}, {"f", ""}, {"l", "lose"}} {
			o := run(t, ex, teasel.Ask{}, test.in)
			fs := native.Detect(&o)
			if test.function == "" {
				if o.Exit != teasel.ExitOK {
					t.Errorf("%s: %s, without a leak, ended with %v: %s", sanitizer, test.in, o.Exit, o.Detail)
				}
				continue
			}
			if len(fs) != 1 || fs[0].Rule != "native/leak" || !strings.Contains(fs[0].Group, test.function) {
				t.Errorf("%s: %s: %+v, want a leak in %s", sanitizer, test.in, fs, test.function)
			}
		}
	}
	t.Setenv("ASAN_OPTIONS", "detect_leaks=0")
	ex := open(t, native.Target{Command: []string{build(t, text, "-fsanitize=fuzzer,address")}})
	if o := run(t, ex, teasel.Ask{}, "l"); o.Exit != teasel.ExitOK {
		t.Errorf("with detection of leaks switched off: %v, %s", o.Exit, o.Detail)
	}
}

// TestLeakTime: the time of the second run that a check for leaks makes does not count towards the limit.
func TestLeakTime(t *testing.T) {
	ex := open(t, native.Target{Timeout: time.Second, Command: []string{build(t, `#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
static char *kept[64];
static int used;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	(void)d, (void)n;
	usleep(600000);
	kept[used++ % 64] = malloc(10);
	return 0;
}`, "-fsanitize=address")}})
	if o := run(t, ex, teasel.Ask{}, "a"); o.Exit != teasel.ExitOK {
		t.Errorf("%v: %s", o.Exit, o.Detail)
	}
}

// TestFrameString: the text of a frame has everything that is known.
func TestFrameString(t *testing.T) {
	for want, f := range map[string]native.Frame{
		"f a.c:3":      {Function: "f", File: "a.c", Line: 3},
		"f a.c:3:7":    {Function: "f", File: "a.c", Line: 3, Column: 7},
		"f a.c":        {Function: "f", File: "a.c"},
		"f":            {Function: "f", Module: "/lib/libf.so", Offset: 0x10},
		"libf.so+0x10": {Module: "/lib/libf.so", Offset: 0x10},
	} {
		if got := f.String(); got != want {
			t.Errorf("%q, want %q", got, want)
		}
	}
}

package native_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestBreakpoint: a breakpoint instruction ends a program as it does by hand, and the finding has its line, not the next one.
func TestBreakpoint(t *testing.T) {
	ex := open(t, native.Target{Command: []string{build(t, `#include <unistd.h>
int main(void) {
	char c = 0;
	if (read(0, &c, 1) == 1 && c == 'b')
		__builtin_debugtrap();
	return 0;
}`, "-g", "-O1")}})
	for range 2 {
		if o := run(t, ex, teasel.Ask{}, "a"); o.Exit != teasel.ExitOK {
			t.Errorf("without a breakpoint: %v, %s", o.Exit, o.Detail)
		}
		o := run(t, ex, teasel.Ask{}, "b")
		if fs := native.Detect(&o); len(fs) != 1 || fs[0].Rule != "native/trap" || fs[0].Group != "main:5" {
			t.Errorf("%v, %+v, want a trap in main:5", o.Exit, fs)
		}
	}
}

// TestOwnHandler: a target that faults on purpose, and handles the signal, continues.
func TestOwnHandler(t *testing.T) {
	const handler = `#include <setjmp.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
static sigjmp_buf back;
static volatile int *volatile guarded = (volatile int *)8;
static void on_fault(int signal) { (void)signal; siglongjmp(back, 1); }
static void prepare(void) { sigaction(SIGSEGV, &(struct sigaction){.sa_handler = on_fault}, 0); }
static void probe(void) { if (!sigsetjmp(back, 1)) *guarded = 1; }
`
	const harness = handler + `int LLVMFuzzerInitialize(int *argc, char ***argv) { (void)argc, (void)argv; prepare(); return 0; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n && d[0] == 'f') probe();
	if (n && d[0] == 'a') abort();
	return 0;
}`
	const program = handler + `__attribute__((constructor)) static void begin(void) { prepare(); }
int main(void) {
	char c = 0;
	if (read(0, &c, 1) == 1 && c == 'f') probe();
	if (c == 'a') abort();
	return 0;
}`
	for _, test := range []struct {
		name, source string
		flags        []string
	}{
		{"harness", harness, nil}, {"harness with a sanitizer", harness, []string{"-fsanitize=address"}}, {"program", program, nil},
	} {
		ex := open(t, native.Target{Command: []string{build(t, test.source, test.flags...)}})
		for _, in := range []string{"f", "a", "f", "x"} {
			want := teasel.ExitOK
			if in == "a" {
				want = teasel.ExitCrash
			}
			if o := run(t, ex, teasel.Ask{}, in); o.Exit != want {
				t.Errorf("%s: %q: %v, want %v: %s", test.name, in, o.Exit, want, o.Detail)
			}
		}
	}
}

// handlers is a target that installs handlers of its own, which end the process by END.
const handlers = `#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
static jmp_buf back;
static int installed, recovers, mends;
static char page[4096] __attribute__((aligned(4096)));
static volatile int *volatile nowhere;
static volatile int sink;
static char stack[65536];
static void ends(int s) {
	(void)s;
	if (recovers) longjmp(back, 1);
	if (mends) { mprotect(page, 4096, PROT_READ | PROT_WRITE); return; }
	END(4);
}
static void info(int s, siginfo_t *i, void *u) { (void)i, (void)u; ends(s); }
static void install(void) {
	if (installed++) return;
	sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, 0);
	sigaction(SIGSEGV, &(struct sigaction){.sa_sigaction = info, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER}, 0);
	struct sigaction old;
	if (sigaction(SIGSEGV, 0, &old) || old.sa_sigaction != info) abort();
	if (signal(SIGABRT, ends) == ends || signal(SIGABRT, ends) != ends) _exit(9);
	signal(SIGFPE, ends);
}
static int deep(volatile int n) { volatile char b[512]; b[n & 511] = 1; return deep(n + 1) + b[3]; }
static void work(char c) {
	recovers = c == 'j', mends = c == 'm';
	if (c == 'n') sink = *nowhere; // line 35
	if (c == 'a') abort();
	if (c == 'd') sink = 1 / sink;
	if (c == 's') sink = deep(1);
	if (c == 'j' && !setjmp(back)) sink = *nowhere;
	if (c == 'm') {
		mprotect(page, 4096, PROT_READ);
		*(volatile char *)page = 1;
	}
	if (c == 'k') raise(SIGFPE);
	if (c == 'f') {
		if (!fork()) sink = *nowhere;
		wait(0);
	}
	recovers = mends = 0;
}
`

// TestHandlerThatEnds: a fault is a crash with its rule and line, even if a handler that the target has installed at any time ends the process
// with a status. A handler that returns or jumps away has handled it, and a signal that was sent is no fault.
func TestHandlerThatEnds(t *testing.T) {
	t.Parallel()
	const program = `int main(void) { char c = 0; install(); if (read(0, &c, 1) == 1) work(c); return c != 'x'; }`
	const constructor = `__attribute__((constructor)) static void begin(void) { install(); }` + program
	const harness = `int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { install(); if (n) work(d[0]); return 0; }`
	const initialise = `int LLVMFuzzerInitialize(int *argc, char ***argv) { (void)argc, (void)argv; install(); return 0; }` + harness
	for _, test := range []struct {
		name, source string
		flags        []string
	}{
		{"program that calls _exit", program, []string{"-DEND=_exit"}},
		{"program that calls exit", program, []string{"-DEND=exit"}},
		{"program of C99", program, []string{"-DEND=_exit", "-std=c99", "-D_XOPEN_SOURCE=700"}},
		{"program that installs them before main", constructor, []string{"-DEND=_exit"}},
		{"program with a sanitizer", program, []string{"-DEND=_exit", "-fsanitize=address"}},
		{"harness", harness, []string{"-DEND=exit", "-fsanitize=fuzzer"}},
		{"harness with a sanitizer", harness, []string{"-DEND=_exit", "-fsanitize=fuzzer,address"}},
		{"harness that initialises", initialise, []string{"-DEND=_exit", "-fsanitize=fuzzer"}},
	} {
		ex := open(t, native.Target{Command: []string{build(t, handlers+test.source, append(test.flags, "-g", "-O0")...)}})
		for _, in := range []struct{ input, rule, group string }{
			{"n", "native/null-dereference", "work:35"}, {"a", "native/abort", "work:36"}, {"d", "native/arithmetic", "work:37"},
			{"s", "native/stack-exhaustion", ""}, {"j", "", ""}, {"m", "", ""}, {"x", "", ""}, {"n", "native/null-dereference", "work:35"},
		} {
			o := run(t, ex, teasel.Ask{}, in.input)
			fs := native.Detect(&o)
			if in.rule == "" && len(fs) > 0 {
				t.Errorf("%s: %q: %v, %+v, want nothing", test.name, in.input, o.Exit, fs)
			}
			if in.rule != "" && (len(fs) != 1 || fs[0].Rule != in.rule || !strings.HasPrefix(fs[0].Group, in.group)) {
				t.Errorf("%s: %q: %v, %+v, want %s in %s", test.name, in.input, o.Exit, fs, in.rule, in.group)
			}
		}
		for _, in := range []string{"k", "f"} {
			o := run(t, ex, teasel.Ask{}, in)
			for _, f := range native.Detect(&o) {
				if f.Rule != "native/exit" { // of a harness that exits
					t.Errorf("%s: %q: %+v, want no fault", test.name, in, f)
				}
			}
		}
	}
}

// TestHandlerThatDies: a fault is named by its place, and not by what the target's handler of the signal does to end the process.
func TestHandlerThatDies(t *testing.T) {
	t.Parallel()
	const program = `int main(void) { char c = 0; install(); if (read(0, &c, 1) == 1) work(c); return 0; }`
	for _, test := range []struct{ name, end, flag string }{
		{"aborts", "abort()", "-g"},
		{"raises the signal again", "signal(s, SIG_DFL), raise(s)", "-g"},
		{"restores the default and returns", "signal(s, SIG_DFL)", "-g"},
		{"returns, and was installed for one signal", "signal(s, SIG_DFL)", "-std=c99"},
		{"aborts, with a sanitizer", "abort()", "-fsanitize=address"},
	} {
		ex := open(t, native.Target{Command: []string{build(t, handlers+program, "-DEND(status)="+test.end, "-g", "-O0", "-D_XOPEN_SOURCE=700", test.flag)}})
		for _, in := range []struct{ input, rule, group string }{
			{"n", "native/null-dereference", "work:35"}, {"d", "native/arithmetic", "work:37"}, {"j", "", ""}, {"m", "", ""}, {"s", "native/stack-exhaustion", "deep"},
		} {
			o := run(t, ex, teasel.Ask{}, in.input)
			fs := native.Detect(&o)
			if (in.rule == "") != (len(fs) == 0) || len(fs) > 0 && (fs[0].Rule != in.rule || !strings.HasPrefix(fs[0].Group, in.group)) {
				t.Errorf("a handler that %s: %q: %v, %+v, want %s in %s", test.name, in.input, o.Exit, fs, in.rule, in.group)
			}
		}
	}
}

// TestDefaultHandlers: a program that first sets every signal to its default, as some do that were started by others, has faults with lines.
func TestDefaultHandlers(t *testing.T) {
	t.Parallel()
	for _, set := range []string{"signal(i, SIG_DFL)", "sigaction(i, &(struct sigaction){.sa_handler = SIG_DFL}, 0)"} {
		ex := open(t, native.Target{Command: []string{build(t, `#include <signal.h>
#include <stddef.h>
#include <unistd.h>
int main(void) {
	char c = 0;
	for (int i = 1; i < 32; i++) `+set+`;
	if (read(0, &c, 1) == 1 && c == 'n') *(volatile int *)0 = 1;
	return 0;
}`, "-g", "-O1")}})
		for in, want := range map[string]string{"n": "main:7", "x": ""} {
			o := run(t, ex, teasel.Ask{}, in)
			fs := native.Detect(&o)
			if (want == "") != (len(fs) == 0) || len(fs) > 0 && (fs[0].Rule != "native/null-dereference" || fs[0].Group != want) {
				t.Errorf("%s: %q: %v, %+v, want a null dereference in %q", set, in, o.Exit, fs, want)
			}
		}
	}
}

package native_test

import (
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

package native_test

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestUndefinedSeverity: invalid memory accesses that UndefinedBehaviorSanitizer reports first have the severity that they would
// have with AddressSanitizer.
func TestUndefinedSeverity(t *testing.T) {
	const faults = `#include <stdint.h>
#include <stddef.h>
#include <stdlib.h>
static volatile int sink;
struct wide { int a[8]; };
__attribute__((noinline)) static void put(int i) { volatile char b[8]; b[i] = 1; sink = b[0]; }
__attribute__((noinline)) static void add(int i) { sink = i + 2147483647; }
__attribute__((noinline)) static void load(int *volatile p) { sink = *p; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	static char text[16];
	if (n && d[0] == 'i') put(20);
	if (n && d[0] == 'o') add(1);
	if (n && d[0] == 'n') load(0);
	if (n && d[0] == 'm') load((int *)(text + 1));
	if (n && d[0] == 'w') load((int *)0x4141414141414141);
	return 0;
}`
	for _, sanitizer := range []string{"address,undefined", "undefined"} {
		ex := open(t, native.Target{Command: []string{build(t, faults, "-g", "-O1", "-fsanitize=fuzzer,"+sanitizer)}})
		for in, want := range map[string]teasel.Severity{"i": teasel.High, "o": teasel.Medium, "n": teasel.Medium, "m": teasel.Medium, "w": teasel.High} {
			o := run(t, ex, teasel.Ask{}, in)
			if fs := native.Detect(&o); len(fs) != 1 || fs[0].Rule != native.RuleUndefined || fs[0].Severity != want {
				t.Errorf("%s: %q: %+v, want severity %v", sanitizer, in, fs, want)
			}
		}
	}
}

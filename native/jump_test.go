package native_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestJumpsUnderSanitizers: jumps to invalid addresses are distinguished by the functions that jump, also if the sanitizer faults
// while it prints the stack.
func TestJumpsUnderSanitizers(t *testing.T) {
	const jumping = `#include <stdint.h>
#include <stddef.h>
static volatile int sink;
static int *volatile nowhere = (int *)0x4141414141414141;
__attribute__((noinline)) static void one(uintptr_t a) { void (*volatile f)(void) = (void (*)(void))a; f(); sink++; }
__attribute__((noinline)) static void two(uintptr_t a) { void (*volatile f)(void) = (void (*)(void))a; f(); sink--; }
__attribute__((noinline)) static void look(void) { sink = *nowhere; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n && d[0] == '1') one(0x4141414141);
	if (n && d[0] == '2') two(0x123456789);
	if (n && d[0] == 'r') look();
	return 0;
}`
	for _, sanitizer := range []string{"address", "memory", "undefined"} {
		ex := open(t, native.Target{Command: []string{build(t, jumping, "-g", "-O1", "-fsanitize=fuzzer,"+sanitizer)}})
		for in, want := range map[string][2]string{"1": {"native/wild-jump", "one:5 < LLVMFuzzerTestOneInput"}, "2": {"native/wild-jump", "two:6 < LLVMFuzzerTestOneInput"},
			"r": {"native/invalid-access", "look:7 < LLVMFuzzerTestOneInput"}} {
			if sanitizer == "undefined" && in == "r" {
				continue // this sanitizer reports it as misaligned
			}
			o := run(t, ex, teasel.Ask{}, in)
			fs := native.Detect(&o)
			if len(fs) != 1 || fs[0].Rule != want[0] || fs[0].Group != want[1] || strings.Contains(fs[0].Message, "of 0x0") || strings.Contains(fs[0].Message, "0x000000000000") {
				t.Errorf("%s: %q: %+v, want %q", sanitizer, in, fs, want)
			}
		}
	}
}

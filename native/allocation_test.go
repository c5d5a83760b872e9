package native_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestLargeAllocation: an excessive allocation has the program's own functions as its group, however many frames were kept.
func TestLargeAllocation(t *testing.T) {
	const allocating = `#include <stdint.h>
#include <stdlib.h>
static char *volatile kept;
__attribute__((noinline)) static void *xmalloc(size_t n) { void *p = malloc(n); if (!p) exit(0); return p; }
__attribute__((noinline)) static void parse_header(size_t n) { kept = xmalloc(n); free(kept); }
__attribute__((noinline)) static void parse_body(size_t n) { kept = xmalloc(n); free(kept); }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n && d[0] == 'h') parse_header(48 << 20);
	if (n && d[0] == 'b') parse_body(64 << 20);
	return 0;
}`
	ex := open(t, native.Target{Command: []string{build(t, allocating, "-g", "-O1", "-fsanitize=fuzzer,address")}, Memory: 32 << 20})
	for in, want := range map[string][2]string{"h": {"xmalloc:4 < parse_header < LLVMFuzzerTestOneInput", "50331648 bytes"}, "b": {"xmalloc:4 < parse_body < LLVMFuzzerTestOneInput", "67108864 bytes"}} {
		for _, quick := range []bool{true, false} {
			o := run(t, ex, teasel.Ask{Quick: quick}, in)
			fs := native.Detect(&o)
			if len(fs) != 1 || fs[0].Rule != "native/out-of-memory" || fs[0].Subject != "xmalloc" || fs[0].Group != want[0] || !strings.Contains(fs[0].Message, want[1]) {
				t.Errorf("%q: %+v, want %q", in, fs, want)
			} else if c := o.Evidence.(*native.Crash); c.Stack[0].Function != "xmalloc" {
				t.Errorf("%q: the stack begins with %v", in, c.Stack[0])
			}
		}
	}
}

// TestAllocatorOutOfMemory: an allocation that fails is the same finding in a quick run, without stacks of allocations, and in a
// run that confirms it.
func TestAllocatorOutOfMemory(t *testing.T) {
	const allocating = `#include <stdint.h>
#include <stdlib.h>
static char *volatile kept;
void *_Znwm(size_t);
__attribute__((noinline)) static void grow(size_t n) { kept = _Znwm(n); }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n && d[0] == 'j') grow((size_t)1 << 45);
	return 0;
}`
	needTool(t, "clang++")
	ex := open(t, native.Target{Command: []string{build(t, allocating, "-g", "-O1", "-fsanitize=fuzzer,address", "-lstdc++", "-fsanitize-link-c++-runtime")}})
	for _, quick := range []bool{true, false} {
		o := run(t, ex, teasel.Ask{Quick: quick}, "j")
		if fs := native.Detect(&o); len(fs) != 1 || fs[0].Rule != "native/out-of-memory" || fs[0].Group != "grow:5 < LLVMFuzzerTestOneInput" {
			t.Errorf("quick %v: %+v, want it in grow", quick, fs)
		}
	}
}

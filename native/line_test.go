package native_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestLines: the line is known of functions that have sections of their own, that end in a call that never returns, and of calls that
// the compiler could merge.
func TestLines(t *testing.T) {
	const text = `#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
__attribute__((noinline, noreturn)) static void last(void) { abort(); } //@a
__attribute__((noinline)) int next(int x) { return x * 3 + 1; }
__attribute__((noinline, noreturn)) static void other(int x) { exit(*(volatile int *)(long)(x & 0)); } //@b
__attribute__((noinline)) int after(int x) { return x * 5 + 1; }
__attribute__((noinline, section(".text.unlikely"))) static int rare(volatile int *p) { return *p; } //@c
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n < 1) return 0;
	switch (d[0]) {
	case 'a': last();
	case 'b': other(n);
	case 'c': return rare((int *)(n & 0)) & 0;
	case 'd': abort(); //@d
	case 'e': abort(); //@e
	case 'f': *(volatile char *)0 = 1; break; //@f
	case 'g': *(volatile char *)0 = 1; break; //@g
	}
	return next(n) + after(n) > 1 << 30;
}
`
	for _, flags := range []string{"-O0", "-O1", "-O2", "-Os -no-pie", "-O2 -static", "-O1 -fsanitize=address", "-O2 -gsplit-dwarf"} {
		t.Run(flags, func(t *testing.T) {
			ex := open(t, native.Target{Command: []string{build(t, text, strings.Fields("-g -fsanitize=fuzzer "+flags)...)}})
			for i, l := range strings.Split(text, "\n") {
				_, mark, ok := strings.Cut(l, "//@")
				if !ok {
					continue
				}
				o := run(t, ex, teasel.Ask{}, mark)
				if place := fmt.Sprintf("target.c:%d", i+1); !strings.Contains(o.Detail, place) {
					t.Errorf("%s: %q does not have %s", mark, o.Detail, place)
				}
			}
		})
	}
}

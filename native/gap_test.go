package native_test

import (
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/native"
)

// above is a harness that writes as many words above its array as its input says, and saves all registers of its caller.
const above = `#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static void put(volatile uintptr_t *a, unsigned i) { a[i] = 1; } // line 6
static jmp_buf back;
__attribute__((no_sanitize("address"))) static void at_end(void) { // as in a library without AddressSanitizer
	char a[1 << 15];
	memset(a, 1, sizeof a);
	__asm__ volatile("" ::"r"(a) : "memory");
}
__attribute__((constructor)) static void at_start(void) { atexit(at_end); }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	volatile uintptr_t a[4] = {0};
#ifdef __x86_64__
	__asm__ volatile("" ::: "rbx", "r12", "r13", "r14", "r15");
#endif
	if (n == 1) put(a, d[0]);
	if (n == 2 && !setjmp(back)) longjmp(back, 1);
	return (int)a[0];
}
`

// wordFiles returns files with an input that writes to the array and one that writes above the frame.
func wordFiles(t *testing.T) [2]string {
	t.Helper()
	dir := t.TempDir()
	files := [...]string{filepath.Join(dir, "within"), filepath.Join(dir, "above")}
	write(t, files[0], "\x00")
	write(t, files[1], "\x20")
	return files
}

// TestStackGap: a harness that writes above its frame is reported for that write, and does not make its caller misbehave.
func TestStackGap(t *testing.T) {
	const smashed = "stack smashing detected"
	bin := build(t, above, "-fsanitize=fuzzer", "-fno-stack-protector")
	ex := open(t, native.Target{Command: []string{bin}})
	reported, ids := 0, map[string]bool{}
	for i := range 256 {
		o := run(t, ex, teasel.Ask{}, string([]byte{byte(i)}))
		c, _ := o.Evidence.(*native.Crash)
		switch {
		case i < 4 || i < 16 && c == nil: // the array itself, or unused bytes of the frame
			if c != nil {
				t.Errorf("word %d: %v", i, c)
			}
		case c != nil && c.Rule == "native/stack-buffer-overflow" && strings.Contains(c.Message, smashed):
			reported++
			ids[native.Detect(&o)[0].ID()] = true
		case i > 40: // beyond the part of the gap that is checked
			if c != nil {
				t.Errorf("word %d: %v", i, c)
			}
		default:
			t.Errorf("word %d: %v, %v", i, o.Exit, c)
		}
	}
	if runtime.GOARCH == "amd64" && reported < 32 || len(ids) != 1 {
		t.Errorf("%d words above the frame were reported, as %d findings", reported, len(ids))
	}
	files := wordFiles(t)
	if status, said := byHand(t, nil, bin, files[1]); status == 0 || !strings.Contains(said, smashed) {
		t.Errorf("by hand: %d\n%s", status, said)
	}
	if status, said := byHand(t, nil, bin, files[0]); status != 0 {
		t.Errorf("by hand: %d\n%s", status, said)
	}
}

// TestStackGapAddress: AddressSanitizer reports the write itself, whatever its address is.
func TestStackGapAddress(t *testing.T) {
	bin := build(t, above, "-fsanitize=fuzzer,address")
	ex := open(t, native.Target{Command: []string{bin}})
	for i := range 256 {
		if o := run(t, ex, teasel.Ask{}, "jj"); o.Exit != teasel.ExitOK { // unpoisons the whole stack
			t.Fatal(o.Evidence)
		}
		o := run(t, ex, teasel.Ask{}, string([]byte{byte(i)}))
		c, ok := o.Evidence.(*native.Crash)
		switch {
		case i < 4:
			if ok {
				t.Errorf("word %d: %v", i, c)
			}
		case i < 24: // redzones, saved registers, and unused bytes of the frame
			if ok && c.Rule != "native/stack-buffer-overflow" {
				t.Errorf("word %d: %v", i, c)
			}
		case !ok || c.Rule != "native/stack-buffer-overflow" || len(c.Stack) == 0 || c.Stack[0].Function != "put" || c.Stack[0].Line != 6:
			t.Errorf("word %d: %v, %v", i, o.Exit, c)
		}
	}
	files := wordFiles(t)
	if status, said := byHand(t, nil, bin, files[1]); status == 0 || !strings.Contains(said, "stack-buffer-overflow") {
		t.Errorf("by hand: %d\n%s", status, said)
	}
	if status, said := byHand(t, nil, bin, files[0]); status != 0 { // the gap is no longer poisoned after the run
		t.Errorf("by hand: %d\n%s", status, said)
	}
}

// TestStackProtector: an overflow of an array on the stack is reported in the function that owns the array, unless the build
// switches stack protection off.
func TestStackProtector(t *testing.T) {
	const copying = `#include <stddef.h>
#include <stdint.h>
#include <string.h>
__attribute__((noinline)) static int copy(const uint8_t *d, size_t n) {
	char b[16];
	memcpy(b, d, n);
	__asm__ volatile("" ::"r"(b) : "memory");
	return b[0];
}
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return copy(d, n) == 'x' ? -1 : 0; }
`
	ex := open(t, native.Target{Command: []string{build(t, copying, "-fsanitize=fuzzer")}})
	ids := map[string]bool{}
	for _, n := range []int{25, 32, 48, 400} {
		o := run(t, ex, teasel.Ask{}, strings.Repeat("\x01", n))
		fs := native.Detect(&o)
		if len(fs) != 1 || fs[0].Rule != "native/stack-buffer-overflow" || fs[0].Subject != "copy" {
			t.Errorf("%d bytes: %+v", n, fs)
			continue
		}
		ids[fs[0].ID()] = true
	}
	if len(ids) != 1 {
		t.Errorf("%d findings of one overflow", len(ids))
	}
	for _, c := range []struct {
		flags []string
		added bool
	}{{[]string{"a.c"}, true}, {[]string{"a.c", "-fno-stack-protector"}, false}, {[]string{"a.c", "-fstack-protector-all"}, false}, {[]string{"a.c", "-fsanitize=address"}, false}} {
		argv, err := clang.Compiler{Cache: t.TempDir()}.Command(t.Context(), append(c.flags, "-c"))
		if err != nil || slices.Contains(argv, "-fstack-protector-strong") != c.added {
			t.Errorf("%q: %q, %v", c.flags, argv, err)
		}
	}
}

package native_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestHeapDamage: it is random where the allocator detects a damaged heap; damage by one function is one finding.
func TestHeapDamage(t *testing.T) {
	const damaging = `#include <malloc.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static void *volatile sink;
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n != 2) return 0;
	char *p = malloc(100000); // from the top of the heap
	memset(p + malloc_usable_size(p), d[1], 8);
	if (d[0] == '1') sink = malloc(200000);
	if (d[0] == '2') sink = malloc(300000);
	return 0;
}
`
	ex := open(t, native.Target{Command: []string{build(t, damaging, "-fsanitize=fuzzer", "-O0")}})
	ids, said := map[string]bool{}, ""
	for _, in := range []string{"1A", "2A", "1\x00", "2\x00"} {
		o := run(t, ex, teasel.Ask{}, in)
		fs := native.Detect(&o)
		if len(fs) != 1 || fs[0].Rule != "native/heap-buffer-overflow" || fs[0].Subject != "LLVMFuzzerTestOneInput" || !strings.Contains(fs[0].Message, "found in") {
			t.Fatalf("%q: %+v", in, fs)
		}
		ids[fs[0].ID()] = true
		said += fs[0].Message + "\n"
	}
	if len(ids) != 1 || !strings.Contains(said, "sysmalloc") || !strings.Contains(said, "corrupted top size") {
		t.Errorf("%d findings:\n%s", len(ids), said)
	}
}

// TestSentences: the message of a sanitizer's report is a sentence without parts that differ from run to run.
func TestSentences(t *testing.T) {
	const freeing = `#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static char *volatile p;
void *_Znwm(size_t);
__attribute__((noinline)) static void twice(void) { p = malloc(4); free(p); free(p); }
__attribute__((noinline)) static void mixed(void) { p = _Znwm(4); free(p); }
__attribute__((noinline)) static void copy(volatile long n) { char from[32], to[32]; memset(from, 1, 32); p = to; memcpy(p, from, (size_t)n); }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n && d[0] == 'd') twice();
	if (n && d[0] == 'm') mixed();
	if (n && d[0] == 'c') copy(-5);
	return 0;
}`
	needTool(t, "clang++")
	ex := open(t, native.Target{Command: []string{build(t, freeing, "-g", "-O1", "-fsanitize=fuzzer,address", "-lstdc++", "-fsanitize-link-c++-runtime")}})
	for in, want := range map[string]struct{ rule, begins, ends string }{
		"d": {"native/double-free", "double free in twice ", "target.c:6"},
		"m": {"native/bad-free", "bad free in mixed ", ": alloc-dealloc-mismatch (operator new vs free)"},
		"c": {"native/sanitizer", "sanitizer report in copy ", ": negative-size-param: (size=-5)"},
	} {
		o := run(t, ex, teasel.Ask{}, in)
		if fs := native.Detect(&o); len(fs) != 1 || fs[0].Rule != want.rule || !strings.HasPrefix(fs[0].Message, want.begins) || !strings.HasSuffix(fs[0].Message, want.ends) {
			t.Errorf("%q: %+v, want %q", in, fs, want)
		}
	}
}

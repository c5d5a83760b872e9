package native_test

import (
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// forking is the code under test: a process of its own, of which nobody asks how it ended, reads a name of any length.
const forking = `#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
static void name(const char *s, size_t n) {
	char *p = malloc(8);
	memcpy(p, s, n); // line 10
	volatile char c = p[0];
	(void)c;
}
static void null(char *volatile p) {
	*p = 1; // line 15
}
static void serve(const char *s, size_t n) {
	pid_t p = fork();
	if (p == 0) {
		if (n > 1 && *s == 'r') name(s, n);
		if (n > 1 && *s == 'R') name(s, n > 8 ? 8 : n); // the clean twin
		if (n > 1 && *s == 'n') null(0);
		if (n > 1 && *s == 'k') raise(SIGABRT); // on purpose
		if (n > 1 && *s == 'x') _exit(3);
		_exit(0);
	}
	waitpid(p, 0, 0);
}
`

// Ways to call that.
var forkingMains = map[string]string{
	"harness": `int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { serve((const char *)d, n); return 0; }`,
	"program": `int main(void) { char b[64]; ssize_t n = read(0, b, sizeof b); if (n > 0) serve(b, n); return 0; }`,
	"loop": `__AFL_FUZZ_INIT();
int main(void) { unsigned char *b = __AFL_FUZZ_TESTCASE_BUF; while (__AFL_LOOP(1000)) serve((char *)b, __AFL_FUZZ_TESTCASE_LEN); return 0; }`,
}

// TestForked: a fault in a process that the program has forked is found, whatever the program makes of it, with or without a sanitizer; that
// one ends by a signal that it has sent itself, or with a status, is the program's business. No report is left behind in the working directory.
func TestForked(t *testing.T) {
	t.Parallel()
	for name, main := range forkingMains {
		flags := []string{"-g", "-O1"}
		if name == "harness" {
			flags = append(flags, "-fsanitize=fuzzer")
		}
		for sanitizer, more := range map[string][]string{"plain": nil, "AddressSanitizer": {"-fsanitize=address"}} {
			dir := t.TempDir()
			ex := open(t, native.Target{Command: []string{build(t, forking+main, slices.Concat(flags, more)...)}, Dir: dir})
			says := func(in, want string) {
				t.Helper()
				o := run(t, ex, teasel.Ask{}, in)
				fs := native.Detect(&o)
				if want == "" && len(fs) > 0 || want != "" && (len(fs) != 1 || !strings.Contains(fs[0].Message, want) || !strings.Contains(fs[0].Message, "the program has forked")) {
					t.Errorf("%s, %s: %q: %v: %+v, want %q", name, sanitizer, in, o.Exit, fs, want)
				}
			}
			says("n!", "null pointer dereference, write of 0x0 in null ")
			if more != nil {
				says("r..............", "heap buffer overflow, write")
			}
			for _, fine := range []string{"fine", "R..............", "k!", "x!", "fine"} {
				says(fine, "")
			}
			if left, err := os.ReadDir(dir); err != nil || len(left) > 0 {
				t.Errorf("%s, %s: left behind: %v, %v", name, sanitizer, left, err)
			}
		}
	}
}

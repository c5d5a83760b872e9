package native_test

import (
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestLeakCheck: what a program with __AFL_LEAK_CHECK leaks is found in a batch, and by executions that are to be quick, with its place.
func TestLeakCheck(t *testing.T) {
	t.Parallel()
	const leaks = `#include <stdlib.h>
#include <string.h>
#include <unistd.h>
__AFL_FUZZ_INIT();
static char *volatile keep;
static void parse(const unsigned char *b, int n) {
	for (int i = 0; i < n; i++)
		if (b[i] == 'L') { keep = malloc(n); memcpy(keep, b, n); keep = 0; } // line 8
}
int main(void) {
	unsigned char *b = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(1000)) {
		parse(b, __AFL_FUZZ_TESTCASE_LEN);
		__AFL_LEAK_CHECK();
	}
	return 0;
}
`
	ex := open(t, native.Target{Command: []string{build(t, leaks, "-g", "-O1", "-fsanitize=address")}})
	isLeak := func(o *teasel.Observation) {
		t.Helper()
		fs := native.Detect(o)
		if len(fs) != 1 || fs[0].Rule != "native/leak" || fs[0].Subject != "parse" || !strings.Contains(fs[0].Message, ".c:8") {
			t.Errorf("%v: %+v", o.Exit, fs)
		}
	}
	batch, obs := [][]byte{[]byte("a"), []byte("xxLx"), []byte("b")}, make([]teasel.Observation, 3)
	if n, err := ex.ExecBatch(t.Context(), batch, obs); n != 2 || err != nil {
		t.Fatalf("%d of the batch, %v", n, err)
	}
	isLeak(&obs[1])
	for _, a := range []teasel.Ask{{}, {Quick: true}, {Serious: true}} {
		o := run(t, ex, a, "xL")
		isLeak(&o)
	}
	if o := run(t, ex, teasel.Ask{}, "fine"); o.Exit != teasel.ExitOK {
		t.Errorf("without a leak: %v: %s", o.Exit, o.Detail)
	}
}

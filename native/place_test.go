package native_test

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestPlace: a memory access has the same place whatever its address is; another access in the same line, or the same access with
// another caller, has another place.
func TestPlace(t *testing.T) {
	const accesses = `#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
static volatile int sink;
static int get(const volatile uint8_t *p, int32_t i) { return p[i]; }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n < 5) return 0;
	int32_t i;
	memcpy(&i, d + 1, 4);
	volatile uint8_t *p = malloc(16);
	if (d[0] == 'r') sink = p[0] + get(p, i);
	if (d[0] == 's') sink = get(p, i);
	if (d[0] == '1') memset((void *)(p + i), 1, 1);
	if (d[0] == '2') { if (i > 5) sink = p[i]; else p[i] = 1; }
	free((void *)p);
	return 0;
}
`
	const near, far, below = "\x10\x00\x00\x00", "\x00\x00\x00\x40", "\xfc\xff\xff\xff"
	ex := open(t, native.Target{Command: []string{build(t, accesses, "-fsanitize=fuzzer,address", "-O0")}})
	find := func(in string) teasel.Finding {
		t.Helper()
		o := run(t, ex, teasel.Ask{}, in)
		fs := native.Detect(&o)
		if len(fs) != 1 || fs[0].Place == "" {
			t.Fatalf("%q: %+v", in, fs)
		}
		return fs[0]
	}
	for _, c := range []struct {
		a, b string
		same bool
	}{
		{"r" + near, "r" + far, true},
		{"s" + near, "s" + far, true},
		{"1" + near, "1" + far, true},
		{"1" + near, "1" + below, true},
		{"r" + near, "s" + far, false},
		{"1" + near, "r" + far, false},
		{"2" + near, "2" + below, false},
	} {
		a, b := find(c.a), find(c.b)
		if same := a.Place == b.Place; same != c.same {
			t.Errorf("%q (%s) and %q (%s): same place %v", c.a, a.Message, c.b, b.Message, same)
		}
		if c.a[0] == c.b[0] && c.b[1:] == far && a.Rule == b.Rule {
			t.Errorf("%q: %s both times", c.a, a.Rule)
		}
	}
	if o := run(t, ex, teasel.Ask{}, "1\x00\x00\x00\x00"); o.Exit != teasel.ExitOK {
		t.Errorf("within: %v", o.Evidence)
	}
}

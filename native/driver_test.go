package native_test

import (
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/native"
)

const driverMain = `#include <stdint.h>
#include <stdlib.h>
#include <string.h>
int LLVMFuzzerRunDriver(int *argc, char ***argv, int (*harness)(const uint8_t *, size_t));
static int mode, initialised;
int LLVMFuzzerInitialize(int *argc, char ***argv) { initialised = mode; return 0; }
static int harness(const uint8_t *d, size_t n) {
	if (n >= 4 && !memcmp(d, "MAGI", 4) && mode == 7 && initialised == 7) abort();
	return n == 1 ? -1 : 0;
}
int main(int argc, char **argv) {
	if (argc > 1 && !strcmp(argv[1], "--mode")) {
		mode = atoi(argv[2]);
		argc -= 2;
		argv += 2;
	}
	return LLVMFuzzerRunDriver(&argc, &argv, harness);
}`

// TestRunDriver: a main that calls libFuzzer's driver is run first, in each way of linking that libFuzzer has.
func TestRunDriver(t *testing.T) {
	library, err := exec.Command(needTool(t, "clang"), "-print-file-name=libclang_rt.fuzzer_no_main-x86_64.a").Output()
	if err != nil {
		t.Fatal(err)
	}
	for _, flags := range [][]string{
		{"-fsanitize=fuzzer"},
		{"-fsanitize=fuzzer-no-link"},
		{"-fsanitize=fuzzer-no-link", strings.TrimSpace(string(library))},
		{"-fsanitize=fuzzer-no-link,address", "-lFuzzingEngine"},
	} {
		bin := build(t, driverMain, flags...)
		ex := open(t, native.Target{Command: []string{bin, "--mode", "7"}})
		for in, want := range map[string]teasel.Exit{"long": teasel.ExitOK, "x": teasel.ExitRejected, "MAGIC": teasel.ExitCrash} {
			if o := run(t, ex, teasel.Ask{}, in); o.Exit != want {
				t.Errorf("%v: %q: %v, want %v: %s", flags, in, o.Exit, want, o.Detail)
			}
		}
		p, err := native.Target{Command: []string{bin}}.Inspect(t.Context())
		if err != nil || !p.Harness {
			t.Errorf("%v: %+v, %v", flags, p, err)
		}
		input := filepath.Join(t.TempDir(), "input")
		write(t, input, "MAGIC")
		if out, err := exec.Command(bin, "--mode", "7", input).CombinedOutput(); err == nil || !strings.Contains(string(out), "Running: "+input) {
			t.Errorf("%v by hand: %v\n%s", flags, err, out)
		}
		if out, err := exec.Command(bin, "--mode", "6", input).CombinedOutput(); err != nil {
			t.Errorf("%v by hand, in another mode: %v\n%s", flags, err, out)
		}
	}
}

// TestBothMains: a source that is a harness for libFuzzer and a program for AFL is compiled in either way.
func TestBothMains(t *testing.T) {
	const both = `#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n > 1 && d[0] == 'b' && d[1] == 'o') abort();
	return 0;
}
#ifdef __AFL_COMPILER
__AFL_FUZZ_INIT();
int main(void) {
	__AFL_INIT();
	uint8_t *d = __AFL_FUZZ_TESTCASE_BUF;
	while (__AFL_LOOP(10000)) LLVMFuzzerTestOneInput(d, __AFL_FUZZ_TESTCASE_LEN);
}
#endif`
	for _, flags := range [][]string{nil, {"-fsanitize=fuzzer"}, {"-fsanitize=fuzzer,address"}} {
		ex := open(t, native.Target{Command: []string{build(t, both, flags...)}})
		for in, want := range map[string]teasel.Exit{"bo": teasel.ExitCrash, "ba": teasel.ExitOK} {
			if o := run(t, ex, teasel.Ask{}, in); o.Exit != want {
				t.Errorf("%v: %q: %v, want %v", flags, in, o.Exit, want)
			}
		}
	}
}

// TestNoHarness: a harness without LLVMFuzzerTestOneInput is not linked.
func TestNoHarness(t *testing.T) {
	needTool(t, "clang")
	src := filepath.Join(t.TempDir(), "h.c")
	write(t, src, "int other(void) { return 0; }")
	argv, err := clang.Compiler{}.Command(t.Context(), []string{"-fsanitize=fuzzer", src, "-o", src + ".out"})
	if err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(argv[0], argv[1:]...).CombinedOutput(); err == nil || !strings.Contains(string(out), "LLVMFuzzerTestOneInput") {
		t.Errorf("linked: %v\n%s", err, out)
	}
}

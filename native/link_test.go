package native_test

import (
	"context"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/native"
)

// TestStripped: a build with options to strip still makes a program whose functions have names.
func TestStripped(t *testing.T) {
	for _, flag := range []string{"-s", "-Wl,-s", "-Wl,--as-needed,--strip-all"} {
		bin := build(t, "int main(void) { return 0; }", flag)
		if out, err := exec.Command("nm", bin).Output(); err != nil || !strings.Contains(string(out), " main\n") {
			t.Errorf("%s: there are no names: %v", flag, err)
		}
	}
}

// TestLinking: a harness may be in an archive, and may be written in C++.
func TestLinking(t *testing.T) {
	dir := t.TempDir()
	src, object, lib, bin := filepath.Join(dir, "h.cc"), filepath.Join(dir, "h.o"), filepath.Join(dir, "libh.a"), filepath.Join(dir, "h")
	write(t, src, `#include <string>
#include <cstdint>
#include <stdexcept>
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	std::string s(reinterpret_cast<const char *>(d), n);
	if (s == "throw") throw std::runtime_error("thrown");
	return n > 3 ? 0 : -1;
}`)
	cxx := clang.Compiler{CXX: true}
	compile(t, cxx, "-c", src, "-o", object)
	if out, err := exec.Command("ar", "rcs", lib, object).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	compile(t, cxx, "-fsanitize=fuzzer", "-L"+dir, "-o", bin, "-lh")
	ex := open(t, native.Target{Command: []string{bin}})
	for in, want := range map[string]teasel.Exit{"long": teasel.ExitOK, "x": teasel.ExitRejected, "throw": teasel.ExitCrash} {
		if o := run(t, ex, teasel.Ask{}, in); o.Exit != want {
			t.Errorf("%q: %v, want %v: %s", in, o.Exit, want, o.Detail)
		}
	}
	o := run(t, ex, teasel.Ask{}, "throw")
	if c := o.Evidence.(*native.Crash); c.Rule != "native/abort" || !strings.Contains(c.Message, "runtime_error") {
		t.Errorf("an exception: %s, %q", c.Rule, c.Message)
	}
}

// TestLinkers: with every linker, comparisons are recorded, and a crash is reported with its line and the inlined functions.
func TestLinkers(t *testing.T) {
	const crashing = `#include <stddef.h>
#include <stdint.h>
static int innermost(const volatile int *p) { return *p; } // line 3
static int middle(const uint8_t *d) { return innermost((int *)(uintptr_t)d[1]); }
int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return n == 2 && d[0] == 'x' && middle(d) ? -1 : 0; }
`
	for _, linker := range []string{"bfd", "gold", "lld", "mold"} {
		t.Run(linker, func(t *testing.T) {
			needTool(t, "ld."+linker)
			for _, kind := range []string{"-pie", "-no-pie"} {
				ex := open(t, native.Target{Command: []string{build(t, crashing, "-fsanitize=fuzzer", "-fuse-ld="+linker, kind)}})
				if o := run(t, ex, teasel.Ask{Operands: true}, "y"); len(o.Operands) == 0 {
					t.Errorf("%s: no comparison was recorded", kind)
				}
				o := run(t, ex, teasel.Ask{}, "x\x10")
				c, ok := o.Evidence.(*native.Crash)
				if !ok || len(c.Stack) < 3 || c.Stack[0].Function != "innermost" || c.Stack[0].Line != 3 || c.Stack[1].Function != "middle" {
					t.Errorf("%s: %+v", kind, o.Evidence)
				}
			}
		})
	}
}

// TestLinkingLeftovers: a harness with a mutator of its own that calls LLVMFuzzerMutate links, also if the libraries are named one
// by one, as rustc does.
func TestLinkingLeftovers(t *testing.T) {
	const mutator = `#include <stddef.h>
#include <stdint.h>
size_t LLVMFuzzerMutate(uint8_t *data, size_t size, size_t max);
size_t LLVMFuzzerCustomMutator(uint8_t *data, size_t size, size_t max, unsigned seed) { (void)seed; return LLVMFuzzerMutate(data, size, max); }
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) { return size > 3 && data[0] == 'x' ? -1 : 0; }
`
	for _, flags := range [][]string{{"-fsanitize=fuzzer"}, {"-fsanitize=fuzzer", "-nodefaultlibs", "-lgcc_s", "-lc"}} {
		target := native.Target{Command: []string{build(t, mutator, flags...)}}
		if p, err := target.Inspect(context.Background()); err != nil || !p.Harness {
			t.Errorf("%v: %+v, %v", flags, p, err)
		}
	}
}

// TestComparedStrings: what C++'s library compares for the program is recorded, whichever sanitizer the program has; MemorySanitizer
// keeps its own comparison to itself.
func TestComparedStrings(t *testing.T) {
	src := filepath.Join(t.TempDir(), "h.cc")
	write(t, src, `#include <cstdint>
#include <string>
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) { return std::string((const char *)d, n) == "dandelion" ? -1 : 0; }`)
	for _, sanitizer := range []string{"fuzzer", "fuzzer,undefined", "fuzzer,signed-integer-overflow", "fuzzer,address", "fuzzer,thread"} {
		bin := src + "-" + sanitizer
		compile(t, clang.Compiler{CXX: true}, "-fsanitize="+sanitizer, src, "-o", bin)
		ex := open(t, native.Target{Command: []string{bin}})
		o := run(t, ex, teasel.Ask{Operands: true}, "dandeliox")
		if !slices.ContainsFunc(o.Operands, func(c teasel.Operand) bool {
			return byte(c.A) == 'n' && byte(c.B) == 'x' || byte(c.A) == 'x' && byte(c.B) == 'n' || c.Size == 8
		}) {
			t.Errorf("%s: operands %v", sanitizer, o.Operands)
		}
	}
}

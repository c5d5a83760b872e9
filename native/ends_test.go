package native_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/clang"
	"github.com/teaselfuzz/teasel/native"
)

// whatEnds is what the first line of a finding in ends.cc says beside the place, by the byte that triggers it; others say nothing more.
var whatEnds = map[byte]string{
	'a': `the last line on standard error was "fatal: boom"`,
	'b': `'Weird': cannot parse record`,
	'e': `'std::out_of_range': vector::_M_range_check`,
	'f': `Assertion ` + "`b && \"invariant\"' failed" + `.`,
	'h': `'int'`,
	'i': `'std::logic_error': in destructor`,
	'j': `'std::string'`,
	'k': `'char const*'`,
	'l': `'Plain'`,
	'm': `'std::out_of_range': in the thread`,
	'n': `'std::_Nested_exception<std::logic_error>': outer`,
	'o': `'Weird': cannot parse record`,
	'q': `double free`,
	'r': `'std::out_of_range': map::at`,
	'v': `'std::runtime_error': first line`,
}

// valuesEnd is what it says in addition if our runtime is linked.
var valuesEnd = map[byte]string{
	'h': `'int': 42`,
	'j': `'std::string': just a string`,
	'k': `'char const*': a literal`,
	'x': `exception of type 'unsigned char': 200`,
	'y': `exception of type 'Weird'; the last line on standard error was "giving up"`,
	'A': `'long'`,
	'B': `'(anonymous namespace)::Code'`,
	'C': `exception of type 'std::string': from a string`,
}

// harnessMain makes a program of a harness, for compilers that are not teasel's.
const harnessMain = `#include <stdint.h>
#include <stdio.h>
#ifdef __cplusplus
extern "C"
#endif
int LLVMFuzzerTestOneInput(const uint8_t *, size_t);
int main(void) { static uint8_t b[1 << 16]; return LLVMFuzzerTestOneInput(b, fread(b, 1, sizeof b, stdin)); }
`

// TestEnds: the first line of a finding has the line of the fault and the program's own words, however the program was built, and two
// faults are two findings.
func TestEnds(t *testing.T) {
	src := source(t, "ends.cc")
	for _, build := range []struct {
		compiler string // "": teasel c++
		flags    string
	}{
		{"", "-O0"}, {"", "-O2"}, {"", "-Os -no-pie"}, {"", "-O1 -static"}, {"", "-O1 -fsanitize=address"}, {"", "-O2 -gdwarf-4"},
		{"g++", "-O1 -fsanitize=address"},
	} {
		t.Run(strings.TrimSpace(build.compiler+" "+build.flags), func(t *testing.T) {
			t.Parallel()
			if testing.Short() && build.flags != "-O2" && build.compiler == "" {
				t.Skip("one build is enough for a short test")
			}
			args := append(strings.Fields("-w -g "+build.flags), filepath.Join("testdata", "ends.cc"))
			bin := compiled(t, func(bin string) {
				if build.compiler == "" {
					compile(t, clang.Compiler{CXX: true}, append(args, "-fsanitize=fuzzer", "-o", bin)...)
					return
				}
				write(t, bin+"_main.cc", harnessMain)
				cmd := exec.Command(needTool(t, build.compiler), append(args, bin+"_main.cc", "-o", bin)...)
				if out, err := cmd.CombinedOutput(); err != nil {
					t.Fatalf("%v: %v\n%s", cmd, err, out)
				}
			}, append([]string{build.compiler, src}, args...)...)
			ex := start(t, native.Target{Command: []string{bin}})
			groups := map[string]byte{}
			for i, l := range strings.Split(src, "\n") {
				_, mark, ok := strings.Cut(l, "//@")
				if !ok {
					continue
				}
				o := exec1(t, ex, teasel.Ask{}, mark)
				fs := native.Detect(&o)
				if len(fs) != 1 {
					t.Errorf("%s: %d findings, want one", mark, len(fs))
					continue
				}
				f := fs[0]
				if place := fmt.Sprintf("ends.cc:%d", i+1); !strings.Contains(f.Message, place) || !strings.Contains(f.Message, whatEnds[mark[0]]) || strings.ContainsAny(f.Message, "\n\x1b") {
					t.Errorf("%s: %q does not have %s and %q", mark, f.Message, place, whatEnds[mark[0]])
				}
				if build.compiler == "" && !strings.Contains(f.Message, valuesEnd[mark[0]]) {
					t.Errorf("%s: %q does not have %q", mark, f.Message, valuesEnd[mark[0]])
				}
				if mark[0] == 'w' && strings.Contains(f.Message, "exception") {
					t.Errorf("%s: %q of an exception that was handled before", mark, f.Message)
				}
				if other := groups[f.Group]; other != 0 {
					t.Errorf("%s and %c are both %q", mark, other, f.Group)
				}
				groups[f.Group] = mark[0]
			}
		})
	}
}

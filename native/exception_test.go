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

// TestUncaughtException: of a program in another language whose exit status counts as a crash, the exception and its line are the finding.
func TestUncaughtException(t *testing.T) {
	python := needTool(t, "python3")
	script := filepath.Join(t.TempDir(), "pick.py")
	write(t, script, `import sys
def pick(d):
    return {"a": 1}[d] if d[:1] == "k" else int(d)
d = sys.stdin.read()
if d == "quits":
    sys.exit(1)
pick(d)
`)
	ex := start(t, native.Target{Command: []string{python, script}, Exits: []int{1}})
	ids := map[string]string{}
	for in, want := range map[string]string{"kx": "KeyError: 'kx'", "ky": "KeyError: 'ky'", "zz": "ValueError: invalid literal", "quits": ""} {
		o := exec1(t, ex, teasel.Ask{}, in)
		fs := native.Detect(&o)
		if len(fs) != 1 {
			t.Fatalf("%s: %d findings", in, len(fs))
		}
		f := fs[0]
		if ids[in] = f.ID(); want == "" && f.Rule != "native/exit" || want != "" && (f.Rule != "native/exception" || f.Subject != "pick" || !strings.Contains(f.Message, "pick.py:3: "+want)) {
			t.Errorf("%s: %s of %s: %s", in, f.Rule, f.Subject, f.Message)
		}
	}
	if ids["kx"] != ids["ky"] || ids["kx"] == ids["zz"] || ids["kx"] == ids["quits"] {
		t.Errorf("ids %v", ids)
	}
}

// throws has exceptions of three types in one line, and two texts of one of them.
const throws = `#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>
struct Bad { int n; };
extern "C" int LLVMFuzzerTestOneInput(const uint8_t *d, size_t n) {
	if (n > 1) switch (d[0]) { case 'a': throw std::out_of_range(std::string("no ") + char(d[1])); case 'b': throw std::runtime_error("no x"); case 'c': throw Bad{3}; }
	return 0;
}
`

// TestThrowInOneLine: exceptions of several types in one line are several findings, and one with several texts is one.
func TestThrowInOneLine(t *testing.T) {
	for name, build := range map[string]func(src, bin string){
		"teasel c++": func(src, bin string) {
			compile(t, clang.Compiler{CXX: true}, src, "-g", "-O1", "-fsanitize=fuzzer", "-o", bin)
		},
		"teasel c++ with asan": func(src, bin string) {
			compile(t, clang.Compiler{CXX: true}, src, "-g", "-O1", "-fsanitize=fuzzer,address", "-o", bin)
		},
		"g++": func(src, bin string) {
			write(t, bin+"_main.cc", harnessMain)
			if out, err := exec.Command(needTool(t, "g++"), "-g", "-O1", src, bin+"_main.cc", "-o", bin).CombinedOutput(); err != nil {
				t.Fatalf("%v\n%s", err, out)
			}
		},
	} {
		t.Run(name, func(t *testing.T) {
			bin := compiled(t, func(bin string) {
				write(t, bin+".cc", throws)
				build(bin+".cc", bin)
			}, name, throws)
			ex := start(t, native.Target{Command: []string{bin}})
			ids := map[string]string{}
			for _, in := range []string{"ax", "ay", "bx", "cx"} {
				o := exec1(t, ex, teasel.Ask{}, in)
				fs := native.Detect(&o)
				if len(fs) != 1 {
					t.Fatalf("%s: %d findings", in, len(fs))
				}
				ids[in] = fs[0].ID()
			}
			if ids["ax"] != ids["ay"] || ids["ax"] == ids["bx"] || ids["ax"] == ids["cx"] || ids["bx"] == ids["cx"] {
				t.Errorf("ids %v", ids)
			}
		})
	}
}

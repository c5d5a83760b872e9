package clang

import (
	"encoding/binary"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// entries is the archive of the runtime's parts that a program gets only if it has none of its own, or calls them.
const entries = "libteasel_entries.a"

// entryPoints are the members of the archive and the symbol for which each is linked: a main for a harness, libFuzzer's driver for
// that main or the user's own, and the functions that the macros of AFL++ call.
var entryPoints = [...]struct{ object, symbol string }{
	{"teasel_main.o", "main"},
	{"teasel_driver.o", "LLVMFuzzerRunDriver"},
	{"teasel_defer.o", "__afl_manual_init"},
	{"teasel_loop.o", "__afl_persistent_loop"},
}

// aflMacros are the macros that AFL++'s compilers define for persistent mode, written for teasel's runtime. Functions are declared
// where they are called, with the names of their symbols, so that the macros work in C and C++ and in any scope.
var aflMacros = [...]struct{ macro, value string }{
	{"__AFL_COMPILER", "1"},
	{"__AFL_HAVE_MANUAL_CONTROL", "1"},
	{"__AFL_FUZZ_INIT()", "int __afl_sharedmem_fuzzing = 1; extern unsigned int *__afl_fuzz_len; extern unsigned char *__afl_fuzz_ptr; " +
		"unsigned char __afl_fuzz_alt[1048576]; unsigned char *__afl_fuzz_alt_ptr = __afl_fuzz_alt;"},
	{"__AFL_FUZZ_TESTCASE_BUF", "(__afl_fuzz_ptr ? __afl_fuzz_ptr : __afl_fuzz_alt_ptr)"},
	{"__AFL_FUZZ_TESTCASE_LEN", "(__afl_fuzz_ptr ? *__afl_fuzz_len : " + aflCall("unsigned int", "fuzz_read", "unsigned char *", "__afl_fuzz_alt_ptr") + ")"},
	{"__AFL_LOOP(n)", aflCall("int", "persistent_loop", "unsigned int", "(unsigned int)(n)")},
	{"__AFL_COVERAGE()", "int __afl_selective_coverage = 1;"},
	{"__AFL_COVERAGE_START_OFF()", "int __afl_selective_coverage_start_off = 1;"},
	{"__AFL_INIT()", aflCall("void", "manual_init", "void", "")},
	{"__AFL_COVERAGE_ON()", aflCall("void", "coverage_on", "void", "")},
	{"__AFL_COVERAGE_OFF()", aflCall("void", "coverage_off", "void", "")},
	{"__AFL_COVERAGE_DISCARD()", aflCall("void", "coverage_discard", "void", "")},
	{"__AFL_COVERAGE_SKIP()", aflCall("void", "coverage_skip", "void", "")},
	{"__AFL_LEAK_CHECK()", aflCall("void", "leak_check", "void", "")},
	{"__AFL_LSAN_ON()", aflCall("void", "lsan_on", "void", "")},
	{"__AFL_LSAN_OFF()", aflCall("void", "lsan_off", "void", "")},
}

// aflCall returns a call of a function of the runtime as an expression.
func aflCall(result, name, parameter, argument string) string {
	return fmt.Sprintf("(__extension__({ %[1]s __afl_call_%[2]s(%[3]s) __asm__(\"__afl_%[2]s\"); __afl_call_%[2]s(%[4]s); }))", result, name, parameter, argument)
}

// macros returns the definitions that every file is compiled with.
func macros() []string {
	out := []string{"-D__TEASEL__=1", "-DFUZZING_BUILD_MODE_UNSAFE_FOR_PRODUCTION=1"}
	for _, m := range aflMacros {
		out = append(out, "-D"+m.macro+"="+m.value)
	}
	return out
}

// isFuzzerLibrary reports whether an argument of the linker is the library of a fuzzer, named by builds that do not use
// -fsanitize=fuzzer. teasel's runtime takes its place.
func isFuzzerLibrary(a string) bool {
	switch a {
	case "-lFuzzingEngine", "-lFuzzer", "-lAFLDriver":
		return true
	}
	name, isLibrary := strings.CutSuffix(filepath.Base(a), ".a")
	if strings.HasPrefix(a, "-l") {
		name, isLibrary = "lib"+strings.TrimSuffix(strings.TrimPrefix(a[2:], ":lib"), ".a"), true
	}
	return isLibrary && (strings.HasPrefix(name, "libclang_rt.fuzzer") ||
		slices.Contains([]string{"libFuzzingEngine", "libFuzzer", "libFuzzerNoMain", "libAFLDriver", "libAFLQemuDriver"}, name))
}

const archiveMagic = "!<arch>\n"

// archive writes an archive of the entry points with an index of their symbols, so that the program ar is not needed.
func archive(dir, name string) error {
	head := func(name string, n int) string {
		return fmt.Sprintf("%-16s%-12d%-6d%-6d%-8s%-10d`\n", name, 0, 0, 0, "644", n)
	}
	names := ""
	for _, e := range entryPoints {
		names += e.symbol + "\x00"
	}
	names += strings.Repeat("\x00", len(names)%2) // members begin at even offsets
	index := binary.BigEndian.AppendUint32(nil, uint32(len(entryPoints)))
	members, begin := "", len(archiveMagic)+60+4+4*len(entryPoints)+len(names)
	for _, e := range entryPoints {
		body, err := os.ReadFile(filepath.Join(dir, e.object))
		if err != nil {
			return err
		}
		index = binary.BigEndian.AppendUint32(index, uint32(begin+len(members)))
		members += head(e.object+"/", len(body)) + string(body) + strings.Repeat("\n", len(body)%2)
	}
	out := archiveMagic + head("/", len(index)+len(names)) + string(index) + names + members
	return os.WriteFile(filepath.Join(dir, name), []byte(out), 0o644)
}

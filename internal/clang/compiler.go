package clang

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// Compiler is clang with teasel's coverage and runtime. It replaces the C or C++ compiler of a build. The zero value is a C
// compiler. Its methods may be called concurrently, also by several processes that share a cache.
type Compiler struct {
	Clang   string // "": clang, or clang++, in PATH
	CXX     bool   // C++
	Cache   string // folder for the compiled runtime; "": teasel in the user's cache folder
	NoHooks bool   // omit comparison hooks: no operands, and a faster program where hooks cannot be switched off
	Source  bool   // add clang's source coverage, which teasel cov needs
	Teasel  string // path of the teasel command, which a harness executes when it is asked to fuzz; "": teasel in PATH
}

// Compared are the functions of the C library whose operands are recorded. Calls of NAME are linked to __wrap_NAME of the runtime,
// and the compiler must not inline them.
var Compared = [...]string{"memcmp", "bcmp", "strcmp", "strncmp", "strcasecmp", "strncasecmp", "memmem", "strstr"}

const coverage = "-fsanitize-coverage=inline-8bit-counters,pc-table"

// Command returns the command to run in place of the compiler with these arguments, which do not include the compiler's name. All
// arguments that clang supports are passed on. If the runtime is needed and not in the cache, Command runs clang to compile it.
func (c Compiler) Command(ctx context.Context, args []string) ([]string, error) {
	clang, err := c.find(ctx)
	if err != nil {
		return nil, err
	}
	args = expand(args, 0)
	call := parseCall(args)
	out := append([]string{clang}, call.args...)
	if call.step == stepOther {
		out = append([]string{clang}, args...)
		if call.preprocess {
			out = append(out, macros()...)
		}
		return out, nil
	}
	out = append(out, c.coverage(call)...)
	if call.step == stepCompile {
		return out, nil
	}
	rt, err := c.runtime(ctx, clang, call.machine)
	if err != nil {
		return nil, err
	}
	for _, f := range Compared {
		out = append(out, "-Wl,--wrap="+f)
	}
	first := []string{rt.file("teasel_pad.o")}
	if call.shared {
		out = append(out, "-Wl,-z,nodelete") // the counters are read after the run, which may have closed the library
		return append(slices.Insert(out, 1, first...), objectArgs(call, rt.file("teasel_so.o"))...), nil
	}
	for _, f := range [...]string{"main", "_exit", "_Exit", "sigaction", "signal", "__sysv_signal"} {
		out = append(out, "-Wl,--wrap="+f)
	}
	if !c.NoHooks {
		out = append(out, "-Wl,--emit-relocs") // the relocations tell where the hooks are called
	}
	if !call.sanitized {
		out = append(out, "-fno-sanitize-link-runtime") // clang's own coverage runtime, which teasel's replaces
	}
	out = append(out, "-Wl,--dynamic-list="+rt.file("exports"))
	if !call.intercepts && !call.static && !c.NoHooks {
		first = append(first, rt.file("teasel_compare.o"))
	}
	if call.fuzzer { // the harness may be in an archive, from which the linker takes only symbols that are already undefined
		out = append(out, "-Wl,-u,LLVMFuzzerTestOneInput")
	}
	return append(slices.Insert(out, 1, first...), objectArgs(call, rt.file("teasel_rt.o"), rt.file(entries))...), nil
}

// ErrNotClang is the cause of an error about a compiler that is another one.
var ErrNotClang = errors.New("it is GCC, which has neither these counters nor -fsanitize=fuzzer")

func (c Compiler) find(ctx context.Context) (string, error) {
	if c.Clang != "" {
		clang, err := exec.LookPath(c.Clang)
		if err != nil {
			return "", fmt.Errorf("looking for the compiler: %w", err)
		}
		if isGCC(ctx, clang) {
			return "", fmt.Errorf("using %s as clang: %w", c.Clang, ErrNotClang)
		}
		return filepath.Abs(clang)
	}
	name := "clang"
	if c.CXX {
		name = "clang++"
	}
	clang, err := exec.LookPath(name)
	if err != nil {
		newest := newest(name)
		if newest == "" {
			return "", fmt.Errorf("looking for the compiler: %w", err)
		}
		clang = newest
	}
	return filepath.Abs(clang)
}

// newest returns the path of the newest NAME-N in PATH, as distributions name compilers whose version was chosen; "": there is none.
func newest(name string) (path string) {
	version := 0
	for _, dir := range filepath.SplitList(os.Getenv("PATH")) {
		found, _ := filepath.Glob(filepath.Join(dir, name+"-*"))
		for _, f := range found {
			n, err := strconv.Atoi(strings.TrimPrefix(filepath.Base(f), name+"-"))
			if _, lookErr := exec.LookPath(f); err == nil && lookErr == nil && n > version {
				path, version = f, n
			}
		}
	}
	return path
}

// isGCC reports whether a compiler says that it is GCC. A name that has clang in it is believed: asking takes a process.
func isGCC(ctx context.Context, compiler string) bool {
	if strings.Contains(filepath.Base(compiler), "clang") {
		return false
	}
	out, err := exec.CommandContext(ctx, compiler, "-v").CombinedOutput()
	return err == nil && bytes.Contains(out, []byte("gcc version "))
}

func (c Compiler) coverage(call call) []string {
	// The flag fuzzer-no-link keeps conditions that are joined by && apart, as in libFuzzer's builds: otherwise the optimiser often
	// merges them, with one edge. It is passed to cc1 by -Xclang, since the driver would select other coverage for it as well.
	// The flags behind -mllvm keep calls apart that end a function, as of abort in several places: merged, they would have no line.
	flags := []string{coverage, "-Xclang", "-fsanitize=fuzzer-no-link", "-mllvm", "-enable-tail-merge=0", "-mllvm", "-simplifycfg-sink-common=0"}
	flags = append(flags, macros()...)
	if !c.NoHooks {
		flags[0] += ",trace-cmp"
	}
	for _, f := range Compared {
		flags = append(flags, "-fno-builtin-"+f)
	}
	if c.Source {
		flags = append(flags, "-fprofile-instr-generate", "-fcoverage-mapping")
	}
	if !call.debug {
		flags = append(flags, "-gline-tables-only")
	}
	flags = append(flags, "-gno-split-dwarf") // the files that it makes may be gone, and name the inlined functions
	if !call.optimised {
		flags = append(flags, "-O2")
	}
	if !call.sanitized && !call.protected {
		flags = append(flags, "-fstack-protector-strong") // an overflow of an array on the stack is then reported in the function that owns the array
	}
	return append(flags, "-Wno-unused-command-line-argument") // linking ignores most of them
}

package clang

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/teaselfuzz/teasel/internal/sancov"
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
	for _, f := range [...]string{"main", "_exit", "_Exit"} {
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

// objectArgs returns arguments for object files, which are effective even after an option -x.
func objectArgs(c call, files ...string) []string {
	if c.language {
		files = append([]string{"-x", "none"}, files...)
	}
	if c.noDefaultLibraries {
		files = append(files, "-lc") // libraries must follow the objects that need them
	}
	return files
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

type step uint8

const (
	stepOther   step = iota // nothing to instrument
	stepCompile             // makes objects
	stepLink                // makes a program or a shared library
)

// call is a parsed command line of a compiler.
type call struct {
	args               []string // without arguments that conflict with ours
	step               step
	shared             bool
	preprocess         bool // -E was used
	fuzzer             bool // -fsanitize=fuzzer, or a library that stands for it, was used
	sanitized          bool // another sanitizer was used
	intercepts         bool // one of them has a memcmp of its own, which calls our hook
	debug              bool
	optimised          bool
	protected          bool // stack protection was chosen, or declined
	language           bool // -x was used
	static             bool
	noLibraries        bool     // -nostdlib: no library is linked, so that our runtime cannot be either
	noDefaultLibraries bool     // -nodefaultlibs: the C library is named explicitly, as by rustc
	machine            []string // flags that select the target machine
}

// withValue are clang's common options whose value is the next argument.
var withValue = map[string]bool{"-o": true, "-x": true, "-I": true, "-D": true, "-U": true, "-L": true, "-l": true,
	"-include": true, "-imacros": true, "-isystem": true, "-iquote": true, "-idirafter": true, "-isysroot": true,
	"-MF": true, "-MT": true, "-MQ": true, "-Xclang": true, "-Xlinker": true, "-Xpreprocessor": true, "-Xassembler": true,
	"-mllvm": true, "-target": true, "-T": true, "-u": true, "-z": true, "-e": true, "-arch": true, "-framework": true}

func parseCall(args []string) call {
	c := call{step: stepLink}
	inputs := 0
	for i := 0; i < len(args); i++ {
		a := args[i]
		value := withValue[a] && i+1 < len(args)
		if a == "-Xlinker" && value && withoutStrip("-Wl,"+args[i+1]) == "" {
			i++
			continue
		}
		kept := c.note(a)
		if kept == "" {
			continue
		}
		c.args = append(c.args, kept)
		if value {
			i++
			c.args = append(c.args, args[i])
			if a == "-target" || a == "-isysroot" {
				c.machine = append(c.machine, a, args[i])
			}
		} else if a == "-" || !strings.HasPrefix(a, "-") || strings.HasPrefix(a, "-l") {
			inputs++
		}
	}
	if inputs == 0 || c.noLibraries && c.step == stepLink {
		c.step = stepOther
	}
	return c
}

// note records one argument and returns the argument to pass on, "" for none.
func (c *call) note(a string) string {
	lower := func(s step) { c.step = min(c.step, s) }
	switch {
	case a == "-c" || a == "-S":
		lower(stepCompile)
	case a == "-E":
		c.preprocess = true
		lower(stepOther)
	case a == "-M" || a == "-MM" || a == "-fsyntax-only" || a == "-r" || a == "--analyze" || a == "-###" ||
		a == "--version" || strings.HasPrefix(a, "-print-") || strings.HasPrefix(a, "-dump"):
		lower(stepOther)
	case a == "-nostdlib":
		c.noLibraries = true
	case a == "-shared" || a == "--shared":
		c.shared = true
	case a == "-static" || a == "--static" || a == "-static-pie":
		c.static = true
	case a == "-nodefaultlibs":
		c.noDefaultLibraries = true
	case a == "-x":
		c.language = true
	case a == "-g0", strings.HasPrefix(a, "-gz"):
	case strings.HasPrefix(a, "-g") && !strings.HasPrefix(a, "-gcc"):
		c.debug = true
	case strings.HasPrefix(a, "-O"):
		c.optimised = true
	case strings.HasPrefix(a, "-fstack-protector"), a == "-fno-stack-protector":
		c.protected = true
	case a == "-m32" || a == "-m64" || strings.HasPrefix(a, "--target=") || strings.HasPrefix(a, "--sysroot="):
		c.machine = append(c.machine, a)
	case isFuzzerLibrary(a):
		c.fuzzer = true
		return ""
	case strings.HasPrefix(a, "-fsanitize-coverage="), a == "-s":
		return ""
	case strings.HasPrefix(a, "-Wl,"):
		return withoutStrip(a)
	case strings.HasPrefix(a, "-fsanitize="):
		return c.sanitizers(a)
	}
	return a
}

// withoutStrip removes the options to strip from an argument -Wl: findings need names, and the linker cannot keep relocations in a
// stripped program.
func withoutStrip(a string) string {
	kept := slices.DeleteFunc(strings.Split(a, ","), func(s string) bool { return s == "-s" || s == "--strip-all" })
	if len(kept) == 1 {
		return ""
	}
	return strings.Join(kept, ",")
}

// intercepting are the sanitizers that take the place of the C library's functions.
var intercepting = [...]string{"address", "hwaddress", "memory", "thread", "dataflow"}

// sanitizers removes libFuzzer, which teasel replaces, from an argument -fsanitize.
func (c *call) sanitizers(a string) string {
	var kept []string
	for s := range strings.SplitSeq(strings.TrimPrefix(a, "-fsanitize="), ",") {
		switch s {
		case "fuzzer":
			c.fuzzer = true
		case "fuzzer-no-link":
		default:
			kept = append(kept, s)
			c.intercepts = c.intercepts || slices.Contains(intercepting[:], s)
		}
	}
	if kept == nil {
		return ""
	}
	c.sanitized = true
	return "-fsanitize=" + strings.Join(kept, ",")
}

// object is a folder with the compiled runtime.
type object struct{ dir string }

func (r object) file(name string) string { return filepath.Join(r.dir, name) }

// exports are the symbols of the runtime that the program exports to its shared libraries.
const exports = "{ __sanitizer_cov_*; __wrap_*; __afl_*; memcmp; };\n"

// cache returns the folder for compiled runtimes. Distributions often build packages without a home directory: then the folder is
// in the directory for temporary files, and must belong to the current user.
func (c Compiler) cache() (string, error) {
	if c.Cache != "" {
		return c.Cache, nil
	}
	if user, err := os.UserCacheDir(); err == nil {
		dir := filepath.Join(user, "teasel")
		if os.MkdirAll(dir, 0o755) == nil && syscall.Access(dir, 2) == nil {
			return dir, nil
		}
	}
	dir := filepath.Join(os.TempDir(), fmt.Sprintf("teasel-cache-%d", os.Getuid()))
	if err := os.Mkdir(dir, 0o700); err != nil && !errors.Is(err, fs.ErrExist) {
		return "", err
	}
	info, err := os.Lstat(dir)
	if err != nil {
		return "", err
	}
	if owner, ok := info.Sys().(*syscall.Stat_t); !ok || !info.IsDir() || info.Mode().Perm()&0o077 != 0 || int(owner.Uid) != os.Getuid() {
		return "", fmt.Errorf("%s must belong to the current user and must not be accessible to others; hint: set XDG_CACHE_HOME to another folder", dir)
	}
	return dir, nil
}

// runtime returns the compiled runtime, and compiles it if it is not in the cache.
func (c Compiler) runtime(ctx context.Context, clang string, machine []string) (object, error) {
	cache, err := c.cache()
	if err != nil {
		return object{}, fmt.Errorf("looking for a cache folder: %w", err)
	}
	h := sha256.New()
	machine = append(slices.Clone(machine), fmt.Sprintf("-DTEASEL_PATH=%q", c.Teasel))
	fmt.Fprintf(h, "%s\x00%q\x00%s", clang, machine, exports)
	err = fs.WalkDir(sancov.Runtime, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		b, err := sancov.Runtime.ReadFile(name)
		fmt.Fprintf(h, "\x00%s\x00%s", name, b)
		return err
	})
	if err != nil {
		return object{}, fmt.Errorf("reading the runtime: %w", err)
	}
	o := object{filepath.Join(cache, "runtime-"+hex.EncodeToString(h.Sum(nil)[:8]))}
	if _, err := os.Stat(o.file("exports")); err == nil {
		now := time.Now()
		os.Chtimes(o.dir, now, now) // if that fails, the runtime may be pruned and compiled again
		return o, nil
	}
	if err := o.make(ctx, clang, machine); err != nil {
		return object{}, fmt.Errorf("compiling the runtime: %w", err)
	}
	prune(cache, time.Now().Add(-unusedTime))
	return o, nil
}

// unusedTime is how long an unused runtime is kept in the cache.
const unusedTime = 30 * 24 * time.Hour

// prune removes the runtimes, complete or not, that were not used since a time. Errors are ignored: they only cost disk space.
func prune(cache string, before time.Time) {
	for _, kind := range [...]string{"runtime-*", "making-*"} {
		dirs, _ := filepath.Glob(filepath.Join(cache, kind))
		for _, dir := range dirs {
			if info, err := os.Lstat(dir); err == nil && info.IsDir() && info.ModTime().Before(before) {
				os.RemoveAll(dir)
			}
		}
	}
}

// make compiles the runtime in a temporary folder and renames that when it is complete.
func (o object) make(ctx context.Context, clang string, machine []string) (err error) {
	if err := os.MkdirAll(filepath.Dir(o.dir), 0o755); err != nil {
		return err
	}
	tmp, err := os.MkdirTemp(filepath.Dir(o.dir), "making-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(tmp)) }()
	if err := os.CopyFS(tmp, sancov.Runtime); err != nil {
		return err
	}
	for _, name := range [...]string{"teasel_rt", "teasel_main", "teasel_driver", "teasel_defer", "teasel_loop", "teasel_so", "teasel_pad", "teasel_compare"} {
		args := append(slices.Clone(machine), "-O2", "-fPIC", "-fno-builtin", "-x", "c", "-c",
			filepath.Join(tmp, "runtime", name+".c"), "-o", filepath.Join(tmp, name+".o"))
		if out, err := exec.CommandContext(ctx, clang, args...).CombinedOutput(); err != nil {
			return fmt.Errorf("%s: %w\n%s", name, err, out)
		}
	}
	if err := archive(tmp, entries); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, emptyArchive), []byte(archiveMagic), 0o644); err != nil {
		return err
	}
	if err := os.WriteFile(filepath.Join(tmp, "exports"), []byte(exports), 0o644); err != nil {
		return err
	}
	if err := os.Rename(tmp, o.dir); err != nil {
		if _, there := os.Stat(o.dir); there != nil { // another process was faster
			return err
		}
	}
	return nil
}

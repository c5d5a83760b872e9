package triage

import (
	"fmt"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Frame is one function on a stack; inlined functions have frames of their own.
type Frame struct {
	Function    string // "": unknown
	File        string // "": unknown
	Line        int    // 0: unknown
	Column      int    // from a report; 0: unknown
	Module      string // path of the program or library; "": unknown
	Offset      uint64 // address in the module, as assigned by the linker
	DebugColumn int    // from the debug information, which distinguishes calls on one line; 0: unknown
}

// String returns the frame on one line.
func (f Frame) String() string {
	name := f.name()
	switch {
	case f.File == "":
		return name
	case f.Function == "":
		return name + ":" + f.position()
	case f.Line == 0: // the compiler may have merged calls on several lines
		return name + " " + f.File
	}
	return fmt.Sprintf("%s %s:%s", name, f.File, f.position())
}

// name returns the function or, where that is unknown, the file or the address.
func (f Frame) name() string {
	switch {
	case f.Function != "":
		return f.Function
	case f.File != "":
		return f.File
	}
	return fmt.Sprintf("%s+%#x", filepath.Base(f.Module), f.Offset)
}

// position returns line and, if it is known, column.
func (f Frame) position() string {
	if f.Column > 0 {
		return fmt.Sprintf("%d:%d", f.Line, f.Column)
	}
	return strconv.Itoa(f.Line)
}

// Libraries of languages, sanitizers and fuzzers' runtimes: a bug may be detected in their frames, but is not in them.
var (
	libraryModules = [...]string{"libc.so", "libm.so", "libc-2.", "ld-linux", "libgcc_s", "libstdc++", "libc++", "libunwind", "libpthread", "libasan", "libubsan", "libtsan",
		"liblsan", "libclang_rt.", "ld-musl", "libc.musl"}
	// cxxPrefixes begin the names of C++'s library, and of functions of the program itself that are inlined into its templates, or that
	// specialise them: those have a file of the program's.
	cxxPrefixes = [...]string{"std::", "__gnu_cxx::"}
	// cxxSource are the headers of C++'s library. With -gline-tables-only the names of functions that are inlined lack their namespaces.
	cxxSource       = regexp.MustCompile(`/include/([^/]+/)?c\+\+/`)
	libraryPrefixes = [...]string{"__asan_", "__interceptor_", "__sanitizer", "__msan_", "__ubsan_", "__interception", "___interceptor_",
		"__lsan", "__tsan", "__wrap_", "teasel_", "__sanitizer::", "__asan::", "__ubsan::", "__msan::",
		"<std::", "__cxxabiv1::", "__cxa_", "_Unwind_", "__rust", "_rust", "rust_begin_unwind", "rust_panic", "libfuzzer_sys::",
		"__assert", "__libc_", "__clang_call_terminate", "__stack_chk_fail", "__fortify_fail", "__chk_fail", "pthread_", "__pthread_kill", "_int_free", "_int_malloc", "_int_realloc"} // of a static program
	// rustCrates are crates of Rust's library. A namespace of the program may have the same name, but then has a source file.
	rustCrates       = [...]string{"core::", "<core::", "alloc::", "<alloc::"}
	rustSource       = regexp.MustCompile(`/(rustc|rustlib|rustc-[0-9.]+)/(\w+/)*library/\w+/src/`)
	libraryFunctions = map[string]bool{"memcpy": true, "memmove": true, "memset": true, "memcmp": true, "strlen": true, "strcpy": true,
		"strcat": true, "strncpy": true, "free": true, "malloc": true, "calloc": true, "realloc": true, "operator delete": true,
		"operator new": true, "operator delete[]": true, "operator new[]": true, "abort": true, "raise": true, "gsignal": true,
		"malloc_printerr": true, "malloc_consolidate": true, "munmap_chunk": true, "unlink_chunk": true,
		"_start": true, "start_thread": true, "clone": true, "clone3": true,
		"sleep": true, "usleep": true, "nanosleep": true, "clock_nanosleep": true} // our runtime defines these too
)

// InLibrary reports whether the function belongs to a language's library, a sanitizer or a fuzzer's runtime, or is entirely
// unknown: such a frame does not tell where the bug is.
func (f Frame) InLibrary() bool {
	switch path.Ext(f.File) {
	case ".go":
		return inGoLibrary(f.Function)
	case ".py":
		return pythonLibrary.MatchString(f.File) && !pythonPackage.MatchString(f.File)
	case ".java", ".kt", ".scala":
		return f.owner(Java) == ofLanguage
	case ".s":
		if strings.HasPrefix(f.Function, "runtime.") {
			return true
		}
	}
	if f.inLibraryModule() {
		return true
	}
	for _, s := range libraryPrefixes {
		if strings.HasPrefix(f.Function, s) {
			return true
		}
	}
	if hasPrefix(f.Function, cxxPrefixes[:]) && (f.File == "" || strings.HasPrefix(f.File, "/usr/")) {
		return true
	}
	if strings.HasPrefix(f.File, "<frozen ") || strings.HasPrefix(f.File, "node:") { // a module of Python's library, or of Node's
		return true
	}
	if f.File == "" && f.Module == "" && hasPrefix(f.Function, dotnetLibraries[:]) {
		return true
	}
	for _, s := range rustCrates {
		if f.File == "" && strings.HasPrefix(f.Function, s) {
			return true
		}
	}
	return libraryFunctions[f.Function] || cxxSource.MatchString(f.File) || rustSource.MatchString(f.File) || f.Module == "" && f.Function == "" && f.File == ""
}

func (f Frame) inLibraryModule() bool { return hasPrefix(filepath.Base(f.Module), libraryModules[:]) }

// Stack is a call stack, innermost frame first.
type Stack []Frame

// Top returns the innermost frame that is not in a library, nil if there is none. It points into s.
func (s Stack) Top() *Frame {
	theirs := s.theirs()
	for i := range s {
		if theirs(s[i]) {
			return &s[i]
		}
	}
	return nil
}

// theirs returns a function that reports whether a frame is of the program itself. If all frames are in libraries, those of C++'s
// templates count that the program has instantiated: their names have its types in them, and its functions are inlined into them.
func (s Stack) theirs() func(Frame) bool {
	own := func(f Frame) bool { return !f.InLibrary() }
	if slices.ContainsFunc(s, own) {
		return own
	}
	return func(f Frame) bool {
		return hasPrefix(f.Function, cxxPrefixes[:]) && strings.Contains(f.Function, "<") && !f.inLibraryModule()
	}
}

// CutSmashed removes the frames beyond the function whose stack canary was changed: their return addresses are overwritten. It
// returns s unchanged if there is no such function.
func (s Stack) CutSmashed() Stack {
	i := slices.IndexFunc(s, func(f Frame) bool { return f.Function == "__stack_chk_fail" }) + 1
	if i == 0 || i == len(s) {
		return s
	}
	end := i + 1
	for end < len(s) && s[end].Module == s[i].Module && s[end].Offset == s[i].Offset { // inlined into the same function
		end++
	}
	return s[:end]
}

// path returns the frames of the program itself without those of recursion: where a function is called again, directly or by others,
// the calls from its first one to that are left out. So the path to a fault does not depend on how deeply an input is nested.
func (s Stack) path() (path Stack) {
	theirs := s.theirs()
	at := map[string]int{} // in path, which is built from the outermost frame on
	for i := len(s) - 1; i >= 0; i-- {
		f := s[i]
		if !theirs(f) {
			continue
		}
		name := f.name()
		if first, again := at[name]; again {
			for _, left := range path[first:] {
				delete(at, left.name())
			}
			path = path[:first]
		}
		at[name] = len(path)
		path = append(path, f)
	}
	slices.Reverse(path)
	return path
}

// cycle returns the functions of an endless recursion, sorted: which of them is innermost is random.
func (s Stack) cycle() (names []string) {
	count := map[string]int{}
	for _, f := range s {
		if count[f.Function]++; count[f.Function] == 3 && f.Function != "" {
			names = append(names, f.Function)
		}
	}
	slices.Sort(names)
	return names
}

package triage

import (
	"regexp"
	"strings"
)

var (
	// The C library's assertion, and C++'s end of a program.
	assertion = regexp.MustCompile(`(?m)^.*: .*Assertion .* failed\.?.*$|^terminate called .*$`)
	// What glibc and libstdc++ write before they abort.
	abortTexts = [...]struct {
		text  string
		fault Fault
	}{
		{"double free or corruption (out)", HeapOverflow}, {"malloc assertion failure", HeapOverflow}, {"sysmalloc: Assertion", HeapOverflow},
		{"double free", DoubleFree}, {"free(): invalid", BadFree}, {"munmap_chunk(): invalid", BadFree},
		{"stack smashing detected", StackOverflow}, {"buffer overflow detected", StackOverflow},
		{"malloc(): ", HeapOverflow}, {"free(): ", HeapOverflow}, {"realloc(): ", HeapOverflow}, {"corrupted size", HeapOverflow},
		{"malloc_consolidate()", HeapOverflow}, {"corrupted double-linked", HeapOverflow}, {"std::bad_alloc", OutOfMemory},
		// What Rust's library writes.
		{"memory allocation of ", OutOfMemory}, {"has overflowed its stack", Recursion},
	}
)

// AbortFault returns the reason of a program that has called abort, by what it has written.
func AbortFault(stderr string) Fault {
	for _, k := range abortTexts {
		if strings.Contains(stderr, k.text) {
			return k.fault
		}
	}
	return Abort
}

// AbortMessage returns the line that says why a program has called abort, "" if none does.
func AbortMessage(stderr string) string {
	if m := findWith(assertion, stderr, "Assertion ", "terminate called "); m != nil {
		return stderr[m[0]:m[1]]
	}
	for _, k := range abortTexts {
		if i := strings.Index(stderr, k.text); i >= 0 {
			from := strings.LastIndexByte(stderr[:i], '\n') + 1
			line, _, _ := strings.Cut(stderr[from:], "\n")
			return line
		}
	}
	return ""
}

package triage

import (
	"regexp"
	"strings"
)

var (
	// The C library's assertion, and C++'s end of a program.
	assertion = regexp.MustCompile(`(?m)^.*: .*Assertion .* failed\.?.*$|^terminate called .*$`)
	// An assertion behind the name of the program: file, line, function and expression.
	assertionPlace = regexp.MustCompile(`(?m)^(?:.*?: )?([^:\n]+:\d+: .*Assertion .* failed\b.*)$`)
	starredWords   = regexp.MustCompile(`(?m)^\*\*\* .* \*\*\*`)
	uncaught       = regexp.MustCompile(`(?m)^(terminate called .*)(?:\n  what\(\):  (.*))?`)
	// The beginning of an exception's text, before what may come from the input.
	fixedWords = regexp.MustCompile("^[^\"'`0-9([{<]*")
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

// AbortPlace returns what tells the reason of a program that has called abort from others, by what it has written: the place of an
// assertion, or what the language's library says without what may differ from one input to the next. sure: no two bugs have
// the same. "": it says nothing of the kind.
func AbortPlace(stderr string) (place string, sure bool) {
	if m := assertionPlace.FindStringSubmatch(stderr); m != nil {
		return m[1], !strings.Contains(m[1], "/include/") // where all calls of a template have one place
	}
	if m := starredWords.FindString(stderr); m != "" {
		return m, false
	}
	m := uncaught.FindStringSubmatch(stderr)
	if m == nil {
		return "", false
	}
	what, _, _ := strings.Cut(fixedWords.FindString(m[2]), ": ")
	return strings.TrimSpace(m[1] + " " + strings.TrimSpace(what)), false
}

package triage

import (
	"regexp"
	"strings"
)

var (
	// A failed assertion of the C library, and the message of C++'s std::terminate.
	assertion = regexp.MustCompile(`(?m)^.*: .*Assertion .* failed\.?.*$|^terminate called .*$`)
	// An assertion without the leading name of the program: file, line, function and expression.
	assertionPlace = regexp.MustCompile(`(?m)^(?:.*?: )?([^:\n]+:\d+: .*Assertion .* failed\b.*)$`)
	starredWords   = regexp.MustCompile(`(?m)^\*\*\* .* \*\*\*`)
	uncaught       = regexp.MustCompile(`(?m)^(terminate called .*)(?:\n  what\(\):  (.*))?`)
	// The beginning of an exception's text, up to the first character that may come from the input.
	fixedWords = regexp.MustCompile("^[^\"'`0-9([{<]*")
	// Messages that glibc and libstdc++ write before they abort.
	abortTexts = [...]struct {
		text  string
		fault Fault
	}{
		{"double free or corruption (out)", HeapOverflow}, {"malloc assertion failure", HeapOverflow}, {"sysmalloc: Assertion", HeapOverflow},
		{"double free", DoubleFree}, {"free(): invalid", BadFree}, {"munmap_chunk(): invalid", BadFree},
		{"stack smashing detected", StackOverflow}, {"buffer overflow detected", StackOverflow},
		{"malloc(): ", HeapOverflow}, {"free(): ", HeapOverflow}, {"realloc(): ", HeapOverflow}, {"corrupted size", HeapOverflow},
		{"malloc_consolidate()", HeapOverflow}, {"corrupted double-linked", HeapOverflow}, {"std::bad_alloc", OutOfMemory},
		// Messages of Rust's library.
		{"memory allocation of ", OutOfMemory}, {"has overflowed its stack", Recursion},
	}
)

// AbortFault returns the reason why a program has called abort, according to its standard error; Abort if that gives none.
func AbortFault(stderr string) Fault {
	for _, k := range abortTexts {
		if strings.Contains(stderr, k.text) {
			return k.fault
		}
	}
	return Abort
}

// AbortMessage returns the line of standard error that tells why a program has called abort, "" if there is none.
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

// AbortPlace returns, from the standard error of a program that has called abort, a text that distinguishes the reason from other
// reasons: the place of an assertion, or the message of the language's library without the parts that may depend on the input.
// It returns "" if there is neither. sure reports that no two bugs have the same text.
func AbortPlace(stderr string) (place string, sure bool) {
	if m := assertionPlace.FindStringSubmatch(stderr); m != nil {
		return m[1], !strings.Contains(m[1], "/include/") // in a header, all uses of a template have the same place
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

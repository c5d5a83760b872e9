package triage

import (
	"cmp"
	"regexp"
	"strings"
	"unicode"
)

var (
	// A failed assertion, as the C libraries write it.
	assertion = regexp.MustCompile(`(?m)^.*: .*Assertion .* failed\.?.*$|^Assertion failed: .*$|^Fatal glibc error: .*$`)
	// An assertion without the leading name of the program: file, line, function and expression.
	assertionPlace = regexp.MustCompile(`(?m)^(?:.*?: )?([^:\n]+:\d+: .*Assertion .* failed\b.*)$`)
	starredWords   = regexp.MustCompile(`(?m)^\*\*\* .* \*\*\*`)
	// The message of std::terminate, of libstdc++ and of libc++, where the type is followed by what().
	uncaught        = regexp.MustCompile(`(?m)^(terminate called .*)(?:\n  what\(\):  (.*))?`)
	uncaughtByClang = regexp.MustCompile(`(?m)^libc\+\+abi(?:\.dylib)?: (terminating (?:with|due to) (?:uncaught|unexpected) exception of type .*?)(?:: (.*))?$`)
	// What our runtime says of the exception that is handled when a program calls abort: its mangled type, or what withTypes has put there, and
	// its value.
	handled      = regexp.MustCompile(`(?m)^teasel: exception of type (?:'([^'\n]+)'|(\S+?))(?:: (.*))?$`)
	deadlySignal = regexp.MustCompile(`(?m)^\w+Sanitizer:DEADLYSIGNAL$`)
	pureVirtual  = regexp.MustCompile(`(?mi)^.*pure virtual (?:method|function) called.*$`)
	longString   = regexp.MustCompile(`std::(?:__cxx11|__1)::basic_string<char, std::(?:__1::)?char_traits<char>, std::(?:__1::)?allocator<char> ?>`)
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

// WhileHandled begins the message of a program that has called abort while it handled an exception, and said no more.
const WhileHandled = "while it handled an exception of type "

// AbortMessage returns one line that tells why a program has called abort, from its standard error, "" if that gives no reason. Of an
// exception that nobody has caught it has the type and what() or, if it is a number or a string, the value.
func AbortMessage(stderr string) string {
	if m := findWith(assertion, stderr, "Assertion ", "Fatal glibc error: "); m != nil {
		return printable(stderr[m[0]:m[1]])
	}
	if m := findWith(pureVirtual, stderr, "ure virtual "); m != nil {
		return printable(stderr[m[0]:m[1]])
	}
	head, what, value := exception(stderr)
	if what = cmp.Or(what, value); what != "" {
		head += ": " + what
	}
	if head != "" && !strings.HasPrefix(head, WhileHandled) {
		return printable(head)
	}
	for _, k := range abortTexts {
		if i := strings.Index(stderr, k.text); i >= 0 {
			return printable(lineAt(stderr, i))
		}
	}
	return printable(cmp.Or(starredWords.FindString(stderr), head))
}

// exception returns what a library of C++ says of an exception that nobody has caught, or our runtime of one that is handled: words that
// end with its type, what(), and its value; "": nothing.
func exception(stderr string) (head, what, value string) {
	if m := handled.FindStringSubmatch(stderr); m != nil {
		head, value = WhileHandled+"'"+cmp.Or(m[1], typeName(m[2]))+"'", m[3]
	}
	for _, p := range [...]*regexp.Regexp{uncaught, uncaughtByClang} {
		if m := p.FindStringSubmatch(stderr); m != nil {
			head, what = m[1], m[2]
		}
	}
	return longString.ReplaceAllString(head, "std::string"), what, value
}

// typeName returns the source name of a type of C++.
func typeName(mangled string) string {
	return strings.TrimPrefix(Demangled("_ZTS"+mangled), "typeinfo name for ")
}

// withTypes returns a text in which what our runtime says of an exception has the source name of its type.
func withTypes(text string) string {
	m := handled.FindStringSubmatchIndex(text)
	if m == nil || m[4] < 0 {
		return text
	}
	return text[:m[4]] + "'" + longString.ReplaceAllString(typeName(text[m[4]:m[5]]), "std::string") + "'" + text[m[5]:]
}

// longestLine is how many bytes of a program's own words are shown on one line.
const longestLine = 300

// printable returns a line of a program's without what a terminal may take for a command, and at most longestLine bytes of it.
func printable(line string) string {
	line = strings.TrimRight(line, "\r\n")
	if len(line) > longestLine {
		line = line[:longestLine] + "..."
	}
	return strings.TrimSpace(strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) && r != unicode.ReplacementChar {
			return r
		}
		return '?'
	}, line))
}

// LastLine returns the last line that is not empty of a program's standard error, before the report of a sanitizer if there is one.
func LastLine(text string) string {
	text = handled.ReplaceAllString(text, "")
	if m := findWith(headline, text, "Sanitizer", "libFuzzer"); m != nil {
		text = text[:m[0]]
		if m := deadlySignal.FindStringIndex(text); m != nil {
			text = text[:m[0]]
		}
		text = strings.TrimRight(text, "=\n")
	}
	return LastLines(text, 1)
}

// LastLines returns the last n lines of a text that are not empty, printable.
func LastLines(text string, n int) string {
	var last []string
	for l := range strings.Lines(text) {
		if l = printable(l); l != "" {
			last = append(last, l)
		}
	}
	return strings.Join(last[max(0, len(last)-n):], "\n")
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
	head, what, _ := exception(stderr) // the value may be the input
	what, _, _ = strings.Cut(fixedWords.FindString(what), ": ")
	return strings.TrimSpace(head + " " + strings.TrimSpace(what)), false
}

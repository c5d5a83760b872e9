package triage

import (
	"regexp"
	"strings"
)

var (
	// The exceptions that Python raises only where the other side of a connection has closed it.
	pythonDisconnect = regexp.MustCompile(`^(?:BrokenPipeError|ConnectionResetError|ConnectionAbortedError|ssl\.SSLEOFError|asyncio\.exceptions\.IncompleteReadError)(?::|$)`)
	// The same of JavaScript, Java and .NET, whose errors have the kernel's words for it.
	callDisconnect = regexp.MustCompile(`\bError: (?:read|write) (?:EPIPE|ECONNRESET|ECONNABORTED)\b|` +
		`\b(?:IOException|SocketException)(?: \(\d+\))?: (?:[^"']*: )?(?:Broken pipe|Connection reset)\b`)
)

// WithoutDisconnects returns a text without the exceptions, and what stands above them, that say no more than that the other side of a
// connection has closed it: a client may do so at any time, and a server that goes on has lost nothing. Of a chain of exceptions
// the last one counts, as the program has handled those before it.
func WithoutDisconnects(text string) string {
	var kept strings.Builder
	at := 0
	cut := func(start, end int) {
		if start < at { // within one that is cut already
			return
		}
		kept.WriteString(text[at:start])
		at = end
	}
	all := tracebacks(text)
	for i, t := range all {
		if !pythonDisconnect.MatchString(t.message) || i+1 < len(all) && causeOf(text, all, i+1) <= i {
			continue
		}
		cut(headOf(text, all[causeOf(text, all, i)].start), t.end)
	}
	text, at = kept.String()+text[at:], 0
	kept.Reset()
	for _, t := range callTraces(text) {
		if callDisconnect.MatchString(t.message) {
			cut(t.start, t.end)
		}
	}
	return kept.String() + text[min(at, len(text)):]
}

// headOf returns where what Python and its libraries write above a traceback begins: in one of the two lines above it.
func headOf(text string, start int) int {
	above := lastLines(text[:start], 2)
	if m := caughtByLibrary.FindAllStringIndex(above, -1); m != nil {
		_, start = around(text, start-len(above)+m[len(m)-1][0])
	}
	return start
}

// CaughtByLibrary reports whether a text says, above an exception or beside it, that the program has not caught it: what socketserver,
// threading, asyncio and the frameworks write, which go on.
func CaughtByLibrary(text string) bool { return caughtByLibrary.MatchString(text) }

var caughtByLibrary = regexp.MustCompile(`(?i)exception (?:occurred|in|on|ignored)\b|unhandled|uncaught|never retrieved|internal server error|error handling request`)

package observe

import (
	"bytes"
	"cmp"
	"regexp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

type FaultKind uint8

const (
	// FaultNone: the text tells of no fault.
	FaultNone      FaultKind = iota
	FaultProgram             // the trace of an error that programs do not raise on purpose
	FaultPanic               // a panic or an exception that nobody caught
	FaultAssertion           // a failed assertion
	FaultMemory              // no memory
	FaultSanitizer           // the report of a sanitizer
)

// Fault is what standard error says went wrong.
type Fault struct {
	Kind  FaultKind
	Line  string // the line that says so
	Trace []byte // from that line on
}

// sign is a text that gives a fault away.
type sign struct {
	kind FaultKind
	text string
}

// signs are looked for in the order of this table; the last place at which one stands is taken, since standard error
// also holds what came before.
var signs = []sign{
	{FaultSanitizer, "ERROR: AddressSanitizer"}, {FaultSanitizer, "ERROR: LeakSanitizer"}, {FaultSanitizer, "WARNING: MemorySanitizer"},
	{FaultSanitizer, "WARNING: ThreadSanitizer"}, {FaultSanitizer, "UndefinedBehaviorSanitizer"}, {FaultSanitizer, ": runtime error: "},
	{FaultSanitizer, "WARNING: DATA RACE"},
	{FaultMemory, "JavaScript heap out of memory"}, {FaultMemory, "fatal error: runtime: out of memory"}, {FaultMemory, "java.lang.OutOfMemoryError"},
	{FaultMemory, "std::bad_alloc"}, {FaultMemory, "memory allocation of "}, {FaultMemory, "System.OutOfMemoryException"},
	{FaultMemory, "fatal error: cannot allocate memory"}, {FaultMemory, "\nMemoryError"}, {FaultMemory, "RangeError: Array buffer allocation failed"},
	{FaultAssertion, "' failed."}, {FaultAssertion, "Assertion failed"}, {FaultAssertion, "assertion failed"}, {FaultAssertion, "\nAssertionError"},
	{FaultAssertion, "AssertionError [ERR_ASSERTION]"}, {FaultAssertion, "assertion `"},
	{FaultPanic, "panic: "}, {FaultPanic, "panic serving "}, {FaultPanic, "fatal error: "}, {FaultPanic, "' panicked at "}, {FaultPanic, "panicked at "},
	{FaultPanic, "Unhandled exception"}, {FaultPanic, "UnhandledPromiseRejection"}, {FaultPanic, "[ERR_UNHANDLED_REJECTION]"},
	{FaultPanic, "Uncaught "}, {FaultPanic, "uncaughtException"}, {FaultPanic, "Exception in thread "}, {FaultPanic, "Task exception was never retrieved"},
	{FaultPanic, "terminate called after throwing"}, {FaultPanic, "Node.js v"}, {FaultPanic, "SIGSEGV: segmentation violation"},
	{FaultPanic, "Segmentation fault"},
	{FaultProgram, "TypeError: "}, {FaultProgram, "ReferenceError: "}, {FaultProgram, "RangeError: Maximum call stack"},
	{FaultProgram, "AttributeError: "}, {FaultProgram, "IndexError: "}, {FaultProgram, "KeyError: "}, {FaultProgram, "NameError: "},
	{FaultProgram, "ZeroDivisionError: "}, {FaultProgram, "RecursionError: "}, {FaultProgram, "UnboundLocalError: "},
	{FaultProgram, "NullPointerException"}, {FaultProgram, "IndexOutOfBoundsException"}, {FaultProgram, "NullReferenceException"},
}

// confirms says what has to stand near a sign for it to be believed, because its words are too common.
func (s sign) confirms(text []byte, at int) bool {
	after := text[at:min(len(text), at+8<<10)]
	switch {
	case s.text == "panic: ":
		return lineStart(text, at) && (bytes.Contains(after, []byte("goroutine ")) || bytes.Contains(after, []byte("[recovered]"))) || goStack.Match(after)
	case s.text == "panic serving ":
		return goStack.Match(after)
	case s.text == "fatal error: ":
		return lineStart(text, at)
	case s.text == ": runtime error: ":
		return sanitizedLine.Match(lineAt(text, at))
	case s.text == "' failed.":
		return bytes.Contains(lineAt(text, at), []byte("ssertion"))
	case s.text == "memory allocation of ":
		return bytes.Contains(after, []byte(" bytes failed"))
	case s.text == "Node.js v":
		// What Node writes last when nobody caught an exception; the trace stands before it.
		return lineStart(text, at) && NodeFrame.Match(text[:at])
	case s.text == "UnhandledPromiseRejection":
		return bytes.HasPrefix(after, []byte("UnhandledPromiseRejectionWarning: ")) || bytes.HasPrefix(after, []byte("UnhandledPromiseRejection: ")) || anyFrame.Match(after)
	case s.text == "Uncaught ", s.text == "Unhandled exception", s.text == "uncaughtException":
		return anyFrame.Match(after)
	case s.text == "Assertion failed":
		return lineStart(text, at) || placed.Match(lineAt(text, at))
	case s.text == "assertion failed":
		return bytes.Contains(lineAt(text, at), []byte("panicked at ")) || placed.Match(lineAt(text, at))
	case s.kind == FaultProgram:
		// Errors with a code are thrown on purpose.
		return !bytes.Contains(lineAt(text, at), []byte("[ERR_")) && !bytes.Contains(lineAt(text, at), []byte("Invalid URL")) &&
			(NodeFrame.Match(after) || JavaFrame.Match(after) || pythonTraceBefore(text, at))
	}
	return true
}

// placed is a line that names the place in the program that it is about.
var placed = regexp.MustCompile(`[\w/.-]+\.\w+:\d+`)

// goStack is a line of a log, a few more lines of its message, and the stack that a program prints which has recovered.
var goStack = regexp.MustCompile(`^[^\n]*\n(?:[^\n]*\n){0,4}?goroutine \d+ \[running`)

// sanitizedLine is how a report of undefined behaviour begins; Go's panics have the same words.
var sanitizedLine = regexp.MustCompile(`^\S+:\d+:\d+: runtime error: `)

func pythonTraceBefore(text []byte, at int) bool {
	return lineStart(text, at) && bytes.Contains(text[max(0, at-8<<10):at], tracebackHead)
}

func lineStart(text []byte, at int) bool { return at == 0 || text[at-1] == '\n' }

// lineAt returns the line around an offset.
func lineAt(text []byte, at int) []byte {
	if at < len(text) && text[at] == '\n' {
		at++
	}
	start := bytes.LastIndexByte(text[:at], '\n') + 1
	line := text[start:]
	if end := bytes.IndexByte(line, '\n'); end >= 0 {
		line = line[:end]
	}
	return line
}

// groupTree is what Python draws to the left of the traces of an ExceptionGroup.
var groupTree = regexp.MustCompile(`(?m)^(?: *[|+])+(?:-[+-]*(?: \d+ -+)?$| ?)`)

// tracebackHead begins a trace of Python's.
var tracebackHead = []byte("Traceback (most recent call last)")

// LastWords reads the end of the standard error of a process that has ended. There every trace of Python's that nothing
// follows is that of an exception which nobody caught; while a process lives, it may only have been logged.
func LastWords(text []byte) Fault {
	if f := FindFault(text); f.Kind != FaultNone {
		return f
	}
	text = groupTree.ReplaceAll(text, nil)
	at := bytes.LastIndex(text, tracebackHead)
	if at < 0 {
		return Fault{}
	}
	frames := PythonFrame.FindAllIndex(text[at:], -1)
	if len(frames) == 0 {
		return Fault{}
	}
	for _, line := range bytes.Split(text[at+frames[len(frames)-1][1]:], []byte{'\n'}) {
		if len(line) > 0 && line[0] != ' ' {
			return Fault{Kind: FaultPanic, Line: string(bytes.TrimSpace(line)), Trace: text[at:]}
		}
	}
	return Fault{}
}

// FindFault reads the end of standard error. The zero fault means that nothing looks wrong.
func FindFault(text []byte) Fault {
	if len(text) == 0 {
		return Fault{}
	}
	if bytes.Contains(text, []byte("ExceptionGroup")) {
		text = groupTree.ReplaceAll(text, nil)
	}
	for _, s := range signs {
		at := bytes.LastIndex(text, []byte(s.text))
		if at < 0 || !s.confirms(text, at) {
			continue
		}
		if text[at] == '\n' {
			at++
		}
		f := Fault{Kind: s.kind, Line: string(bytes.TrimSpace(lineAt(text, at)))}
		start := at
		if s.kind == FaultAssertion && !pythonTraceBefore(text, at) {
			start = bytes.LastIndexByte(text[:at], '\n') + 1 // the place stands before the words
		}
		if s.text == "Node.js v" {
			start, f.Line = lastNodeError(text, max(0, at-8<<10), at)
		} else if pythonTraceBefore(text, at) {
			start = bytes.LastIndex(text[:at], tracebackHead)
		}
		f.Trace = text[start:]
		return f
	}
	return Fault{}
}

var nodeError = regexp.MustCompile(`(?m)^(?:Uncaught )?[A-Za-z_$][\w$.]*(?:Error|Exception)\b.*$`)

// lastNodeError returns where between two offsets the last line is that names an error, and that line. What stands above
// it may be the trace of an error that was handled, and logged.
func lastNodeError(text []byte, from, to int) (start int, line string) {
	all := nodeError.FindAllIndex(text[from:to], -1)
	if len(all) == 0 {
		return from, "uncaught exception"
	}
	last := all[len(all)-1]
	return from + last[0], string(text[from+last[0] : from+last[1]])
}

// Frames of stack traces, as their runtimes print them.
var (
	GoFrame     = regexp.MustCompile(`(?m)^([\w./*()\[\]{}·-]+)\([^\n]*\)(?: in goroutine \d+)?\n\t([^\s:]+\.(?:go|s)):(\d+)`)
	NodeFrame   = regexp.MustCompile(`(?m)^\s+at (?:(?:async |new )*([^\s(]+)(?: \[as \w+\])? \()?([^\s()]*?):(\d+:\d+)\)?$`)
	JavaFrame   = regexp.MustCompile(`(?m)^\s+at ([\w.$]+)\(([\w]+\.(?:java|kt|scala)):(\d+)\)`)
	DotnetFrame = regexp.MustCompile("(?m)^\\s+at ([\\w.`<>]+)\\([^)\\n]*\\)(?: in (\\S+):line (\\d+))?\r?$")
	PythonFrame = regexp.MustCompile(`(?m)^\s*File "([^"]+)", line (\d+), in (\S+)`)
	PhpFrame    = regexp.MustCompile(`(?m)^#\d+ ([^\n(]+\.php)\((\d+)\): ([^\s(]+)\(`)
	RubyFrame   = regexp.MustCompile("(?m)^\\s*(?:from )?(\\S+\\.rb):(\\d+):in [`'](?:block (?:\\(\\d+ levels\\) )?in )?([^'\\n]+)'")
	RustPanic   = regexp.MustCompile(`panicked at (?:'[^\n]*', )?([^\s:]+\.rs):(\d+)`)
	glibcAssert = regexp.MustCompile(`(?m)([^\s:]+\.\w+):(\d+): ([^\n]*?): Assertion .* failed\.`)
	bsdAssert   = regexp.MustCompile(`(?m)Assertion failed: .*, function (\S+), file (\S+), line (\d+)`)
	nativeFrame = regexp.MustCompile(`(?m)^\s+#\d+ 0x[0-9a-f]+ in (\S+) ?(\S*?)(?::(\d+))?(?::\d+)?$`)
	anyFrame    = regexp.MustCompile(GoFrame.String() + "|" + NodeFrame.String() + "|" + JavaFrame.String() + "|" + DotnetFrame.String())
)

// Place names where a fault arose in a way that stays the same from run to run: the first frame that is not the
// runtime's own, else the words of the line that reports it.
func (f Fault) Place(e *Echo) string {
	if frame := TopFrame(f.Trace); frame != "" {
		return frame
	}
	if f.Kind == FaultMemory { // the size comes from the input, of which parts of the other words would be taken out
		e = nil
	}
	return string(AppendNormal(nil, jsonrpc.CutBytes(f.Line, 120), e))
}

// TopFrame returns the innermost frame of a stack trace that belongs to the program, with its line: a function may fail in several ways.
// It returns "" if there is no trace.
func TopFrame(trace []byte) string {
	if frame := topGoFrame(trace); frame != "" {
		return frame
	}
	if m := RustPanic.FindSubmatch(trace); m != nil {
		return at(nil, m[1], m[2])
	}
	if m := glibcAssert.FindSubmatch(trace); m != nil {
		return at(m[3], m[1], m[2])
	}
	if m := bsdAssert.FindSubmatch(trace); m != nil {
		return at(m[1], m[2], m[3])
	}
	if all := PythonFrame.FindAllSubmatch(trace, 64); len(all) > 0 {
		m, own := all[len(all)-1], 0
		for _, frame := range all { // the innermost of those that are the program's most likely
			if n := ownPython(string(frame[1])); n > 0 && n >= own {
				m, own = frame, n
			}
		}
		return at(m[3], m[1], m[2])
	}
	for _, frame := range []*regexp.Regexp{NodeFrame, JavaFrame, nativeFrame, DotnetFrame} {
		for _, m := range frame.FindAllSubmatch(trace, 32) {
			name, file := string(m[1]), string(m[2])
			if !strings.HasPrefix(file, "node:") && !strings.HasPrefix(name, "__") && !strings.HasPrefix(name, "java.") {
				return at(m[1], m[2], m[3])
			}
		}
	}
	for _, frame := range []*regexp.Regexp{PhpFrame, RubyFrame} {
		if m := frame.FindSubmatch(trace); m != nil {
			return at(m[3], m[1], m[2])
		}
	}
	return ""
}

// ownPython says how likely a frame of Python's is the program's own: 3 for a file of its own, 2 for a package that was installed, as
// the program itself may be, 1 for one that most servers use, or the script that pip has made to start it, 0 for Python's library.
func ownPython(file string) int {
	library := strings.Contains(file, "/lib/python")
	_, name, installed := strings.Cut(file, "-packages/")
	name, _, _ = strings.Cut(name, "/")
	switch {
	case file[0] == '<' || library && !installed:
		return 0
	case installed && slices.Contains(commonPackages[:], name) || strings.Contains(file, "/bin/"):
		return 1
	case installed:
		return 2
	}
	return 3
}

// commonPackages are libraries of servers, whose frames say little of where the server's mistake is.
var commonPackages = [...]string{"mcp", "fastmcp", "anyio", "trio", "sniffio", "pydantic", "pydantic_core", "starlette", "uvicorn", "httpx", "httpcore",
	"click", "typer", "exceptiongroup"}

// at returns a function, the name of its file, and the line, of which each may be empty.
func at(function, file, line []byte) string {
	place := base(string(file))
	if len(line) > 0 {
		place += ":" + string(line)
	}
	return strings.TrimSpace(string(function) + " " + place)
}

// topGoFrame is TopFrame for Go. Where a function that has recovered prints the stack, it stands above the panic itself.
func topGoFrame(trace []byte) string {
	var top, above string
	for _, m := range GoFrame.FindAllSubmatch(trace, 64) {
		name := string(m[1])
		switch {
		case name == "panic":
			top, above = "", cmp.Or(top, above)
		case top == "" && !runtimeFrame(name):
			top = at(m[1], m[2], m[3])
		}
	}
	return cmp.Or(top, above)
}

func runtimeFrame(name string) bool {
	return name == "panic" || strings.HasPrefix(name, "runtime.") || strings.HasPrefix(name, "runtime/") || strings.HasPrefix(name, "internal/")
}

// base returns a path's last part.
func base(path string) string {
	if i := strings.LastIndexAny(path, `/\`); i >= 0 {
		return path[i+1:]
	}
	return path
}

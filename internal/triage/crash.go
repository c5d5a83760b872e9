package triage

import (
	"bytes"
	"cmp"
	"regexp"
	"strings"
)

// Crash is what a program's own words say of its fault, in any language.
type Crash struct {
	Report
	Language  Language
	Line      string // the line of the text that says so
	Offset    int    // of that line, or of the trace that it ends, in the text
	Uncaught  bool   // the runtime says that the program did not handle it
	Sanitizer bool   // a sanitizer says so
	end       int    // offset behind the trace; 0: unknown
}

// severity orders crashes: of several in one text the worst counts, and of those the last.
func (c *Crash) severity() int {
	switch {
	case c.Sanitizer:
		return 4
	case c.Fault == OutOfMemory:
		return 3
	case c.Fault == Assertion:
		return 2
	case c.Uncaught:
		return 1
	}
	return 0
}

// covers reports whether another crash is part of the trace of c.
func (c *Crash) covers(other *Crash) bool {
	return len(c.Stack) > len(other.Stack) && c.Offset <= other.Offset && other.Offset < max(c.end, c.Offset+1)
}

// Logged reports whether the program may have handled the fault, and logged it.
func (c *Crash) Logged() bool { return c.severity() == 0 }

// finder collects the worst crash of a text.
type finder struct {
	text  string
	ended bool
	best  Crash
	found bool
}

func (x *finder) add(c Crash) {
	if c.Line == "" {
		c.Line = strings.TrimSpace(lineAt(x.text, c.Offset))
	}
	if x.found {
		order := c.severity() - x.best.severity()
		switch { // words within a trace say the same with less
		case order == 0 && c.covers(&x.best):
			order = 1
		case order == 0 && x.best.covers(&c):
			order = -1
		}
		if cmp.Or(order, c.Offset-x.best.Offset) < 0 {
			return
		}
	}
	x.best, x.found = c, true
}

// crashWords are in every text of a crash; most of what programs log has none of them.
var crashWords = [...][]byte{[]byte("rror"), []byte("xception"), []byte("anic"), []byte("RROR"), []byte("ARNING: "), []byte("ssertion"), []byte("FATAL"),
	[]byte("Node.js v"), []byte("out of memory"), []byte("terminate called"), []byte("bad_alloc"), []byte("memory allocation"), []byte("egmentation"),
	[]byte("Traceback"), []byte("overflow"), []byte("NHANDLED"), []byte("nhandled"), []byte("goroutine "), []byte("stack trace")}

// LastCrash returns the worst crash that a text has in it, which is the end of what a program has written; of several that are as bad,
// the last. ended says that the program has ended: then an exception at the end of the text is why, whatever its type; of a program
// that goes on, only what is certainly a mistake in it counts, and not what it may raise and handle on purpose.
func LastCrash(text []byte, ended bool) (c Crash, found bool) {
	possible := false
	for _, words := range crashWords {
		if possible = bytes.Contains(text, words); possible {
			break
		}
	}
	if !possible {
		return Crash{}, false
	}
	x := finder{text: string(text), ended: ended}
	x.sanitizers()
	x.certain(false)
	x.words()
	x.golang()
	x.rust()
	x.python()
	x.calls()
	x.nodeWithoutTrace()
	x.scripting()
	if !x.found {
		x.certain(true)
	}
	return x.best, x.found
}

// Trace returns the last stack trace in a text that is not a crash, such as an answer to a client. It is certain that it is one: where
// one line may look like a frame by chance, there are two.
func Trace(text string) (c Crash, found bool) {
	x := finder{text: text}
	if strings.Contains(text, "goroutine ") {
		if s, at := goFrame.frames(text); len(s) > 0 {
			x.add(Crash{Report: Report{Fault: Panic, Stack: fromPanic(s)}, Language: Go, Offset: at})
		}
	}
	for _, t := range tracebacks(text) {
		if len(t.stack) > 0 {
			x.add(Crash{Report: Report{Fault: Exception, Message: t.message, Stack: t.stack}, Language: Python, Offset: t.frames})
		}
	}
	for _, m := range rustPlace.matches("panicked at ", text) {
		x.add(Crash{Report: Report{Fault: Panic, Stack: rustStack(text, m)}, Language: Rust, Line: text[m[0]:m[1]], Offset: m[0]})
	}
	for _, t := range callTraces(text) {
		if t.certain() {
			x.add(Crash{Report: Report{Fault: Exception, Message: t.message, Stack: t.stack}, Language: t.language, Offset: t.frames})
		}
	}
	for _, p := range [...]struct {
		framePattern
		language Language
		words    string
	}{{phpFrame, PHP, ".php("}, {rubyFrame, Ruby, ".rb:"}} {
		if !strings.Contains(text, p.words) {
			continue
		}
		if s, at := p.frames(text); len(s) > 1 {
			x.add(Crash{Report: Report{Fault: Exception, Stack: s}, Language: p.language, Offset: at})
		}
	}
	return x.best, x.found
}

// lineAt returns the line around an offset.
func lineAt(text string, at int) string {
	start := strings.LastIndexByte(text[:at], '\n') + 1
	line, _, _ := strings.Cut(text[start:], "\n")
	return line
}

// around returns the line around an offset, and where it begins.
func around(text string, at int) (line string, start int) {
	return lineAt(text, at), strings.LastIndexByte(text[:at], '\n') + 1
}

// sanitizers reads the reports of sanitizers, and of Go's race detector.
func (x *finder) sanitizers() {
	at := -1
	for _, words := range [...]string{"Sanitizer", ": runtime error: ", "WARNING: DATA RACE"} {
		if i := strings.Index(x.text, words); i >= 0 && (at < 0 || i < at) {
			at = i
		}
	}
	if at < 0 {
		return
	}
	c := Crash{Language: C, Sanitizer: true}
	if race := strings.LastIndex(x.text, "WARNING: DATA RACE"); race >= 0 {
		c.Language, c.Fault, c.Offset = Go, DataRace, race
		c.GoCrash(x.text) // false if the report is cut off
		x.add(c)
		return
	}
	if !strings.Contains(x.text, "Sanitizer") && !sanitizedLine.MatchString(x.text) {
		return
	}
	if (Reader{}).Refine(&c.Report, x.text, "") {
		_, c.Offset = around(x.text, at)
		x.add(c)
	}
}

// sanitizedLine is how a report of undefined behaviour begins; Go's panics have the same words.
var sanitizedLine = regexp.MustCompile(`(?m)^\S+:\d+:\d+: runtime error: `)

// certainWords are texts that nothing but a crash has in it.
var certainWords = [...]struct {
	text     string
	language Language
	fault    Fault
	start    bool // the text begins a line
	weak     bool // others say more, if there are any
}{
	{"JavaScript heap out of memory", JavaScript, OutOfMemory, false, false},
	{"RangeError: Array buffer allocation failed", JavaScript, OutOfMemory, false, false},
	{"java.lang.OutOfMemoryError", Java, OutOfMemory, false, false},
	{"There is insufficient memory for the Java Runtime Environment", Java, OutOfMemory, false, false},
	{"std::bad_alloc", C, OutOfMemory, false, false},
	{"System.OutOfMemoryException", DotNet, OutOfMemory, false, false},
	{"Out of memory.\n", DotNet, OutOfMemory, true, false},
	{"fatal error: cannot allocate memory", Go, OutOfMemory, false, false},
	{"fatal error: runtime: out of memory", Go, OutOfMemory, false, false},
	{"MemoryError", Python, OutOfMemory, true, false},
	{"AssertionError [ERR_ASSERTION]", JavaScript, Assertion, false, false},
	{"FATAL ERROR: ", JavaScript, Abort, true, false},
	{"# Fatal error in ", JavaScript, Abort, true, false},
	{"Fatal JavaScript ", JavaScript, Abort, true, false},
	{"Fatal Python error: ", Python, Abort, true, false},
	{"terminate called ", C, Abort, true, false},
	{"libc++abi: terminating ", C, Abort, true, false},
	{"has overflowed its stack", Rust, Recursion, false, false},
	{"SIGSEGV: segmentation violation", Go, InvalidAccess, true, false},
	{"# A fatal error has been detected by the Java Runtime Environment", Java, Abort, true, false},
	{"Process terminated. ", DotNet, Abort, true, false},
	{"Fatal error. ", DotNet, Abort, true, false},
	{"Stack overflow.\n", DotNet, Recursion, true, false},
	{"Stack overflow.\r\n", DotNet, Recursion, true, false},
	{"----- JavaScript stack trace -----", JavaScript, Abort, true, true}, // process.abort
	{"UnhandledPromiseRejectionWarning: ", JavaScript, Exception, false, true},
	{"UnhandledPromiseRejection: ", JavaScript, Exception, false, true},
	{"Segmentation fault", "", InvalidAccess, false, true}, // what a shell says
}

var (
	placedWords = regexp.MustCompile(`(?m)^.*[\w/.-]+\.\w+:\d+.*[Aa]ssertion failed.*$|^Assertion failed.*$|^.*[Aa]ssertion failed.*[\w/.-]+\.\w+:\d+.*$`)
	allocation  = regexp.MustCompile(`memory allocation of \d+ bytes failed`)
	// Why Java's virtual machine has given up.
	hotspotReason = regexp.MustCompile(`(?m)^#\s+(SIG\w+|Internal Error \(.*?\)|EXCEPTION_\w+)`)
)

// certain finds the words that nothing but a crash has in it, the weak ones or the others.
func (x *finder) certain(weak bool) {
	for _, w := range certainWords {
		at := strings.LastIndex(x.text, w.text)
		if at < 0 || w.start && at > 0 && x.text[at-1] != '\n' || w.weak != weak {
			continue
		}
		c := Crash{Report: Report{Fault: w.fault}, Language: w.language, Uncaught: true}
		var line string
		line, c.Offset = around(x.text, at)
		c.Message = strings.TrimSpace(line)
		x.detail(&c, at)
		x.add(c)
	}
}

// words finds failed assertions and allocations.
func (x *finder) words() {
	if strings.Contains(x.text, "ssertion ") { // cheaper than the patterns
		for _, p := range [...]framePattern{glibcAssert, bsdAssert} {
			if f, at := p.last(x.text); at >= 0 {
				x.assertion(at, f)
			}
		}
		if all := placedWords.FindAllStringIndex(x.text, -1); all != nil && !strings.Contains(x.text, "panicked at ") {
			x.assertion(all[len(all)-1][0])
		}
	}
	if !strings.Contains(x.text, "memory allocation of ") {
		return
	}
	if all := allocation.FindAllStringIndex(x.text, -1); all != nil {
		line, at := around(x.text, all[len(all)-1][0])
		x.add(Crash{Report: Report{Fault: OutOfMemory, Message: line}, Language: Rust, Offset: at, Uncaught: true})
	}
}

func (x *finder) assertion(at int, place ...Frame) {
	line, start := around(x.text, at)
	x.add(Crash{Report: Report{Fault: Assertion, Message: strings.TrimSpace(line), Stack: place}, Language: C, Offset: start, Uncaught: true})
}

// detail reads what stands below the line with which a runtime gives up.
func (x *finder) detail(c *Crash, at int) {
	after := x.text[at:]
	switch c.Language {
	case JavaScript:
		if _, calls, ok := strings.Cut(after, "JavaScript stack trace -----"); ok {
			c.Stack, _ = v8Frame.frames(calls)
		}
	case C:
		if c.Fault == Abort {
			c.Message = cmp.Or(AbortMessage(after), c.Message)
		}
	case Python:
		switch {
		case c.Fault != Abort:
			return
		case strings.Contains(c.Message, "Segmentation fault"):
			c.Fault = InvalidAccess
		case strings.Contains(c.Message, "tack overflow"):
			c.Fault = Recursion
		}
		c.Stack, _ = fatalFrame.frames(after)
	case Java:
		m := hotspotReason.FindStringSubmatch(after)
		if m == nil || c.Fault != Abort {
			return
		}
		c.Message = m[1]
		if !strings.HasPrefix(m[1], "Internal Error") {
			c.Fault = InvalidAccess
		}
		c.Stack, _ = hotspotFrame.frames(after)
	case Go:
		c.Stack, _ = goFrame.frames(firstGoroutine(after))
	case DotNet:
		switch {
		case strings.Contains(c.Message, "Assertion failed"):
			c.Fault = Assertion
		case strings.Contains(c.Message, "AccessViolation"):
			c.Fault = InvalidAccess
		}
		c.Stack, _ = dotnetFrame.frames(after)
	}
}

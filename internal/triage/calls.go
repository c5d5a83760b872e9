package triage

import (
	"regexp"
	"slices"
	"strings"
)

// callTrace is a trace whose frames begin with "at", as those of JavaScript, Java and .NET do.
type callTrace struct {
	language      Language
	line          string // that names the error
	name, code    string // of the error, such as TypeError and ERR_INVALID_ARG_TYPE
	message       string
	start, frames int // offsets of the error and of the first frame
	end           int
	stack         Stack // of the error that has caused the others
	uncaught      bool
}

// certain reports whether text from anywhere is a trace: what one line could be by chance takes two. What was built for release has
// no lines; there the names have to be those of methods in classes in namespaces.
func (t *callTrace) certain() bool {
	if len(t.stack) < 2 {
		return false
	}
	return t.language != DotNet || slices.ContainsFunc(t.stack, func(f Frame) bool { return f.Line > 0 }) ||
		!slices.ContainsFunc(t.stack[:2], func(f Frame) bool { return strings.Count(f.Function, ".") < 2 })
}

var (
	// The line that names an error, whatever stands before it in a log.
	errorName = regexp.MustCompile("(?:^|[\\s:>\\[(])((?:[\\w$`]+\\.)*[A-Z][\\w$]*(?:Error|Exception|Rejection|RejectionWarning)|Error)(?: \\[([A-Z_]+)\\])?(?:: ?(.*)|\\s*$)")
	// What runtimes and the programs' own last resorts say of an error that nobody has caught.
	nobodyCaught = regexp.MustCompile(`Uncaught |uncaughtException|Unhandled [Ee]xception|UnhandledPromiseRejection|ERR_UNHANDLED_REJECTION|Exception in thread "|unhandledRejection`)
	caretLine    = regexp.MustCompile(`^\s*\^+\s*$`)
	placeLine    = newFramePattern(`^(?P<file>\S.*):(?P<line>\d+)$`)
	ofCause      = regexp.MustCompile(`^\s*(?:Caused by: |\[cause\]: )`)
	// Lines within a trace that are no frames.
	betweenFrames = regexp.MustCompile(`^\s*(?:\.\.\. \d+ |\[\.\.\. lines matching|--- End of|Repeat \d+ times:|-{8,}|Suppressed: )`)
	endOfInner    = "--- End of inner exception stack trace ---"
)

// headLines is how many lines the text of an error may have.
const headLines = 12

// textLine is a line and its offset.
type textLine struct {
	text string
	at   int
}

func textLines(text string) (lines []textLine) {
	at := 0
	for l := range strings.Lines(text) {
		lines = append(lines, textLine{strings.TrimRight(l, "\r\n"), at})
		at += len(l)
	}
	return lines
}

func isCall(line string) bool {
	trimmed := strings.TrimLeft(line, " \t")
	return len(trimmed) < len(line) && strings.HasPrefix(trimmed, "at ") && len(trimmed) > 3
}

// hasCall reports whether a line of the text is a call, without an allocation.
func hasCall(text string) bool {
	for rest := text; ; {
		i := strings.Index(rest, "at ")
		if i < 0 {
			return false
		}
		line := rest[:i]
		line = line[strings.LastIndexByte(line, '\n')+1:]
		if line != "" && strings.Trim(line, " \t") == "" {
			return true
		}
		rest = rest[i+len("at "):]
	}
}

// callTraces returns the traces in a text.
func callTraces(text string) (traces []callTrace) {
	if !hasCall(text) {
		return nil
	}
	lines := textLines(text)
	after := 0 // the line behind the last trace
	for i := 0; i < len(lines); i++ {
		if !isCall(lines[i].text) {
			continue
		}
		t := callTrace{frames: lines[i].at}
		end := t.read(lines, i)
		if len(t.stack) > 0 {
			t.readHead(lines, after, i)
			t.uncaught = t.uncaught || t.language == JavaScript && endsNode(lines, end)
			traces = append(traces, t)
		}
		i, after = end-1, end
	}
	return traces
}

// read reads the frames from a line on, and returns the line behind them.
func (t *callTrace) read(lines []textLine, i int) int {
	outer := false // the frames are those of an error that another has caused
	for ; i < len(lines); i++ {
		line := lines[i].text
		switch {
		case isCall(line):
			if f, l := readCall(line); l != "" && !outer && len(t.stack) < maxCalls {
				t.stack = append(t.stack, f)
				if t.language == "" {
					t.language = l
				}
			}
		case ofCause.MatchString(line): // of Java and JavaScript: the cause is below
			t.stack = nil
			t.readName(line)
		case strings.Contains(line, endOfInner): // of .NET: the cause is above
			outer = true
		case strings.HasPrefix(line, "Emitted '"), strings.Contains(line, "Suppressed: "):
			outer = true
		case betweenFrames.MatchString(line):
		default:
			t.end = lines[i].at
			return i
		}
	}
	if len(lines) > 0 {
		t.end = lines[len(lines)-1].at + 1
	}
	return i
}

// readCall reads one frame; "" is returned if it cannot be read.
func readCall(line string) (Frame, Language) {
	for _, p := range [...]struct {
		framePattern
		language Language
	}{{javaFrame, Java}, {nodeFrame, JavaScript}, {dotnetFrame, DotNet}} {
		if m := p.FindStringSubmatchIndex(line); m != nil {
			f := p.frame(line, m)
			if p.language == DotNet && (strings.HasSuffix(line, "(Native Method)") || strings.HasSuffix(line, "(Unknown Source)")) {
				return f, Java
			}
			return f, p.language
		}
	}
	return Frame{}, ""
}

// readName reads the error that a line names, if any.
func (t *callTrace) readName(line string) bool {
	all := errorName.FindAllStringSubmatch(line, -1)
	if all == nil {
		return false
	}
	m := all[0]
	t.name, t.code, t.message = m[1], m[2], strings.TrimSpace(line)
	return true
}

// readHead reads the lines from a line on and before the first frame, which name the error.
func (t *callTrace) readHead(lines []textLine, from, first int) {
	from = max(from, first-headLines)
	cause, head := t.name != "", first-1
	for ; head > from; head-- {
		if errorName.MatchString(lines[head].text) {
			break
		}
	}
	if head < from || !errorName.MatchString(lines[head].text) {
		head = max(first-1, 0)
	}
	for head > from && strings.Contains(lines[head].text, " ---> ") && !errorName.MatchString(strings.Split(lines[head].text, " ---> ")[0]) {
		if cause = t.readName(lines[head].text); !cause {
			break
		}
		head--
	}
	t.start, t.line = lines[head].at, strings.TrimSpace(lines[head].text)
	if head == first { // the text begins with a frame
		t.line = ""
	}
	if at := strings.LastIndex(t.line, " ---> "); at >= 0 && t.readName(t.line[at:]) {
		cause = true
	}
	if !cause && !t.readName(t.line) {
		t.message = t.line
	}
	for i := max(from, head-3); i < first; i++ {
		t.uncaught = t.uncaught || nobodyCaught.MatchString(lines[i].text)
	}
	// Below a place and a line of the program, V8 points to where it was thrown.
	for i := max(from, head-2); i < head; i++ {
		t.uncaught = t.uncaught || t.language == JavaScript && caretLine.MatchString(lines[i].text)
	}
}

// nodeEnd begins the last line that Node writes when nobody has caught an error.
const nodeEnd = "Node.js v"

// endsNode reports whether Node ends after the trace that ends before a line.
func endsNode(lines []textLine, i int) bool {
	for _, l := range lines[i:min(len(lines), i+40)] {
		switch {
		case strings.HasPrefix(l.text, nodeEnd):
			return true
		case isCall(l.text), l.text != "" && l.text[0] != ' ' && l.text[0] != '}' && l.text[0] != '{' && errorName.MatchString(l.text):
			return false
		}
	}
	return false
}

// calls adds the exceptions of JavaScript, Java and .NET.
func (x *finder) calls() {
	for _, t := range callTraces(x.text) {
		fault, mistake := faultOfError(t.name, t.code, t.message)
		if !t.uncaught && !mistake && fault != OutOfMemory && fault != Assertion {
			continue
		}
		x.add(Crash{Report: Report{Fault: fault, Message: t.message, Stack: t.stack}, Language: t.language, Line: t.line, Offset: t.start, Uncaught: t.uncaught, end: t.end})
	}
}

// nodeWithoutTrace adds what was thrown and is no error, of which Node writes no frames but where it was thrown.
func (x *finder) nodeWithoutTrace() {
	end := strings.LastIndex(x.text, "\n"+nodeEnd)
	if end < 0 {
		return
	}
	lines := textLines(x.text[:end+1])
	for i := len(lines) - 1; i > max(2, len(lines)-40); i-- {
		if isCall(lines[i].text) {
			return
		}
		if !caretLine.MatchString(lines[i-1].text) {
			continue
		}
		c := Crash{Report: Report{Fault: Exception}, Language: JavaScript, Offset: lines[i-1].at, Uncaught: true}
		for _, l := range lines[i:] {
			if c.Line = strings.TrimSpace(l.text); c.Line != "" {
				break
			}
		}
		c.Message = c.Line
		for _, l := range lines[max(0, i-4) : i-1] {
			if m := placeLine.FindStringSubmatchIndex(l.text); m != nil {
				c.Stack, c.Offset = Stack{placeLine.frame(l.text, m)}, l.at
			}
		}
		x.add(c)
		return
	}
}

// mistakes are the errors that programs do not raise on purpose.
var mistakes = [...]string{"TypeError", "ReferenceError", "AttributeError", "IndexError", "KeyError", "NameError", "ZeroDivisionError", "UnboundLocalError",
	"NullPointerException", "IndexOutOfBoundsException", "ArrayIndexOutOfBoundsException", "StringIndexOutOfBoundsException", "NullReferenceException", "IndexOutOfRangeException"}

// faultOfError returns the fault of an error of JavaScript, Python, Java or .NET, and whether it is a mistake in the program. Errors of
// Node's with a code are thrown on purpose.
func faultOfError(name, code, message string) (f Fault, mistake bool) {
	name = name[strings.LastIndexByte(name, '.')+1:]
	switch {
	case name == "MemoryError", name == "OutOfMemoryError", name == "OutOfMemoryException",
		name == "RangeError" && strings.Contains(message, "Array buffer allocation failed"):
		return OutOfMemory, false
	case name == "AssertionError":
		return Assertion, false
	case name == "RecursionError", name == "StackOverflowError", name == "StackOverflowException",
		name == "RangeError" && strings.Contains(message, "Maximum call stack"):
		return Recursion, true
	}
	return Exception, slices.Contains(mistakes[:], name) && !strings.HasPrefix(code, "ERR_") && !strings.Contains(message, "Invalid URL")
}

package judge

import (
	"regexp"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/gofunc/agent"
)

// fatalStatus is the exit status with which the runtime ends a process.
const fatalStatus = 2

var (
	endingLine = regexp.MustCompile(`(?m)^(?:(panic|fatal error): .*|(SIG[A-Z]+): (.*)\nPC=.*)$`)
	stackLine  = regexp.MustCompile(`(?m)^(?:goroutine \d+ .*:|runtime stack:)$`)
	saidLine   = regexp.MustCompile(`^ +testing\.go:\d+: (` + agent.Mark + ` ?)?(.*)`)
)

// end is what the runtime has printed before it ended the process.
type end struct {
	kind   string // panic, fatal error, or the name of a signal
	signal string // what the signal means; "": it was none
	text   string // from the line on that says why
}

// ending finds what the runtime has printed: the last line that says why a process ends, with goroutines after it. Lines of a
// message that a panic has are indented, and so is what package testing prints of a log.
func ending(text string) (e end, ok bool) {
	if _, called := exitCall(text); called { // it was not the runtime
		return e, false
	}
	stacks := stackLine.FindAllStringIndex(text, -1)
	if stacks == nil {
		return e, false
	}
	last := stacks[len(stacks)-1][0]
	ends := endingLine.FindAllStringSubmatchIndex(text, -1)
	for i := len(ends) - 1; i >= 0; i-- {
		m := ends[i]
		if m[0] > last {
			continue
		}
		e.text = text[m[0]:]
		if m[2] >= 0 {
			e.kind = text[m[2]:m[3]]
		} else {
			e.kind, e.signal = text[m[4]:m[5]], text[m[6]:m[7]]
		}
		return e, true
	}
	return e, false
}

// verdict judges the end of the process.
func (e *end) verdict() verdict {
	if e.signal != "" {
		v := named(ruleSignal, "the process was ended by a signal: "+e.signal, inner(e.text))
		if v.subject != "" { // one function of C may fail in several ways
			v.group += ", " + e.kind
		}
		return v
	}
	if e.kind == "panic" {
		return panics(e.text)
	}
	first, _, _ := strings.Cut(e.text, "\n")
	switch {
	case strings.Contains(first, "stack overflow"):
		return overflow(e.text, inner(e.text))
	case strings.Contains(first, "out of memory"), strings.Contains(first, "cannot allocate memory"):
		return named(ruleMemory, first, inner(e.text))
	case strings.Contains(first, "all goroutines are asleep"):
		return named(ruleDeadlock, first, inner(e.text))
	}
	return named(ruleFatal, first, inner(e.text))
}

// Fatal reports whether the runtime has printed that it ends the process by a fatal error, and goroutines.
func Fatal(text string) bool {
	e, ok := ending(text)
	return ok && e.kind == "fatal error"
}

// testingSays returns what package testing itself says of a failure that begins with a text, from there on. Where failures are
// marked, that is one of them: what a test logs may look alike.
func testingSays(text, begins string) (found string, ok bool) {
	marked := strings.Contains(text, agent.Mark)
	for line := text; ; { // the expression alone takes longer than most tests, which counts where many inputs fail
		at := strings.Index(line, "testing.go:")
		if at < 0 {
			return "", false
		}
		line = line[strings.LastIndexByte(line[:at], '\n')+1:]
		if m := saidLine.FindStringSubmatchIndex(line[:len(line)-len(after(line))]); m != nil && marked == (m[2] >= 0) && strings.HasPrefix(line[m[4]:m[5]], begins) {
			return line[m[4]:], true
		}
		line = after(line)
	}
}

// after returns what follows the first line of a text.
func after(text string) string {
	_, rest, _ := strings.Cut(text, "\n")
	return rest
}

// unmarked returns what package testing, or the process, would have printed without teasel.
func unmarked(text string) string {
	if at := strings.LastIndex(text, agent.ExitMark); at >= 0 {
		text = text[:at]
	}
	return strings.ReplaceAll(strings.ReplaceAll(text, agent.Mark+" ", ""), agent.Mark, "")
}

// What the runtime prints before it ends a process to which the system gives no more memory: a line with the size of the allocation,
// if there is no address space for it, or else the call that has failed, in the stack.
var (
	allocationLine = regexp.MustCompile(`(?m)^runtime: out of memory: cannot allocate (\d+)-byte block`)
	allocationCall = regexp.MustCompile(`(?m)^runtime\.mallocgc\(0x([0-9a-f]+),`)
)

// Allocation returns how many bytes a process asked for when the runtime ended it, since the system had none for it; 0: it did not.
func Allocation(text string) (size uint64) {
	if all := allocationLine.FindAllStringSubmatch(text, -1); all != nil {
		size, _ = strconv.ParseUint(all[len(all)-1][1], 10, 64)
		return size
	}
	e, ok := ending(text)
	if !ok || !e.exhausted() {
		return 0
	}
	if call := allocationCall.FindStringSubmatch(e.text); call != nil {
		size, _ = strconv.ParseUint(call[1], 16, 64)
	}
	return size
}

// Exhausted reports whether the runtime ended a process since it got no memory.
func Exhausted(text string) bool {
	e, ok := ending(text)
	return ok && e.exhausted()
}

// Segmentation reports whether a segmentation violation ended a process, which the runtime also runs into where it does not look
// whether it got memory.
func Segmentation(text string) bool {
	e, ok := ending(text)
	return ok && e.kind == "SIGSEGV"
}

// exhausted reports whether the runtime says that it got no memory.
func (e *end) exhausted() bool {
	first, _, _ := strings.Cut(e.text, "\n")
	return e.kind == "fatal error" && (strings.Contains(first, "memory") || strings.Contains(first, "cannot map pages"))
}

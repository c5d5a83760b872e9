package triage

import (
	"regexp"
	"strconv"
	"strings"
)

// The format in which Python writes an exception that was not caught, or that the program logs. The innermost call is last.
//
//	Traceback (most recent call last):
//	  File "/srv/app.py", line 9, in handle
//	    x[1]
//	KeyError: 1
const tracebackLine = "Traceback (most recent call last):"

var (
	tracebackFrame = regexp.MustCompile(`^\s+File "(.+)", line (\d+)(?:, in (.+))?$`)
	// The text between the tracebacks of two chained exceptions.
	exceptionChain = regexp.MustCompile(`\n\n(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):\n\n$`)
	// What Python draws to the left of the tracebacks of an ExceptionGroup.
	groupLine = regexp.MustCompile(`^(?: *[|+])+ ?`)
	// What Python and its libraries write above an exception that nobody has caught.
	neverCaught = regexp.MustCompile(`Exception in thread |Task exception was never retrieved|Exception ignored in|Unhandled exception|Uncaught `)
	// Files of Python's standard library, and of packages that are installed beside it.
	pythonLibrary = regexp.MustCompile(`/lib/python[0-9.]+/`)
	pythonPackage = regexp.MustCompile(`/(site|dist)-packages/`)
)

// traceback is an exception that Python has written.
type traceback struct {
	start, frames, end int // offsets of its first line, of its first frame, and behind it
	message            string
	stack              Stack
}

// tracebacks returns the complete tracebacks in a text. The message of one may be preceded by those of a group of exceptions.
func tracebacks(text string) (all []traceback) {
	for at := 0; ; {
		i := strings.Index(text[at:], tracebackLine)
		if i < 0 {
			return all
		}
		head := at + i
		at = head + len(tracebackLine)
		_, start := around(text, head)
		t := traceback{start: start}
		if t.read(text, at, strings.ContainsAny(text[start:head], "|+")) {
			all = append(all, t)
			at = t.end
		}
	}
}

// read reads the lines of a traceback behind the first one.
func (t *traceback) read(text string, at int, inGroup bool) bool {
	rest := text[at:]
	if rest == "" || rest[0] != '\n' && rest[0] != '\r' {
		return false
	}
	_, rest, _ = strings.Cut(rest, "\n")
	at = len(text) - len(rest)
	for l := range strings.Lines(rest) {
		start := at
		at += len(l)
		l = strings.TrimRight(l, "\r\n")
		if inGroup {
			l = l[len(groupLine.FindString(l)):]
		}
		if m := tracebackFrame.FindStringSubmatch(l); m != nil {
			line, _ := strconv.Atoi(m[2])
			if t.stack == nil {
				t.frames = start
			}
			t.stack = append(Stack{{Function: m[3], File: m[1], Line: line}}, t.stack...)
		} else if l != "" && l[0] != ' ' {
			t.message, t.end = l, at
			return !strings.HasPrefix(l, tracebackLine)
		}
	}
	return false // the traceback is truncated
}

// causeOf returns the index of the exception that has caused the i-th: the first of a chain.
func causeOf(text string, all []traceback, i int) int {
	for ; i > 0 && exceptionChain.MatchString(text[max(0, all[i].start-200):all[i].start]); i-- {
	}
	return i
}

// Traceback sets r by the last Python exception in the text; of a chain of exceptions, by the first, which has caused the others.
// It returns false, and leaves r unchanged, if there is none.
func (r *Report) Traceback(text string) bool {
	all := tracebacks(text)
	if len(all) == 0 {
		return false
	}
	t := &all[causeOf(text, all, len(all)-1)]
	r.Fault, r.Message, r.Stack = Exception, t.message, t.stack
	return true
}

// python adds the exceptions of Python.
func (x *finder) python() {
	all := tracebacks(x.text)
	for i, t := range all {
		name, _, _ := strings.Cut(t.message, ":")
		fault, mistake := faultOfError(name, "", t.message)
		above := x.text[:t.start]
		above = above[max(0, len(above)-400):]
		uncaught := neverCaught.MatchString(lastLines(above, 2)) || x.ended && i == len(all)-1
		if !uncaught && !mistake && fault != OutOfMemory && fault != Assertion {
			continue
		}
		cause := &all[causeOf(x.text, all, i)]
		x.add(Crash{Report: Report{Fault: fault, Message: t.message, Stack: cause.stack}, Language: Python, Line: t.message, Offset: t.start, Uncaught: uncaught, end: t.end})
	}
}

// lastLines returns the last n lines of a text.
func lastLines(text string, n int) string {
	at := len(text)
	for range n {
		if at = strings.LastIndexByte(text[:max(0, at-1)], '\n') + 1; at == 0 {
			break
		}
	}
	return text[at:]
}

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
const tracebackLine = "Traceback (most recent call last):\n"

var (
	tracebackFrame = regexp.MustCompile(`^  File "(.+)", line (\d+), in (.+)$`)
	// The text between the tracebacks of two chained exceptions.
	exceptionChain = regexp.MustCompile(`\n\n(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):\n\n$`)
	// Files of Python's standard library, and of packages that are installed beside it.
	pythonLibrary = regexp.MustCompile(`/lib/python[0-9.]+/`)
	pythonPackage = regexp.MustCompile(`/(site|dist)-packages/`)
)

// Traceback sets r by the last Python exception in the text; of a chain of exceptions, by the first, which has caused the others.
// It returns false, and leaves r unchanged, if there is none.
func (r *Report) Traceback(text string) bool {
	first := strings.LastIndex(text, tracebackLine)
	if first < 0 {
		return false
	}
	for exceptionChain.MatchString(text[:first]) {
		earlier := strings.LastIndex(text[:first], tracebackLine)
		if earlier < 0 {
			break
		}
		first = earlier
	}
	var stack Stack
	for l := range strings.Lines(text[first+len(tracebackLine):]) {
		l = strings.TrimRight(l, "\r\n")
		if m := tracebackFrame.FindStringSubmatch(l); m != nil {
			line, _ := strconv.Atoi(m[2])
			stack = append(Stack{{Function: m[3], File: m[1], Line: line}}, stack...)
		} else if l != "" && l[0] != ' ' {
			r.Fault, r.Message, r.Stack = Exception, l, stack
			return true
		}
	}
	return false // the traceback is truncated
}

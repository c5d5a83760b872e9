package triage

import (
	"regexp"
	"strconv"
	"strings"
)

// What Python writes of an exception that nothing in the program has caught, or that the program logs, the innermost call last.
//
//	Traceback (most recent call last):
//	  File "/srv/app.py", line 9, in handle
//	    x[1]
//	KeyError: 1
const tracebackLine = "Traceback (most recent call last):\n"

var (
	tracebackFrame = regexp.MustCompile(`^  File "(.+)", line (\d+), in (.+)$`)
	// Between the tracebacks of an exception and of another that it led to, and the latter.
	exceptionChain = regexp.MustCompile(`\n\n(?:During handling of the above exception, another exception occurred|The above exception was the direct cause of the following exception):\n\n$`)
	// The standard library of Python, and not what was installed beside it.
	pythonLibrary = regexp.MustCompile(`/lib/python[0-9.]+/`)
	pythonPackage = regexp.MustCompile(`/(site|dist)-packages/`)
)

// Traceback reads the last exception of Python's in a text into r. If that is of a chain, it is the first exception of the
// chain, to which the others are due. False: there is none, and r stays as it is.
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
	return false // it is cut off
}

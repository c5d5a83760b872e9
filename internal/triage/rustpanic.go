package triage

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// The message of Rust's library when a thread panics, in the form since Rust 1.73 and in the older form:
//
//	thread 'main' (7) panicked at src/lib.rs:3:5:
//	index out of bounds: the len is 3 but the index is 5
//
//	thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 5', src/lib.rs:3:5
var (
	panicLine    = regexp.MustCompile(`(?m)^thread .* panicked at (\S.*?):(\d+):(\d+):\n(.*)$`)
	panicLineOld = regexp.MustCompile(`(?ms)^thread [^\n]* panicked at '(.*?)', ([^\n']+):(\d+):(\d+)$`)
)

// RustPanic sets r by the message of a Rust panic in the text, if the panic may be the reason why the program has called abort or
// exit, or if r.Fault is unknown. It returns false, and leaves the fault unchanged, if there is no panic. The position in the
// message is more exact than the stack: compilers merge the calls that panic at the end of a function. The innermost frames that
// belong to Rust's library, which are the same for all panics, are removed, also those of a failed allocation.
func (r *Report) RustPanic(text string) bool {
	if r.Fault == OutOfMemory {
		r.Stack.cutLibrary()
	}
	if r.Fault != Abort && r.Fault != Exit && r.Fault != "" || !strings.Contains(text, " panicked at ") { // cheaper than the patterns
		return false
	}
	var message, file, line, column string
	if all := panicLine.FindAllStringSubmatch(text, -1); all != nil {
		m := all[len(all)-1] // earlier panics were caught
		file, line, column, message = m[1], m[2], m[3], m[4]
	} else if all := panicLineOld.FindAllStringSubmatch(text, -1); all != nil {
		m := all[len(all)-1]
		message, file, line, column = m[1], m[2], m[3], m[4]
	} else {
		return false
	}
	r.Fault = Panic
	r.Message, _, _ = strings.Cut(message, "\n")
	at := Frame{File: file}
	at.Line, _ = strconv.Atoi(line)
	at.Column, _ = strconv.Atoi(column)
	top := r.Stack.cutLibrary()
	if top == nil {
		r.Stack = Stack{at}
	} else if top.File == file || strings.HasSuffix(top.File, "/"+file) {
		top.Line, top.Column = at.Line, at.Column
	}
	return true
}

// cutLibrary removes the innermost frames that belong to libraries and returns the innermost remaining one. If all frames belong to
// libraries, it returns nil and leaves the stack unchanged.
func (s *Stack) cutLibrary() *Frame {
	i := slices.IndexFunc(*s, func(f Frame) bool { return !f.InLibrary() })
	if i < 0 {
		return nil
	}
	*s = (*s)[i:]
	return &(*s)[0]
}

// rust adds the panics of Rust.
func (x *finder) rust() {
	for _, m := range rustPlace.matches("panicked at ", x.text) {
		line, start := around(x.text, m[0])
		c := Crash{Report: Report{Fault: Panic, Message: line, Stack: rustStack(x.text, m)}, Language: Rust, Line: line, Offset: start, Uncaught: true}
		if rest := x.text[m[1]:]; strings.HasPrefix(rest, ":\n") { // the message is on the next line
			c.Message = lineAt(rest, 2)
		}
		if strings.Contains(c.Message, "assertion failed") || strings.Contains(c.Message, "assertion `") {
			c.Fault = Assertion
		}
		x.add(c)
	}
}

// rustStack returns the place of a panic, which is more exact than the frames, and behind it the frames that are written below it.
func rustStack(text string, m []int) Stack {
	s := Stack{rustPlace.frame(text, m)}
	if below := text[m[1]:]; strings.Contains(below, "stack backtrace:") {
		if next := strings.Index(below, "panicked at "); next >= 0 {
			below = below[:next]
		}
		calls, _ := rustFrame.frames(below)
		s = append(s, calls...)
	}
	return s
}

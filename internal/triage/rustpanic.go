package triage

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// What Rust's library writes when a thread panics: since 1.73 the message is on the lines that follow.
//
//	thread 'main' (7) panicked at src/lib.rs:3:5:
//	index out of bounds: the len is 3 but the index is 5
//
//	thread 'main' panicked at 'index out of bounds: the len is 3 but the index is 5', src/lib.rs:3:5
var (
	panicLine    = regexp.MustCompile(`(?m)^thread .* panicked at (\S.*?):(\d+):(\d+):\n(.*)$`)
	panicLineOld = regexp.MustCompile(`(?ms)^thread [^\n]* panicked at '(.*?)', ([^\n']+):(\d+):(\d+)$`)
)

// RustPanic reads what a thread of Rust wrote when it panicked into r, if that may be why the program has called abort or
// exit, or if it is not known to have ended. False: there is no panic, and r keeps its fault. The place that the panic names is more exact than the stack: compilers join the calls that panic at the end of a function.
// The frames of Rust's library, which are the same for all panics, are cut off, as they are of an allocation that failed.
func (r *Report) RustPanic(text string) bool {
	if r.Fault == OutOfMemory {
		r.Stack.cutLibrary()
	}
	if r.Fault != Abort && r.Fault != Exit && r.Fault != "" || !strings.Contains(text, " panicked at ") { // the patterns take longer to say so
		return false
	}
	var message, file, line, column string
	if all := panicLine.FindAllStringSubmatch(text, -1); all != nil {
		m := all[len(all)-1] // the panics before it were caught
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

// cutLibrary cuts the innermost frames off that are a library's and returns the frame that called it. nil: all frames are,
// and the stack stays as it is.
func (s *Stack) cutLibrary() *Frame {
	i := slices.IndexFunc(*s, func(f Frame) bool { return !f.InLibrary() })
	if i < 0 {
		return nil
	}
	*s = (*s)[i:]
	return &(*s)[0]
}

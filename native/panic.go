package native

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

// panicked makes a panic of an abort, if a panic was the reason. Where it says it was is more exact than the stack:
// compilers join the calls that panic at the end of a function.
func (c *Crash) panicked() {
	if c.Rule == ruleMemory {
		c.caller()
	}
	if c.Rule != ruleAbort || !strings.Contains(c.Report, " panicked at ") { // the patterns take longer to say so
		return
	}
	var message, file, line, column string
	if all := panicLine.FindAllStringSubmatch(c.Report, -1); all != nil {
		m := all[len(all)-1] // those before were caught
		file, line, column, message = m[1], m[2], m[3], m[4]
	} else if all := panicLineOld.FindAllStringSubmatch(c.Report, -1); all != nil {
		m := all[len(all)-1]
		message, file, line, column = m[1], m[2], m[3], m[4]
	} else {
		return
	}
	c.Rule = rulePanic
	c.Message, _, _ = strings.Cut(message, "\n")
	at := Frame{Function: "?", File: file}
	at.Line, _ = strconv.Atoi(line)
	at.Column, _ = strconv.Atoi(column)
	top := c.caller()
	if top == nil {
		c.Stack = []Frame{at}
	} else if top.File == file || strings.HasSuffix(top.File, "/"+file) {
		top.Line, top.Column = at.Line, at.Column
	}
}

// caller cuts off how a library ends the process, which is the same for all, and returns the frame that called it; nil
// if there is none.
func (c *Crash) caller() *Frame {
	i := slices.IndexFunc(c.Stack, func(f Frame) bool { return !f.foreign() })
	if i < 0 {
		return nil
	}
	c.Stack = c.Stack[i:]
	return &c.Stack[0]
}

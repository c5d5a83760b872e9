package agent

import "sync/atomic"

// Mark is what the text of a failure begins with, of t.Error or t.Fatal, once [MarkFailures] was called. Package testing
// prints it and the text of t.Log alike.
const Mark = "\x01failure\x01"

// ExitMark stands before the stack of a call of os.Exit, at the end of what the process writes to standard error.
const ExitMark = "\x01exit\x01\n"

// marks is a variable of the package since package testing, which knows of no runner, reads it.
var marks atomic.Bool

// MarkFailures has package testing mark the texts of failures from now on.
func MarkFailures() { marks.Store(true) }

// Marks reports whether the texts of failures are marked.
func Marks() bool { return marks.Load() }

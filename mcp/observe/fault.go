package observe

import (
	"github.com/teaselfuzz/teasel/internal/triage"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

// FaultKind is how bad it is what standard error says went wrong.
type FaultKind uint8

// The kinds of faults, the mildest first.
const (
	FaultNone      FaultKind = iota
	FaultProgram             // the trace of an error that programs do not raise on purpose
	FaultPanic               // a panic or an exception that nobody caught
	FaultAssertion           // a failed assertion
	FaultMemory              // no memory
	FaultSanitizer           // the report of a sanitizer
)

// Crash is a crash or trace that a program has written.
type Crash = triage.Crash

// Fault is what standard error says went wrong.
type Fault struct {
	Kind FaultKind
	Crash
}

// FindFault reads the end of standard error. The zero fault means that nothing looks wrong.
func FindFault(text []byte) Fault { return faultIn(text, false) }

// LastWords reads the end of the standard error of a process that has ended. There an exception at the end of the text is one that
// nobody caught; while a process lives, it may only have been logged.
func LastWords(text []byte) Fault { return faultIn(text, true) }

func faultIn(text []byte, ended bool) (f Fault) {
	c, found := triage.LastCrash(text, ended)
	if !found {
		return f
	}
	f.Crash = c
	switch {
	case c.Sanitizer:
		f.Kind = FaultSanitizer
	case c.Fault == triage.OutOfMemory:
		f.Kind = FaultMemory
	case c.Fault == triage.Assertion:
		f.Kind = FaultAssertion
	case c.Logged():
		f.Kind = FaultProgram
	default:
		f.Kind = FaultPanic
	}
	return f
}

// Origin returns the frame that tells a fault from others: that which is to blame or, where all are of the language itself, as of an error that
// Node raises in an event, the innermost; "": there is none.
func (f *Fault) Origin() string {
	if frame := f.Frame(); frame != "" || len(f.Stack) == 0 {
		return frame
	}
	return f.Stack[0].Short()
}

// Place names where a fault arose in a way that stays the same from run to run: the frame that is to blame, else the words of the line
// that reports it.
func (f *Fault) Place(e *Echo) string {
	if frame := f.Frame(); frame != "" {
		return frame
	}
	if f.Kind == FaultMemory { // the size comes from the input, of which parts of the other words would be taken out
		e = nil
	}
	return string(AppendNormal(nil, jsonrpc.CutBytes(f.Line, 120), e))
}

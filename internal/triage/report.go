package triage

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"syscall"
)

// Report is what is known of the end of a program. Its zero value knows nothing. [Reader.Refine], [Report.RustPanic],
// [Report.GoCrash] and [Report.Traceback] add what the program has written.
type Report struct {
	Fault   Fault
	Message string // one line of the sanitizer or the language's library; "": none
	Access  string // "read", "write", "execute"; "": unknown
	Address uint64 // that was accessed; 0: unknown, or 0
	PC      uint64 // address of the instruction; 0: unknown
	Stack   Stack
}

// Late reports whether the C library's allocator has noticed the damage, some time after it was done: the stack is of
// somebody else.
func (r *Report) Late() bool { return r.Fault == HeapOverflow && AbortFault(r.Message) == HeapOverflow }

// keyFrames is how many of the program's own functions name a bug.
const keyFrames = 3

// Key names the bug by where the innermost three of the program's own functions are, the first with its line. "": nothing
// is known of the place.
func (r *Report) Key() string {
	if r.Fault == Recursion {
		if cycle := r.Stack.cycle(); len(cycle) > 0 {
			return strings.Join(cycle, " < ")
		}
	}
	var parts []string
	for _, f := range r.Stack {
		if f.InLibrary() {
			continue
		}
		name := f.name()
		switch {
		case f.Function == "" && f.File == "":
		case r.Fault == Hang: // the line, and how deep a recursion was, are chance
			if len(parts) > 0 && parts[len(parts)-1] == name {
				continue
			}
		case len(parts) == 0 && f.Line > 0 && !r.Late():
			name += ":" + f.position()
		}
		if parts = append(parts, name); len(parts) == keyFrames {
			break
		}
	}
	return strings.Join(parts, " < ")
}

// Function returns the function to blame: the innermost of the program's own. "": unknown.
func (r *Report) Function() string {
	if cycle := r.Stack.cycle(); r.Fault == Recursion && len(cycle) > 0 {
		return cycle[0]
	}
	if f := r.Stack.Top(); f != nil {
		return f.Function
	}
	return ""
}

// Place names the access by all of the program's own calls that led to it, each with its line and column. Faults of one
// place are one bug, though a sanitizer calls them by different names. "": it is no fault of memory, or not known so well.
func (r *Report) Place() string {
	top := r.Stack.Top()
	if top == nil || top.Line == 0 || r.Late() || !slices.Contains(ofMemory[:], r.Fault) {
		return ""
	}
	h := sha256.New()
	for _, f := range r.Stack {
		if !f.InLibrary() {
			fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\n", f.Function, f.File, f.Line, f.DebugColumn)
		}
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// OfSignal returns the fault behind a signal that has ended a program, which has written stderr.
func OfSignal(signal syscall.Signal, stderr string) Fault {
	switch signal {
	case syscall.SIGFPE:
		return Arithmetic
	case syscall.SIGILL, syscall.SIGTRAP:
		return Trap
	case syscall.SIGABRT:
		return AbortFault(stderr)
	case syscall.SIGSEGV, syscall.SIGBUS:
		return InvalidAccess
	}
	return Signal
}

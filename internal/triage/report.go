package triage

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"syscall"
)

// Report describes how a program has failed. In the zero value everything is unknown. [Reader.Refine], [Report.RustPanic],
// [Report.GoCrash] and [Report.Traceback] add information from the program's output.
type Report struct {
	Fault   Fault
	Message string // one line of the sanitizer or the language's library; "": none
	Access  string // "read", "write", "execute"; "": unknown
	Address uint64 // that was accessed; 0: unknown, or 0
	PC      uint64 // address of the instruction; 0: unknown
	Stack   Stack
	Sampled bool // Stack is where the program was when it was over a limit, so that its lines say little
}

// Late reports whether the C library's allocator has detected damage of the heap some time after it was done: then the stack is
// not that of the bug.
func (r *Report) Late() bool { return r.Fault == HeapOverflow && AbortFault(r.Message) == HeapOverflow }

// keyFrames is the number of functions in a key.
const keyFrames = 3

// Key returns a name of the bug: the innermost three functions of the program itself, the first with its line, where a recursion
// counts as if it had not called itself. Of a fault that its line identifies, such as a failed assertion, it is the innermost
// function alone, whoever has called it. The type of an exception is part of the name: one line may raise several. It returns "" if no
// function is known.
func (r *Report) Key() string {
	if r.Fault == Recursion {
		if cycle := r.Stack.cycle(); len(cycle) > 0 {
			return strings.Join(cycle, " < ")
		}
	}
	var parts []string
	for i, f := range r.keyed() {
		name := f.name()
		if i == 0 && r.located(f) {
			name += ":" + f.position()
		}
		parts = append(parts, name)
	}
	key := strings.Join(parts, " < ")
	if raised := r.exception(); raised != "" && key != "" {
		key += ", " + raised
	}
	return key
}

var (
	// The type in the message of an exception: what C++'s libraries and our runtime say of one that nobody has caught or that is handled, and
	// what runtimes of other languages begin with.
	thrownType = regexp.MustCompile(`(?:throwing an instance of|exception of type) (?:'([^']+)'|(\S.*?)(?:: .*)?$)`)
	raisedType = regexp.MustCompile(`^(?:Uncaught )?((?:[\p{L}_$][\w$]*(?:\.|::))*[\p{L}_$][\w$]*(?: \[\w+\])?)(?::|$)`)
)

// exception returns the type of the exception that nobody has caught; "": it is none, or the type is not known.
func (r *Report) exception() string {
	switch r.Fault {
	case Abort:
		if m := thrownType.FindStringSubmatch(r.Message); m != nil {
			return cmp.Or(m[1], m[2])
		}
	case Exception:
		if m := raisedType.FindStringSubmatch(r.Message); m != nil {
			return m[1]
		}
	}
	return ""
}

// keyed returns the frames whose functions are in the key.
func (r *Report) keyed() Stack {
	path := r.Stack.path()
	if len(path) > 0 && r.located(path[0]) && r.ofLine() {
		return path[:1]
	}
	return path[:min(len(path), keyFrames)]
}

// located reports whether the line of a frame is that of the bug: the line of a hang is random, and what is not freed may have been
// allocated in several lines.
func (r *Report) located(f Frame) bool {
	return f.Line > 0 && !r.Sampled && r.Fault != Hang && r.Fault != Leak && !r.Late()
}

// ofLine reports whether the line of the fault says what the bug is. An access to memory is often made by a function that relies on
// its caller, and so is a call of abort.
func (r *Report) ofLine() bool {
	switch r.Fault {
	case Arithmetic, Trap, Undefined:
		return true
	case Abort:
		return assertionPlace.MatchString(r.Message)
	}
	return false
}

// Where says where the fault is: the innermost function of the program, and those of its callers that are in the key and therefore tell
// the fault from others in the same line. It returns "" if none is known.
func (r *Report) Where() string {
	top := r.Stack.Top()
	if top == nil {
		return ""
	}
	var callers []string
	if r.Fault != Recursion || len(r.Stack.cycle()) == 0 {
		for _, f := range r.keyed()[1:] {
			if name := f.name(); !entry.MatchString(name) {
				callers = append(callers, name)
			}
		}
	}
	if len(callers) == 0 {
		return "in " + top.String()
	}
	return fmt.Sprintf("in %v, called by %s", top, strings.Join(callers, " from "))
}

// entry matches functions that run every input, so that their names say nothing.
var entry = regexp.MustCompile(`^(?:main|LLVMFuzzerTestOneInput|main\.main(?:\.func\d+)?|<module>)$`)

// Function returns the innermost function of the program itself, "" if it is unknown.
func (r *Report) Function() string {
	if cycle := r.Stack.cycle(); r.Fault == Recursion && len(cycle) > 0 {
		return cycle[0]
	}
	if f := r.Stack.Top(); f != nil {
		return f.Function
	}
	return ""
}

// Place returns a hash of all frames of the program itself but for recursion, each with its line and column, which identifies a
// memory access. Faults with the same place are one bug, even if a sanitizer reports them as different faults. It returns "" for
// other faults, and if the line of the access is unknown.
func (r *Report) Place() string {
	top := r.Stack.Top()
	if top == nil || top.Line == 0 || r.Late() || !slices.Contains(ofMemory[:], r.Fault) {
		return ""
	}
	h := sha256.New()
	for _, f := range r.Stack.path() {
		fmt.Fprintf(h, "%s\x00%s\x00%d\x00%d\n", f.Function, f.File, f.Line, f.DebugColumn)
	}
	return hex.EncodeToString(h.Sum(nil)[:8])
}

// OfSignal returns the fault of a program that was ended by a signal; stderr is its standard error.
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

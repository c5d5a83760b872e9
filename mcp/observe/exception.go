package observe

import (
	"regexp"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
)

// exceptionSigns are what runtimes say of a mistake in a program, in words that nobody would choose for a mistake in the
// arguments. What a program may well say on purpose, such as a division by zero, is not among them.
var exceptionSigns = jsonrpc.NewSignSet(
	// JavaScript
	"Cannot read properties of undefined", "Cannot read properties of null", "Cannot set properties of undefined", "Cannot set properties of null",
	"Cannot read property '", "Cannot destructure property", "Cannot convert undefined or null to object", "Cannot convert object to primitive value", "Maximum call stack size exceeded",
	"is not a function or its return value is not iterable", "is not iterable", "' before initialization",
	// Python
	"'NoneType' object ", "object has no attribute '", "list index out of range", "string index out of range", "tuple index out of range",
	"object is not subscriptable", "unsupported operand type(s) for", "values to unpack (expected", "maximum recursion depth exceeded",
	"cannot access local variable", "referenced before assignment", "got an unexpected keyword argument '",
	"unhashable type: '", "list indices must be integers", "object is not callable",
	// Go
	"runtime error: ", "interface conversion: ", "reflect: call of ", "reflect.Value.", "assignment to entry in nil map", "send on closed channel",
	"close of closed channel",
	// Rust
	"called `Option::unwrap()`", "called `Result::unwrap()`", "index out of bounds: the len is", "attempt to subtract with overflow",
	"attempt to add with overflow", "attempt to multiply with overflow",
	// Java and .NET
	"NullPointerException", "IndexOutOfBoundsException", "ClassCastException", "Object reference not set to an instance of an object",
	"Index was outside the bounds of the array", "StackOverflowError",
	// Ruby and PHP
	"for nil:NilClass", "undefined method '", "undefined method `", "Call to a member function ", "Undefined array key ", "Trying to access array offset on",
)

// notFunction is what JavaScript says of a method that is none. Of a word without a full stop a program may say so, too.
const notFunction = " is not a function"

var notMethod = regexp.MustCompile(`\.\w+` + notFunction)

// ExceptionIn returns which of these a text has in it, "" if none.
func ExceptionIn(text string) string {
	if words := exceptionSigns.In([]byte(text)); words != "" {
		return words
	}
	if strings.Contains(text, notFunction) && notMethod.MatchString(text) {
		return notFunction
	}
	return ""
}

// crashSigns are words with which a program or the library of its language gives up. A program may quote them from elsewhere.
var crashSigns = jsonrpc.NewSignSet("panicked at ", "panic: ", "stack backtrace:", "fatal error: ", "ut of memory", "OutOfMemory", "bad_alloc", "MemoryError",
	"ssertion failed", "AssertionError", "egmentation fault", "core dumped", "terminate called ", "double free or corruption", "stack smashing detected")

// CrashIn returns which of these a text has in it, "" if none.
func CrashIn(text string) string { return crashSigns.In([]byte(text)) }

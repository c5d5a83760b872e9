package judge

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/triage"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
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

// exceptionIn returns which of these a text has in it, "" if none.
func exceptionIn(text string) string {
	if words := exceptionSigns.In([]byte(text)); words != "" {
		return words
	}
	if strings.Contains(text, notFunction) && notMethod.MatchString(text) {
		return notFunction
	}
	return ""
}

// unhandled judges what a refusal says: a program that fails over what it was given is not one that refuses it.
func (j *judge) unhandled(s *script.Sent, r *script.Received) {
	if !r.Message.IsRefusal() {
		return
	}
	text := refusalText(r)
	words := exceptionIn(text)
	if words == "" || j.weSent(words, r) || hasTrace(text) || j.refusesArgument(s, text) {
		return
	}
	if tool := j.called(s); tool != nil && tool.Takes(session.RunsProgram) { // it may be that program's mistake
		return
	}
	message := fmt.Sprintf("The answer to %s is what a program says that has failed over it: %q.", jsonrpc.Cut(s.Raw, 200), jsonrpc.Cut(text, 160))
	if name := j.inheritedKey(s); name != "" && slices.ContainsFunc(inheritedWords, func(word string) bool { return strings.Contains(text, word) }) {
		j.reportCause(RuleRuntimeName, teasel.Medium, j.subject(s), causeArgumentName, s.Raw, fmt.Sprintf(
			"An argument with the name %q makes the program fail: %s was answered with %q.", name, jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(text, 160)))
		return
	}
	m := asRead(&s.Message)
	if session.IsMethod(m.Method) && (j.faultOf(&m).grave || lacksParams(&m)) { // a library has not looked, whatever is called
		j.reportCause(RuleException, j.rules[RuleException].Severity, j.subject(s), "malformed parameters", s.Raw, message)
		return
	}
	group := failedOperation(text, words)
	if j.breaksSchema(&m) { // one look at the arguments would have kept all of these away
		group = "arguments that break the schema"
	}
	j.report(RuleException, j.subject(s), group, message)
}

// hasTrace reports whether a text has a stack trace in it.
func hasTrace(text string) bool {
	_, found := triage.Trace(text)
	return found
}

// causeArgumentName stands for arguments that are no arguments like others because all objects have members of their names.
const causeArgumentName = "argument name"

// inheritedWords are what JavaScript says of a program that takes an argument for a member that all objects inherit.
var inheritedWords = slices.Concat(check.InheritedNames, []string{"prototype"})

// inheritedKey returns the name of an argument, at any depth, that all objects of JavaScript have and that the tool does not
// declare; "": there is none.
func (j *judge) inheritedKey(s *script.Sent) string {
	tool := j.session.Tool(session.CalledName(&s.Message))
	if s.Message.Method != "tools/call" || tool == nil {
		return ""
	}
	declared := tool.InputSchema.Get("properties")
	var find func(v *mutate.JSON) string
	find = func(v *mutate.JSON) (name string) {
		if v == nil {
			return ""
		}
		for i := range v.Members {
			m := &v.Members[i]
			if slices.Contains(check.InheritedNames, m.Name) && declared.Get(m.Name) == nil {
				return m.Name
			}
			if name = find(m.Value); name != "" {
				return name
			}
		}
		for _, item := range v.Items {
			if name = find(item); name != "" {
				return name
			}
		}
		return ""
	}
	return find(s.Message.Params.Get("arguments"))
}

// lacksParams reports whether a message has no object as its parameters.
func lacksParams(m *jsonrpc.Message) bool {
	params := m.Root.Get("params")
	return params == nil || params.Kind != mutate.Object
}

// asRead returns a message as most programs read it, which is what has failed: of a member that stands twice in its parameters, the last
// counts.
func asRead(m *jsonrpc.Message) jsonrpc.Message {
	read := *m
	if ambiguous(m.Params) {
		read.Params = m.Params.Clone()
		dropEarlier(read.Params)
	}
	return read
}

// dropEarlier removes all members but the last of each name, at any depth.
func dropEarlier(v *mutate.JSON) {
	if v == nil {
		return
	}
	for _, item := range v.Items {
		dropEarlier(item)
	}
	last := make(map[string]int, len(v.Members))
	for i := range v.Members {
		last[v.Members[i].Name] = i
	}
	kept := v.Members[:0]
	for i, m := range v.Members {
		if last[m.Name] == i {
			dropEarlier(m.Value)
			kept = append(kept, m)
		}
	}
	v.Members = kept
}

// breaksSchema reports whether a call has arguments that the tool's input schema does not allow.
func (j *judge) breaksSchema(m *jsonrpc.Message) bool {
	tool := j.session.Tool(session.CalledName(m))
	if m.Method != "tools/call" || tool == nil || tool.InputSchema == nil {
		return false
	}
	arguments := m.Params.Get("arguments")
	if arguments == nil || arguments.Kind == mutate.Null {
		arguments = &noArguments
	}
	_, broken := firstBreach(j.known(tool).input, arguments)
	return broken
}

// pythonOperation is what Python says it could not do to a value. The value's type comes from the input.
var pythonOperation = regexp.MustCompile(`'\w+' object (is not \w+|has no attribute '\w+'|does not support [a-z ]+|cannot be [a-z ]+)`)

// failedOperation returns what a program could not do, without what its value was: a member of null and a member of undefined
// are read in the same place. Of other mistakes it returns the words.
func failedOperation(text, words string) string {
	if m := pythonOperation.FindStringSubmatch(text); m != nil {
		return m[1]
	}
	return strings.TrimSuffix(strings.TrimSuffix(words, " of null"), " of undefined")
}

// refusalText is what a refusal says: the error's message, or the texts of the result.
func refusalText(r *script.Received) string {
	if r.Message.Error != nil {
		return errorMessage(r)
	}
	var texts []string
	if content := r.Message.Result.Get("content"); content != nil {
		for _, item := range content.Items {
			text, _ := item.Get("text").Str()
			texts = append(texts, text)
		}
	}
	return strings.Join(texts, "\n")
}

// unexpectedArgument is how Python refuses an argument that a function does not have. It is what a framework does which
// passes arguments on by name, and no mistake of the program's.
const unexpectedArgument = "got an unexpected keyword argument '"

// refusesArgument reports whether a refusal is about an argument that was sent and that the tool does not declare.
func (j *judge) refusesArgument(s *script.Sent, text string) bool {
	tool, arguments := j.session.Tool(session.CalledName(&s.Message)), s.Message.Params.Get("arguments")
	if tool == nil || arguments == nil || !strings.Contains(text, unexpectedArgument) {
		return false
	}
	return slices.ContainsFunc(arguments.Members, func(m mutate.Member) bool { return tool.InputSchema.Get("properties").Get(m.Name) == nil })
}

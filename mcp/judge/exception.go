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
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// unhandled judges what a refusal says: a program that fails over what it was given is not one that refuses it.
func (j *judge) unhandled(s *script.Sent, r *script.Received) {
	if !r.Message.IsRefusal() {
		return
	}
	text := script.RefusalText(r)
	words, crash := observe.ExceptionIn(text), false
	if words == "" {
		words = observe.CrashIn(text)
		crash = words != ""
	}
	if words == "" || j.weSent(words, r) || hasTrace(text) || j.refusesArgument(s, text) {
		return
	}
	if tool := j.called(s); tool != nil && tool.Takes(session.RunsProgram) { // it may be that program's mistake
		return
	}
	m := asRead(&s.Message)
	subject := session.Subject(j.session, &m)
	if crash { // words alone, which the program may have from elsewhere; a stack is judged as one
		j.reportAs(RuleException, teasel.Low, subject, "words of a crash", fmt.Sprintf(
			"The answer to %s has words with which programs give up: %s.", brief(s), jsonrpc.Quote(text, 160)))
		return
	}
	message := fmt.Sprintf("The answer to %s is what a program says that has failed over it: %s.", brief(s), jsonrpc.Quote(text, 160))
	if name := j.inheritedKey(s); name != "" && slices.ContainsFunc(inheritedWords, func(word string) bool { return strings.Contains(text, word) }) {
		j.reportCause(check.RuleRuntimeName, teasel.Medium, subject, check.CauseArgumentName, s.Raw, fmt.Sprintf(
			"An argument with the name %q makes the program fail: %s was answered with %s.", name, brief(s), jsonrpc.Quote(text, 160)))
		return
	}
	if session.IsMethod(m.Method) && (j.faultOf(&m).grave || lacksParams(&m)) { // a library has not looked, whatever is called
		j.reportCause(RuleException, j.rules[RuleException].Severity, subject, causeMalformed, s.Raw, message)
		return
	}
	group := failedOperation(text, words)
	if j.breaksSchema(&m) { // one look at the arguments would have kept all of these away
		group = "arguments that break the schema"
	}
	j.report(RuleException, subject, group, message)
}

// hasTrace reports whether a text has a stack trace in it.
func hasTrace(text string) bool {
	_, found := triage.Trace(text)
	return found
}

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

// asRead returns a message as most programs read it, which is what has failed: of a member that stands twice, the last counts.
func asRead(m *jsonrpc.Message) jsonrpc.Message {
	if !m.Twice && !ambiguous(m.Params) {
		return *m
	}
	root := m.Root.Clone()
	dropEarlier(root)
	return jsonrpc.Parse(root.Append(nil))
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

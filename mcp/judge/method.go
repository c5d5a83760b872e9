package judge

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// laterMethods belong to other versions or to the client's side; a server may treat them as it likes.
var laterMethods = map[string]bool{
	"server/discover": true, "subscriptions/listen": true, "sampling/createMessage": true, "roots/list": true, "elicitation/create": true,
}

// ambiguous reports whether an object has a member twice, of which a server may take either.
func ambiguous(v *mutate.JSON) bool {
	switch {
	case v == nil:
		return false
	case v.Kind == mutate.Array:
		return slices.ContainsFunc(v.Items, ambiguous)
	case v.Kind == mutate.Object:
		return jsonrpc.HasTwice(v) || slices.ContainsFunc(v.Members, func(m mutate.Member) bool { return ambiguous(m.Value) })
	}
	return false
}

// byMethod judges a well-formed answer to a regular request of an open session.
func (j *judge) byMethod(s *script.Sent, r *script.Received) {
	m := &s.Message
	if !session.IsMethod(m.Method) {
		j.unknownMethod(s, r)
		return
	}
	if j.capability(s, r) {
		return
	}
	fault := j.faultOf(m)
	if r.Message.Error != nil {
		// What is odd about the rest of the message may be what was refused.
		if jsonrpc.UnusualEnvelope(m) == "" || script.ErrorCode(r) == codeInternal {
			j.refusal(s, r, fault)
		}
		return
	}
	if fault.grave {
		if script.Succeeded(r) {
			j.accepted(s, r, fault)
		}
		return
	}
	if fault.text != "" {
		return
	}
	switch m.Method {
	case "tools/call":
		j.toolResult(s, r)
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list":
		j.list(s, r)
	case "resources/read":
		j.contents(s, r)
	case "prompts/get":
		j.prompt(s, r)
	case "completion/complete":
		j.completion(s, r)
	default:
		if why := resultFault(j.phase.version, m.Method, r.Message.Result); why != "" {
			j.report(RuleResult, m.Method, "", fmt.Sprintf("%s was answered with a malformed result: %s.", brief(s), why))
		}
	}
}

// subjectUnknownMethod stands for all methods that do not exist, the one with an empty name too: one place finds that out.
const subjectUnknownMethod = "(unknown method)"

// unknownMethod judges the answer to a method that does not exist.
func (j *judge) unknownMethod(s *script.Sent, r *script.Received) {
	m := &s.Message
	if laterMethods[m.Method] || jsonrpc.UnusualEnvelope(m) != "" || j.faultOf(m).text != "" || !isPortable(m.Root.Get("method")) || !utf8.Valid(s.Raw) {
		return
	}
	if r.Message.Result != nil {
		j.report(RuleUnknownMethod, subjectUnknownMethod, "", fmt.Sprintf(
			"The method %s does not exist and was answered with a result: %s; expected error -32601.", jsonrpc.Quote(m.Method, 80), jsonrpc.Cut(r.Raw, 160)))
		return
	}
	switch code := script.ErrorCode(r); code {
	case codeMethodNotFound:
	case codeInvalidRequest, codeInvalidParams:
		// A name that is empty, or that belongs to a notification, makes the request invalid as well.
		if m.Method != "" && !strings.HasPrefix(m.Method, "notifications/") {
			j.reportAs(RuleUnknownMethod, teasel.Low, subjectUnknownMethod, "", wrongMethodCode(m.Method, code))
		}
	default:
		if suspicious(code) != "" { // which is a finding by itself
			return
		}
		j.report(RuleUnknownMethod, subjectUnknownMethod, "", wrongMethodCode(m.Method, code))
	}
}

func wrongMethodCode(method string, code int64) string {
	return fmt.Sprintf("The method %s does not exist and was answered with error %d; expected -32601.", jsonrpc.Quote(method, 80), code)
}

// capability holds an answer against what the server declared. True means that there is nothing more to judge.
func (j *judge) capability(s *script.Sent, r *script.Received) bool {
	method := s.Message.Method
	name := session.CapabilityOf(method)
	if name == "" || j.phase.capabilities == nil {
		return false
	}
	declared := j.phase.capabilities.Get(name)
	if declared == nil {
		// The first version had no word for completions.
		if script.Succeeded(r) && !(name == "completions" && j.phase.version < batchVersion) && !isEmptyList(r) && !isNoSubscription(s, r) {
			j.reportCause(RuleCapability, teasel.Medium, method, name, s.Raw, fmt.Sprintf(
				"%s works, although the server did not declare the capability %s.", method, name))
		}
		return true
	}
	if method == "resources/subscribe" || method == "resources/unsubscribe" {
		if subscribe := declared.Get("subscribe"); subscribe == nil || subscribe.Text != "true" {
			if script.Succeeded(r) && method == "resources/subscribe" {
				j.report(RuleCapability, method, "", "resources/subscribe works, although the server did not declare resources.subscribe.")
			}
			return true
		}
	}
	if r.Message.Error == nil || script.ErrorCode(r) != codeMethodNotFound || j.faultOf(&s.Message).text != "" { // it may be the parameters that no handler takes
		return false
	}
	switch method {
	case "tools/list", "resources/list", "prompts/list", "completion/complete", "logging/setLevel", "resources/subscribe":
		j.report(RuleMissing, method, "", fmt.Sprintf(
			"The server declared the capability %s, but answers %s with -32601 %s.", name, method, jsonrpc.Quote(script.ErrorMessage(r), 80)))
	}
	return true
}

// isEmptyList reports whether a result has an empty list and nothing else that is there to be used: so a server answers clients
// that ask for lists without looking at the capabilities.
func isEmptyList(r *script.Received) bool {
	for _, name := range []string{"tools", "resources", "resourceTemplates", "prompts"} {
		if list := r.Message.Result.Get(name); list != nil {
			return list.Kind == mutate.Array && len(list.Items) == 0
		}
	}
	return false
}

// isNoSubscription reports whether a subscription was accepted by a server without resources, which can never send an update.
func isNoSubscription(s *script.Sent, r *script.Received) bool {
	return (s.Message.Method == "resources/subscribe" || s.Message.Method == "resources/unsubscribe") && len(r.Message.Result.Members) == 0
}

// accepted reports parameters that may not be accepted and were.
func (j *judge) accepted(s *script.Sent, r *script.Received, fault paramFault) {
	switch method := s.Message.Method; {
	case method == "logging/setLevel":
		j.report(RuleLogLevel, method, "", fmt.Sprintf("%s was accepted, although %s; expected error -32602.", brief(s), fault.text))
		return
	case strings.HasSuffix(method, "/list"):
		j.reportCause(RuleCursor, j.cursorSeverity(s), method, "type", s.Raw, fmt.Sprintf("%s was accepted, although %s; expected error -32602.", brief(s), fault.text))
		return
	}
	// What reads parameters without looking at them does so for all methods.
	j.reportCause(RuleInvalidParams, j.rules[RuleInvalidParams].Severity, s.Message.Method, causeMalformed, s.Raw, fmt.Sprintf("%s was accepted, although %s; expected error -32602.", brief(s), fault.text))
}

// refusal judges the error that answers a request of a known method. A refusal with the right code is never wrong.
func (j *judge) refusal(s *script.Sent, r *script.Received, fault paramFault) {
	m := &s.Message
	code := script.ErrorCode(r)
	internal := isInternal(s, r)
	switch {
	case m.Method == "ping":
		if fault.text == "" && (internal || code == codeMethodNotFound || isPlainPing(s)) {
			j.report(RulePing, "ping", "", fmt.Sprintf("ping was answered with error %d %s.", code, jsonrpc.Quote(script.ErrorMessage(r), 80)))
		} else if internal && fault.text != "" {
			j.wrongCode(s, r, fault.text)
		}
	case internal && fault.text != "" && (fault.grave || isValidatorDump(script.ErrorMessage(r)) || !mayFail(m)):
		j.wrongCode(s, r, fault.text)
	case fault.text != "":
	case internal && isValidatorDump(script.ErrorMessage(r)):
		j.wrongCode(s, r, "a validator says that the parameters are wrong")
	case m.Params.Get("task") != nil: // whether a request may be a task is for the protocol to say
	case m.Method == "tools/call":
		j.toolFailure(s, r)
	case m.Method == "resources/read":
		if internal && suspicious(code) == "" && (j.isUnknownResource(m) || saysNotFound(script.ErrorMessage(r))) {
			j.report(RuleResourceNotFound, j.subject(s), "", fmt.Sprintf(
				"%s was answered with error %d %s; expected %d.", brief(s), code, jsonrpc.Quote(script.ErrorMessage(r), 80), j.noResource()))
		}
	case m.Method == "prompts/get":
		name, _ := m.Params.Get("name").Str()
		if p := j.session.Prompt(name); internal && p == nil && j.complete() {
			j.wrongCode(s, r, "there is no prompt "+jsonrpc.Quote(name, 40))
		} else if internal && p != nil && missingArgument(p, m.Params.Get("arguments")) != "" {
			j.wrongCode(s, r, "the argument "+missingArgument(p, m.Params.Get("arguments"))+" is required")
		}
	case m.Method == "completion/complete":
		if internal && j.isUnknownRef(m.Params.Get("ref")) {
			j.wrongCode(s, r, "the reference names nothing that the server has")
		}
	case strings.HasSuffix(m.Method, "/list"):
		if cursor := m.Params.Get("cursor"); internal && cursor != nil {
			j.wrongCode(s, r, "the cursor is not one that the server gave")
		} else if internal {
			j.report(RuleList, j.subject(s), "", fmt.Sprintf("%s failed with error %d %s.", m.Method, code, jsonrpc.Quote(script.ErrorMessage(r), 80)))
		}
	}
}

// isInternal reports whether a refusal has a code that says nothing of what was asked: that of an internal error, one that means nothing,
// or that of a line which cannot be read, although every reader can.
func isInternal(s *script.Sent, r *script.Received) bool {
	code := script.ErrorCode(r)
	return code == codeInternal || code >= 0 || code == codeParse && jsonrpc.HardToRead(s.Raw, s.Message.Root) == "" && len(s.Raw) < long
}

// mayFail reports whether a request can fail for a reason of its own, such as a database that is down.
func mayFail(m *jsonrpc.Message) bool {
	return m.Method == "tools/call" || m.Method == "resources/read" || m.Method == "prompts/get"
}

// isPlainPing reports whether nothing about a ping can be refused: it has no parameters, which a strict server does not
// know, and is not too long.
func isPlainPing(s *script.Sent) bool {
	if s.Message.Params != nil {
		for _, m := range s.Message.Params.Members {
			if m.Name != "_meta" {
				return false
			}
		}
	}
	return len(s.Raw) < long
}

// wrongCode reports a refusal with the wrong code. The code that refuses belongs to the method, whatever the name.
func (j *judge) wrongCode(s *script.Sent, r *script.Received, why string) {
	if suspicious(script.ErrorCode(r)) != "" || observe.ExceptionIn(script.ErrorMessage(r)) != "" { // which is a finding by itself
		return
	}
	if s.Message.Params.Get("task") != nil && strings.Contains(script.ErrorMessage(r), "task") { // that is what was refused
		return
	}
	subject := s.Message.Method
	if isValidatorDump(script.ErrorMessage(r)) { // one line of the library in use answers so to every method
		subject = subjectParams
	}
	// What turns a refusal into such a code is one place, mostly.
	cause := strconv.FormatInt(script.ErrorCode(r), 10)
	if subject == subjectParams {
		cause = "validator"
	}
	j.reportCause(RuleWrongCode, teasel.Medium, subject, cause, s.Raw, fmt.Sprintf("%s was answered with error %d %s, although %s; expected -32602.",
		brief(s), script.ErrorCode(r), jsonrpc.Quote(script.ErrorMessage(r), 80), why))
}

// complete reports whether the lists of the session are all there is.
func (j *judge) complete() bool { return len(j.session.Trouble) == 0 }

// isValidatorDump recognises what validation libraries say when nobody words it for people.
func isValidatorDump(message string) bool {
	trimmed := strings.TrimSpace(message)
	switch {
	case strings.HasPrefix(trimmed, "[") && strings.Contains(trimmed, `"code"`) && strings.Contains(trimmed, `"path"`):
		return true
	case strings.Contains(trimmed, "validation error for ") && strings.Contains(trimmed, "[type="):
		return true
	case strings.Contains(trimmed, "validation errors for ") && strings.Contains(trimmed, "[type="):
		return true
	}
	return false
}

// saysNotFound recognises the ways to say that something does not exist.
func saysNotFound(message string) bool {
	message = strings.ToLower(message)
	for _, words := range []string{"not found", "unknown resource", "no such", "does not exist", "doesn't exist", "enoent"} {
		if strings.Contains(message, words) {
			return true
		}
	}
	return false
}

// isUnknownRef reports whether a well-formed reference names no prompt and no template of the server.
func (j *judge) isUnknownRef(ref *mutate.JSON) bool {
	if !j.complete() {
		return false
	}
	if name, ok := ref.Get("name").Str(); ok && ref.Get("type").Text == "ref/prompt" {
		return j.session.Prompt(name) == nil
	}
	uri, ok := ref.Get("uri").Str()
	return ok && j.isUnknownURI(uri)
}

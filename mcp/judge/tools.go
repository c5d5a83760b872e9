package judge

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// judgedTool is what the judge knows of a tool.
type judgedTool struct {
	session.Traits
	input, output *schema.Checker // nil: there is none
}

// known returns what the judge knows of a tool.
func (j *judge) known(t *session.Tool) *judgedTool {
	k, ok := j.tools[t]
	if !ok {
		k = &judgedTool{Traits: session.TraitsOf(t), input: schema.NewChecker(t.InputSchema), output: schema.NewChecker(t.OutputSchema)}
		j.tools[t] = k
	}
	return k
}

// firstBreach returns where a value breaks a schema for certain, a wrong value before one too many; false: nowhere.
func firstBreach(c *schema.Checker, v *mutate.JSON) (b schema.Breach, broken bool) {
	if breaches, _ := c.Report(v); len(breaches) > 0 {
		return breaches[0], true
	}
	return b, false
}

// called returns what is known of the tool that a message calls; nil: it calls none that the server has.
func (j *judge) called(s *script.Sent) *judgedTool {
	if s == nil || s.Message.Method != "tools/call" {
		return nil
	}
	if tool := j.session.Tool(session.CalledName(&s.Message)); tool != nil {
		return j.known(tool)
	}
	return nil
}

// toolResult judges the result of a call.
func (j *judge) toolResult(s *script.Sent, r *script.Received) {
	p, result := s.Message.Params, r.Message.Result
	name, _ := p.Get("name").Str()
	tool := j.session.Tool(name)
	if tool == nil {
		j.unknownTool(s, r, name)
		return
	}
	if p.Get("task") != nil || result.Get("task") != nil {
		return
	}
	if why := resultFault(j.phase.version, s.Message.Method, result); why != "" {
		j.report(RuleContent, j.subject(s), "", fmt.Sprintf("%s was answered with a malformed result: %s.", brief(s), why))
	}
	if script.IsToolError(result) {
		j.outputError(s, tool, result)
		return
	}
	j.output(s, tool, result)
	j.input(s, r, tool)
}

// unknownTool judges a result for a name that is on no list.
func (j *judge) unknownTool(s *script.Sent, r *script.Received, name string) {
	if len(j.session.Tools) == 0 || !j.complete() {
		return
	}
	if script.IsToolError(r.Message.Result) {
		j.report(RuleUnknownToolResult, j.subject(s), "", fmt.Sprintf(
			"There is no tool %s, and a call of it was answered with a result that has isError; expected error -32602.", jsonrpc.Quote(name, 60)))
		return
	}
	if j.listChanged("tools") || j.answeredTwice(s) { // it may be a new one, or one of the answers another request's
		return
	}
	j.report(RuleUnknownTool, j.subject(s), "", fmt.Sprintf(
		"There is no tool %s in tools/list, and a call of it was executed: %s.", jsonrpc.Quote(name, 60), jsonrpc.Cut(r.Raw, 160)))
}

// answeredTwice reports whether several responses have come to a request.
func (j *judge) answeredTwice(s *script.Sent) bool {
	for i := range j.t.Received {
		r := &j.t.Received[i]
		if i != s.Answer && r.Message.Class == jsonrpc.ClassResponse && r.Sent >= 0 && &j.t.Sent[r.Sent] == s {
			return true
		}
	}
	return false
}

// listChanged reports whether the server has said in the course of the script that one of its lists is not what it was.
func (j *judge) listChanged(what string) bool {
	return slices.ContainsFunc(j.t.Received, func(r script.Received) bool { return r.Message.Method == "notifications/"+what+"/list_changed" })
}

// base64Fault judges data in base64. Missing padding and the alphabet of URLs are let pass, as clients do.
func base64Fault(name, data string) string {
	for i := range len(data) {
		c := data[i]
		if c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '+' || c == '/' || c == '-' || c == '_' || c == '\n' || c == '\r' {
			continue
		}
		if c == '=' && i >= len(strings.TrimRight(data, "=\r\n")) {
			continue
		}
		return fmt.Sprintf("%s is not base64: %s at byte %d", name, jsonrpc.Cut(data[i:min(len(data), i+8)], 8), i)
	}
	bare := strings.TrimRight(strings.NewReplacer("-", "+", "_", "/", "\n", "", "\r", "").Replace(data), "=")
	if len(bare)%4 == 1 {
		return name + " is not base64: its length is impossible"
	}
	if _, err := base64.RawStdEncoding.DecodeString(bare); err != nil {
		return name + " is not base64"
	}
	return ""
}

// output holds a result against the tool's output schema.
func (j *judge) output(s *script.Sent, tool *session.Tool, result *mutate.JSON) {
	structured := result.Get("structuredContent")
	if tool.OutputSchema == nil || !j.atLeast("2025-06-18") {
		if structured != nil {
			j.structuredText(s, result)
		}
		return
	}
	if structured == nil {
		j.report(RuleStructuredMissing, j.subject(s), "", fmt.Sprintf(
			"%s has an outputSchema, but the result of %s has no structuredContent.", tool.Name, brief(s)))
		return
	}
	if b, broken := firstBreach(j.known(tool).output, structured); broken {
		j.report(RuleOutputSchema, j.subject(s), "", fmt.Sprintf(
			"The structuredContent that answers %s breaks the outputSchema %s.", brief(s), b.Text))
		return
	}
	j.structuredText(s, result)
}

func (j *judge) structuredText(s *script.Sent, result *mutate.JSON) {
	content := result.Get("content")
	if content == nil {
		return
	}
	for _, item := range content.Items {
		if kind, _ := item.Get("type").Str(); kind == "text" {
			return
		}
	}
	j.reportCause(RuleStructuredText, teasel.Low, j.subject(s), "no text", s.Raw, fmt.Sprintf(
		"The result of %s has structuredContent but no text that says the same.", brief(s)))
}

// outputError recognises the words in which SDKs say that the tool's own result breaks its schema.
func (j *judge) outputError(s *script.Sent, tool *session.Tool, result *mutate.JSON) {
	content := result.Get("content")
	if tool.OutputSchema == nil || content == nil || len(content.Items) == 0 {
		return
	}
	text, _ := content.Items[0].Get("text").Str()
	if !strings.HasPrefix(text, "MCP error -32602: Output validation error: ") {
		return
	}
	rule := RuleOutputSchema
	if strings.HasSuffix(text, "has an output schema but no structured content was provided") {
		rule = RuleStructuredMissing
	}
	j.report(rule, j.subject(s), "", fmt.Sprintf("The result of %s broke the tool's own outputSchema: %s.", brief(s), jsonrpc.Cut(text, 160)))
}

// subjectConverted is the subject of calls whose arguments the server must have converted.
const subjectConverted = "(converted arguments)"

// input judges a call that was executed by the arguments that it had.
func (j *judge) input(s *script.Sent, r *script.Received, tool *session.Tool) {
	arguments := s.Message.Params.Get("arguments")
	if tool.InputSchema == nil || arguments == nil && tool.InputSchema.Get("required") == nil {
		return
	}
	if arguments == nil || arguments.Kind == mutate.Null {
		arguments = &noArguments
	}
	input := j.known(tool).input
	b, broken := firstBreach(input, arguments)
	if broken {
		_, broken = firstBreach(input, asDoubles(arguments))
	}
	if !broken || saysRefused(r.Message.Result) || b.Extra && arguments.Get(check.Vanishing) != nil { // it was not seen: see againstControls
		return
	}
	subject := j.subject(s)
	if input.Coercible(arguments) {
		subject = subjectConverted
	}
	// What does not look at one argument looks at none, mostly: it is what an SDK lacks.
	severity, cause := j.rules[RuleInput].Severity, "breach"
	switch {
	case b.Extra: // that is not looked for at all
		severity, cause = teasel.Low, "extra"
	case subject == subjectConverted: // by a library that takes true for 1, and says so
		severity, cause = teasel.Low, "converted"
	}
	j.reportCause(RuleInput, severity, subject, cause, s.Raw, fmt.Sprintf(
		"The arguments of %s break the inputSchema %s, and the call was executed.", brief(s), b.Text))
}

// asDoubles returns a copy in which numbers are what they are to most programs.
func asDoubles(v *mutate.JSON) *mutate.JSON {
	v = v.Clone()
	v.Walk(func(_ string, n *mutate.JSON) bool {
		if n != nil && n.Kind == mutate.Number {
			if f, err := strconv.ParseFloat(n.Text, 64); err == nil {
				n.Text = strconv.FormatFloat(f, 'g', -1, 64)
			}
		}
		return true
	})
	return v
}

var noArguments = mutate.JSON{Kind: mutate.Object}

// saysRefused reports whether the text of a result that is not marked as an error reads like one.
func saysRefused(result *mutate.JSON) bool {
	content := result.Get("content")
	if content == nil || len(content.Items) == 0 {
		return false
	}
	text, _ := content.Items[0].Get("text").Str()
	text = strings.ToLower(jsonrpc.CutBytes(text, 200))
	for _, word := range []string{"error", "invalid", "must be", "required", "expected", "failed", "not allowed", "missing", "validation"} {
		if strings.Contains(text, word) {
			return true
		}
	}
	return false
}

// toolFailure judges a protocol error that answers a call with parameters of the right shape.
func (j *judge) toolFailure(s *script.Sent, r *script.Received) {
	code := script.ErrorCode(r)
	p := s.Message.Params
	name, _ := p.Get("name").Str()
	tool := j.session.Tool(name)
	internal := isInternal(s, r)
	switch {
	case tool == nil:
		if internal && len(j.session.Tools) > 0 && j.complete() {
			j.wrongCode(s, r, "there is no tool "+jsonrpc.Quote(name, 40))
		}
		return
	case !internal && (code < -32099 || code > -32000 || code == codeResourceNotFound || code == -32042):
		return
	}
	arguments := p.Get("arguments")
	if arguments == nil || arguments.Kind == mutate.Null {
		arguments = &noArguments
	}
	if b, broken := firstBreach(j.known(tool).input, arguments); broken {
		if internal {
			j.wrongCode(s, r, "the arguments break the inputSchema "+b.Text)
		}
		return
	}
	if observe.ExceptionIn(script.ErrorMessage(r)) != "" { // which is a finding by itself
		return
	}
	j.report(RuleToolFailure, j.subject(s), "", fmt.Sprintf(
		"%s failed with the protocol error %d %s; expected a result with isError.", brief(s), code, jsonrpc.Quote(script.ErrorMessage(r), 80)))
}

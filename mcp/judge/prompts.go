package judge

import (
	"fmt"
	"slices"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// prompt judges the result of prompts/get.
func (j *judge) prompt(s *script.Sent, r *script.Received) {
	name, _ := s.Message.Params.Get("name").Str()
	p := j.session.Prompt(name)
	if p == nil {
		if j.complete() && len(j.session.Prompts) > 0 && !j.listChanged("prompts") {
			j.report(RuleUnknownPrompt, j.subject(s), "", fmt.Sprintf("There is no prompt %q in prompts/list, and it was served.", jsonrpc.Cut(name, 60)))
		}
		return
	}
	if why := messagesFault(r.Message.Result); why != "" {
		j.report(RuleContent, j.subject(s), "", fmt.Sprintf("The prompt that answers %s is malformed: %s.", jsonrpc.Cut(s.Raw, 160), why))
	}
	if missing := missingArgument(p, s.Message.Params.Get("arguments")); missing != "" {
		// What passes arguments on to one prompt without looking does so for all.
		j.reportCause(RulePromptArguments, j.rules[RulePromptArguments].Severity, j.subject(s), "required argument", s.Raw, fmt.Sprintf(
			"%s succeeded without the required argument %s; expected error -32602.", jsonrpc.Cut(s.Raw, 160), missing))
	}
}

// missingArgument returns the first required argument that is missing, "" if none is.
func missingArgument(p *session.Prompt, arguments *mutate.JSON) string {
	for i := range p.Arguments {
		if p.Arguments[i].Required && arguments.Get(p.Arguments[i].Name) == nil {
			return p.Arguments[i].Name
		}
	}
	return ""
}

func messagesFault(result *mutate.JSON) string {
	messages := result.Get("messages")
	if messages == nil || messages.Kind != mutate.Array {
		return "it has no list of messages"
	}
	for i, m := range messages.Items {
		if m == nil || m.Kind != mutate.Object {
			return fmt.Sprintf("messages[%d] is no object", i)
		}
		if role, _ := m.Get("role").Str(); role != "user" && role != "assistant" {
			return fmt.Sprintf("messages[%d] has the role %q", i, jsonrpc.Cut(role, 40))
		}
		if why := contentFault(m.Get("content")); why != "" {
			return fmt.Sprintf("the content of messages[%d]: %s", i, why)
		}
	}
	return ""
}

// maxCompletions is how many values a completion may have.
const maxCompletions = 100

// completion judges the result of completion/complete.
func (j *judge) completion(s *script.Sent, r *script.Received) {
	c := r.Message.Result.Get("completion")
	values := c.Get("values")
	if values != nil && values.Kind == mutate.Array && len(values.Items) > maxCompletions {
		j.report(RuleCompletionSize, j.subject(s), "", fmt.Sprintf("%s was answered with %d values; at most 100 are allowed.", jsonrpc.Cut(s.Raw, 160), len(values.Items)))
	}
	if why := completionResultFault(c); why != "" {
		j.report(RuleCompletion, j.subject(s), "", fmt.Sprintf("The completion that answers %s is wrong: %s.", jsonrpc.Cut(s.Raw, 160), why))
	}
}

func completionResultFault(c *mutate.JSON) string {
	if c == nil || c.Kind != mutate.Object {
		return "there is none"
	}
	values := c.Get("values")
	if values == nil || values.Kind != mutate.Array {
		return "it has no list of values"
	}
	if slices.ContainsFunc(values.Items, func(v *mutate.JSON) bool { return v == nil || v.Kind != mutate.String }) {
		return "a value is no string"
	}
	more := c.Get("hasMore")
	if more != nil && more.Kind != mutate.Bool {
		return "hasMore is " + jsonrpc.Describe(more.Kind)
	}
	total := c.Get("total")
	if total == nil {
		return ""
	}
	n, ok := total.Int()
	switch {
	case !ok:
		return "total is no integer"
	case n < int64(len(values.Items)):
		return fmt.Sprintf("total is %d, but there are %d values", n, len(values.Items))
	case more != nil && more.Text == "true" && n == int64(len(values.Items)):
		return fmt.Sprintf("hasMore is true, but total is %d and all of them are there", n)
	}
	return ""
}

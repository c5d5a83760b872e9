package judge

import (
	"fmt"

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
			j.report(RuleUnknownPrompt, j.subject(s), "", fmt.Sprintf("There is no prompt %s in prompts/list, and it was served.", jsonrpc.Quote(name, 60)))
		}
		return
	}
	if why := resultFault(j.phase.version, s.Message.Method, r.Message.Result); why != "" {
		j.report(RuleContent, j.subject(s), "", fmt.Sprintf("The prompt that answers %s is malformed: %s.", brief(s), why))
	}
	if missing := missingArgument(p, s.Message.Params.Get("arguments")); missing != "" {
		// What passes arguments on to one prompt without looking does so for all.
		j.reportCause(RulePromptArguments, j.rules[RulePromptArguments].Severity, j.subject(s), "required argument", s.Raw, fmt.Sprintf(
			"%s succeeded without the required argument %s; expected error -32602.", brief(s), missing))
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

// maxCompletions is how many values a completion may have.
const maxCompletions = 100

// completion judges the result of completion/complete.
func (j *judge) completion(s *script.Sent, r *script.Received) {
	values := r.Message.Result.Get("completion").Get("values")
	if values != nil && values.Kind == mutate.Array && len(values.Items) > maxCompletions {
		j.report(RuleCompletionSize, j.subject(s), "", fmt.Sprintf("%s was answered with %d values; at most 100 are allowed.", brief(s), len(values.Items)))
	}
	if why := resultFault(j.phase.version, s.Message.Method, r.Message.Result); why != "" {
		j.report(RuleCompletion, j.subject(s), "", fmt.Sprintf("The completion that answers %s is wrong: %s.", brief(s), why))
	}
}

// totalFault judges what a completion says of the number of values, which the schema cannot.
func totalFault(c *mutate.JSON) string {
	n, ok := c.Get("total").Int()
	values, more := c.Get("values"), c.Get("hasMore")
	switch {
	case !ok || values == nil:
		return ""
	case n < int64(len(values.Items)):
		return fmt.Sprintf("total is %d, but there are %d values", n, len(values.Items))
	case more != nil && more.Text == "true" && n == int64(len(values.Items)):
		return fmt.Sprintf("hasMore is true, but total is %d and all of them are there", n)
	}
	return ""
}

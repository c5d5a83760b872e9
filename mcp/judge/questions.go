package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

var questionRules = []teasel.Rule{
	{ID: RuleRequestShape, Severity: teasel.Medium, Title: "Request to the client breaks the schema of the protocol",
		Help:   "What the server asks of the client, as a request or in a result that asks for input, lacks a member that the protocol's schema requires, or has one of the wrong type, such as a form with nested objects.\n\nTyped clients refuse it, and the call that waits for the answer fails.\n\nBuild requests from the types of an SDK.",
		Source: specification + "2025-11-25/client/elicitation"},
	{ID: RuleInputRequired, Severity: teasel.Medium, Title: "Result asks for input in a way that is not allowed",
		Help:   "A result with the resultType input_required has neither inputRequests nor requestState, answers a method that cannot ask, or asks for what the client did not declare.\n\nThe client cannot go on.\n\nAsk in results of tools/call, prompts/get and resources/read only, and for what params._meta declares.",
		Source: specification + "2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow"},
	{ID: RuleRequestState, Severity: teasel.High, Title: "State of a request that was changed is accepted",
		Help:   "A request came back with another requestState than the server had given, and was carried out.\n\nThe state passes through the client, which may put into it what it likes: steps that were never taken, amounts, other users' data.\n\nSign the state, check it, and refuse what does not fit.",
		Source: specification + "2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow"},
	{ID: RuleMissingInput, Severity: teasel.Low, Title: "Request without all of the input is refused and not asked for it",
		Help:   "A result asked for input. The request came again with its requestState and without an answer to one of the questions, and was answered with an error.\n\nUsers close a form, or are offline: the client cannot know whether to try once more, and the call is lost.\n\nAsk again for what is missing, in another result with the resultType input_required.",
		Source: specification + "2026-07-28/basic/patterns/mrtr#server-requirements-basic-workflow"},
}

// requestShape judges the form of what a server asks of the client.
func (j *judge) requestShape(method, line string, params *mutate.JSON) {
	if session.ClientMethods[method] == "" || j.phase.version == "" {
		return
	}
	if params == nil {
		if method == session.AsksForRoots {
			return
		}
		params = mutate.NewObject()
	}
	breaches, certain := paramBreaches(j.phase.version, method, params)
	if certain && len(breaches) > 0 {
		j.report(RuleRequestShape, method, "", fmt.Sprintf("The server sent %s, which is malformed: %s.", line, breachWords(&breaches[0], params)))
	}
}

// mayAsk are the methods whose results may ask for input.
var mayAsk = []string{"tools/call", "prompts/get", "resources/read"}

// inputRequired judges a result that asks for input.
func (j *judge) inputRequired(s *script.Sent, r *script.Received) {
	line, m := jsonrpc.Cut(r.Raw, 160), &s.Message
	wanted, state := r.Message.Result.Get("inputRequests"), r.Message.Result.Get("requestState")
	report := func(group, format string, args ...any) {
		j.report(RuleInputRequired, j.subject(s), group, fmt.Sprintf(format, args...))
	}
	switch {
	case !slices.Contains(mayAsk, m.Method):
		report("method", "%s was answered with %s; results of this method cannot ask for input.", m.Method, line)
	case wanted == nil && state == nil:
		report("nothing", "%s was answered with %s, which has neither inputRequests nor requestState.", j.subject(s), line)
	case wanted != nil && wanted.Kind != mutate.Object:
		report("form", "%s was answered with %s, whose inputRequests are no object.", j.subject(s), line)
	case wanted != nil:
		declared := m.Params.Get("_meta").Get(session.MetaCapabilities)
		for _, w := range wanted.Members {
			method, _ := w.Value.Get("method").Str()
			if name := session.ClientMethods[method]; name == "" || declared.Get(name) == nil {
				report("undeclared", "%s was answered with %s, which asks for %s; the client did not declare that.", j.subject(s), line, jsonrpc.Quote(method, 40))
				continue
			}
			j.requestShape(method, line, w.Value.Get("params"))
		}
	}
}

// requestState judges a request that was carried out although its state is none that the server has given. One with something before or
// behind what was given is no reason: readers of base64 pass over that.
func (j *judge) requestState(s *script.Sent, r *script.Received) {
	sent := s.Message.Params.Get("requestState")
	kind, _ := r.Message.Result.Get("resultType").Str()
	if sent == nil || kind != "complete" || !script.Succeeded(r) {
		return
	}
	given := 0
	for i := range j.t.Received {
		state := j.t.Received[i].Message.Result.Get("requestState")
		if state == nil || j.t.Received[i].At >= r.At {
			continue
		}
		if given++; strings.Contains(script.ValueText(sent), script.ValueText(state)) {
			return
		}
	}
	if given > 0 {
		j.report(RuleRequestState, j.subject(s), "", fmt.Sprintf("%s came with the requestState %s, which the server had not given, and was carried out: %s.",
			j.subject(s), jsonrpc.Cut(sent.String(), 80), jsonrpc.Cut(r.Raw, 160)))
	}
}

// missingInput judges a request that came again without all of the input that it was asked for, and was refused.
func (j *judge) missingInput(s *script.Sent, r *script.Received) {
	given := s.Message.Params.Get("inputResponses")
	if given == nil || given.Kind != mutate.Object || r.Message.Error == nil {
		return
	}
	for _, asked := range slices.Backward(j.t.Received) {
		if asked.Sent < 0 || asked.At >= r.At || !session.AsksForInput(asked.Message.Result) || !isAgain(s, &j.t.Sent[asked.Sent], asked.Message.Result) {
			continue
		}
		wanted := asked.Message.Result.Get("inputRequests")
		if wanted == nil {
			return
		}
		for _, w := range wanted.Members {
			if given.Get(w.Name) == nil {
				j.report(RuleMissingInput, j.subject(s), "", fmt.Sprintf("%s came again without %s in its inputResponses, and was answered with %s; expected to be asked again.",
					j.subject(s), jsonrpc.Quote(w.Name, 40), jsonrpc.Cut(r.Raw, 160)))
				return
			}
		}
		return
	}
}

// isAgain reports whether a request is an earlier one that was sent again because its result asked for input: it has the state of that
// result, and all else is as it was.
func isAgain(s, first *script.Sent, result *mutate.JSON) bool {
	params := func(s *script.Sent) *mutate.JSON {
		p := s.Message.Params.Clone()
		p.Delete("inputResponses")
		p.Delete("requestState")
		return p
	}
	return s.Message.Method == first.Message.Method && s.Message.Params.Get("requestState").Equal(result.Get("requestState")) && params(s).Equal(params(first))
}

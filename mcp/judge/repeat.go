package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// repeated compares the answers to one request that was repeated.
func (j *judge) repeated() {
	var first *script.Sent
	for i := range j.t.Script.Steps {
		s := j.single(i)
		if s == nil || !j.sameLine(0, i) {
			return
		}
		r := j.answer(s)
		if r == nil {
			return
		}
		if first == nil {
			first = s
			continue
		}
		before := j.answer(first)
		if strings.HasSuffix(s.Message.Method, "/list") {
			j.sameOrder(s, before, r)
			continue
		}
		// Another outcome is no wonder where a call changes something, depends on others, or is one too many.
		if tool := j.called(s); script.OutcomeOf(before) == script.OutcomeOf(r) || tool == nil || !tool.ReadOnly || tool.SaysOpen || saysTooMany(before) || saysTooMany(r) {
			continue
		}
		j.report(RuleNotRepeatable, j.subject(s), "", fmt.Sprintf("The same call, %s, was first %s and then %s.",
			jsonrpc.Cut(s.Raw, 160), script.OutcomeOf(before), script.OutcomeOf(r)))
		return
	}
}

func (j *judge) sameOrder(s *script.Sent, before, r *script.Received) {
	name, key := listOf(s.Message.Method)
	x, y := before.Message.Result.Get(name), r.Message.Result.Get(name)
	if x == nil || y == nil {
		return
	}
	a, b := keysOf(x, key), keysOf(y, key)
	if !slices.Equal(a, b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))) {
		j.report(RuleListOrder, j.subject(s), "", fmt.Sprintf("%s named %s first this time and %s before.",
			s.Message.Method, jsonrpc.Cut(firstOther(b, a), 60), jsonrpc.Cut(firstOther(a, b), 60)))
	}
}

// readOnly looks whether observers see something else after a call that says it changes nothing.
func (j *judge) readOnly() {
	steps := j.t.Script.Steps
	for last := len(steps) - 1; last >= 2; last-- {
		before := j.equalBefore(last)
		if len(before) < 2 {
			continue
		}
		before = before[len(before)-2:]
		if same, ok := j.exactly(before[0], before[1]); !ok || !same {
			continue
		}
		if same, ok := j.exactly(before[1], last); !ok || same {
			continue
		}
		call := j.onlyCall(before[1], last)
		if call == nil {
			continue
		}
		observer := j.single(last)
		if records(observer) {
			continue
		}
		j.report(RuleReadOnly, j.subject(call), "", fmt.Sprintf("The tool says that it is read-only, but after %s the answer to %s is %s instead of %s.",
			jsonrpc.Cut(call.Raw, 160), jsonrpc.Cut(observer.Raw, 100), jsonrpc.Cut(j.answer(observer).Raw, 160), jsonrpc.Cut(j.answer(j.single(before[1])).Raw, 160)))
		return
	}
}

// onlyCall returns the call that stands once in the script and between two steps; nil: there is none, or several.
func (j *judge) onlyCall(after, before int) (call *script.Sent) {
	for i := after + 1; i < before; i++ {
		times := 0
		for k := range j.t.Script.Steps {
			if j.sameLine(i, k) {
				times++
			}
		}
		if times > 1 {
			continue
		}
		if call != nil {
			return nil
		}
		if call = j.single(i); call == nil || j.called(call) == nil || !j.called(call).ReadOnly {
			return nil
		}
	}
	return call
}

// saysTooMany recognises what servers say that limit how often they are called, as they have to.
func saysTooMany(r *script.Received) bool {
	if !r.Message.IsRefusal() {
		return false
	}
	text := strings.ToLower(refusalText(r))
	for _, words := range []string{"rate limit", "ratelimit", "rate-limit", "too many", "throttl", "quota", "429", "try again", "slow down"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

// recordingWords are those of resources and tools that show what was called.
var recordingWords = []string{
	"activity", "audit", "calls", "event", "events", "history", "journal", "log", "logs", "metric", "metrics", "recent", "requests", "statistics", "stats", "telemetry",
	"trace", "traces", "usage", "uptime",
}

// records reports whether what an observing request shows changes with every call, because that is what it is for.
func records(observer *script.Sent) bool {
	switch m := &observer.Message; m.Method {
	case "resources/read":
		uri, _ := m.Params.Get("uri").Str()
		return session.HasWord(uri, recordingWords)
	case "tools/call":
		return session.HasWord(session.CalledName(m), recordingWords)
	}
	return false
}

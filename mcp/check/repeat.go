package check

import (
	"fmt"
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

func checkRepeat(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	repeat := func(name string, line []byte) {
		emit(name, script.NewShared(Repeat, script.Send(line), script.Send(line), script.Send(line), script.Send(line)))
	}
	EachList(b, func(method string) { repeat(method, jsonrpc.RequestLine(method, nil)) })
	for _, t := range b.Tools {
		if (t.ReadOnly || t.Idempotent) && !t.Slow {
			repeat(t.Name, t.Call())
		}
	}
}

// repeated compares the answers to one request that was repeated.
func (j *Case) repeated() {
	var first *script.Sent
	for i := range j.Transcript.Script.Steps {
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

func (j *Case) sameOrder(s *script.Sent, before, r *script.Received) {
	name, key := session.ListMembers(s.Message.Method)
	x, y := before.Message.Result.Get(name), r.Message.Result.Get(name)
	if x == nil || y == nil {
		return
	}
	a, b := session.Keys(x, key), session.Keys(y, key)
	if !slices.Equal(a, b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))) {
		j.report(RuleListOrder, j.subject(s), "", fmt.Sprintf("%s named %s first this time and %s before.",
			s.Message.Method, jsonrpc.Cut(session.FirstOther(b, a), 60), jsonrpc.Cut(session.FirstOther(a, b), 60)))
	}
}

// saysTooMany recognises what servers say that limit how often they are called, as they have to.
func saysTooMany(r *script.Received) bool {
	if !r.Message.IsRefusal() {
		return false
	}
	text := strings.ToLower(script.RefusalText(r))
	for _, words := range []string{"rate limit", "ratelimit", "rate-limit", "too many", "throttl", "quota", "429", "try again", "slow down"} {
		if strings.Contains(text, words) {
			return true
		}
	}
	return false
}

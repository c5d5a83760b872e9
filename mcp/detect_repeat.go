package mcp

import (
	"fmt"
	"slices"
	"strings"
)

// repeated compares the answers to one request that was repeated.
func (j *judge) repeated() {
	var first *Sent
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
		if outcomeOf(before) == outcomeOf(r) || j.dependsOnWorld(s) {
			continue
		}
		j.report(RuleNotRepeatable, j.subject(s), "", fmt.Sprintf("The same call, %s, was first %s and then %s.",
			cut(s.Raw, 160), outcomeOf(before), outcomeOf(r)))
		return
	}
}

// dependsOnWorld reports whether a tool does not say that it reads only, or says that it reaches into the world: then
// another outcome is no wonder.
func (j *judge) dependsOnWorld(s *Sent) bool {
	name, _ := s.Message.Params.Get("name").Str()
	tool := j.session.Tool(name)
	if tool == nil {
		return true
	}
	read, open := tool.Annotations.Get("readOnlyHint"), tool.Annotations.Get("openWorldHint")
	return read == nil || read.Text != "true" || open != nil && open.Text == "true"
}

func (j *judge) sameOrder(s *Sent, before, r *Received) {
	name, key := listOf(s.Message.Method)
	x, y := before.Message.Result.Get(name), r.Message.Result.Get(name)
	if x == nil || y == nil {
		return
	}
	a, b := keysOf(x, key), keysOf(y, key)
	if !slices.Equal(a, b) && slices.Equal(slices.Sorted(slices.Values(a)), slices.Sorted(slices.Values(b))) {
		j.report(RuleListOrder, j.subject(s), "", fmt.Sprintf("%s named %s first this time and %s before.",
			s.Message.Method, cut(firstOther(b, a), 60), cut(firstOther(a, b), 60)))
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
		j.report(RuleReadOnly, j.subject(call), "", fmt.Sprintf("The tool says that it is read-only, but after %s the answer to %s is %s instead of %s.",
			cut(call.Raw, 160), cut(observer.Raw, 100), cut(j.answer(observer).Raw, 160), cut(j.answer(j.single(before[1])).Raw, 160)))
		return
	}
}

// onlyCall returns the call that stands once in the script and between two steps; nil: there is none, or several.
func (j *judge) onlyCall(after, before int) (call *Sent) {
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
		if call = j.single(i); call == nil || call.Message.Method != "tools/call" || !j.saysReadOnly(call) {
			return nil
		}
	}
	return call
}

func (j *judge) saysReadOnly(s *Sent) bool {
	name, _ := s.Message.Params.Get("name").Str()
	tool := j.session.Tool(name)
	if tool == nil {
		return false
	}
	hint := tool.Annotations.Get("readOnlyHint")
	return hint != nil && hint.Text == "true"
}

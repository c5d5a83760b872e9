package check

import (
	"fmt"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// Of how many tools that only read calls are in flight together, of how many others, and how many of one: two that are mixed up are a matter
// of luck.
const (
	inFlightTools = 8
	inFlightCalls = 8
)

// askedMark is the nth text of a letter, and the same in each campaign: nothing is written.
func askedMark(letter byte, n int) string { return markWith(letter, n, "x") }

// checkInFlight calls tools, and one that no server has, with texts of which the answers may say something. Those of tools that may keep them
// are new in each execution.
func checkInFlight(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	together := func(name string, mark func(letter byte, n int) string, call func(text string) []byte) {
		steps := []script.Step{script.Send(call(mark('a', 0)))}
		for n := range inFlightCalls {
			s := script.Send(call(mark('b', n)))
			s.NoWait = n < inFlightCalls-1
			steps = append(steps, s)
		}
		emit(name, script.NewShared(InFlight, append(steps, script.Send(call(mark('c', 0))))...))
	}
	tools := func(reads bool, mark func(letter byte, n int) string) {
		for _, t := range quickTools(b, r, inFlightTools, func(t *session.Operation) bool { return t.Reads == reads && len(t.Texts) > 0 }) {
			together(t.Name, mark, func(text string) []byte { return t.CallWith(t.With(t.Texts[0], text)) })
		}
	}
	tools(true, askedMark)
	tools(false, mark)
	if b.Session.Has("tools") {
		together("unknown tool", askedMark, func(text string) []byte {
			return jsonrpc.RequestLine("tools/call", jsonrpc.Object("name", text))
		})
	}
}

// mixedAnswers reports an answer that carries the text of another call in flight instead of its own. The calls made alone must carry their
// own.
func (j *Case) mixedAnswers() {
	alone := 0
	for i := range j.Transcript.Sent {
		if own, about, ok := j.aboutMarks(&j.Transcript.Sent[i]); ok && own[len(markStem)] != 'b' {
			if len(about) != 1 || about[0] != own {
				return
			}
			alone++
		}
	}
	if alone == 0 {
		return
	}
	for i := range j.Transcript.Sent {
		s := &j.Transcript.Sent[i]
		own, about, ok := j.aboutMarks(s)
		if !ok || len(about) != 1 || about[0] == own || about[0][len(markStem)] != 'b' {
			continue
		}
		j.report(RuleMixedAnswers, j.subject(s), "", fmt.Sprintf("%s was answered with %s, which is about another call that was in flight at the time.",
			jsonrpc.Cut(s.Raw, 160), jsonrpc.Cut(j.answer(s).Raw, 160)))
		return
	}
}

// aboutMarks returns the text that a call has, and those that its answer has.
func (j *Case) aboutMarks(s *script.Sent) (own string, about []string, ok bool) {
	own, r := writtenMark.FindString(string(s.Raw)), j.answer(s)
	if own == "" || r == nil {
		return "", nil, false
	}
	for _, m := range writtenMark.FindAllString(string(r.Raw), -1) {
		if len(about) == 0 || about[len(about)-1] != m {
			about = append(about, m)
		}
	}
	return own, about, true
}

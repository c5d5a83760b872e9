package check

import (
	"cmp"
	"fmt"
	"slices"

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
	var mixed *script.Sent
	alone := 0
	for i := range j.Transcript.Sent {
		s := &j.Transcript.Sent[i]
		own, about, ok := j.aboutMarks(s)
		switch {
		case !ok || len(about) == 1 && about[0] == own && own[len(markStem)] == 'b':
		case len(about) == 1 && about[0] == own:
			alone++
		case len(about) == 1 && j.inFlight(about[0], s):
			mixed = cmp.Or(mixed, s)
		case own[len(markStem)] != 'b':
			return
		}
	}
	if alone > 0 && mixed != nil {
		j.report(RuleMixedAnswers, j.subject(mixed), "", fmt.Sprintf("%s was answered with %s, which is about another call that was in flight at the time.",
			jsonrpc.Cut(mixed.Raw, 160), jsonrpc.Cut(j.answer(mixed).Raw, 160)))
	}
}

// inFlight reports whether a call with the text was sent beside others, and not answered yet when s was sent: a slow server
// may still be busy with it when the call behind them comes.
func (j *Case) inFlight(text string, s *script.Sent) bool {
	return slices.ContainsFunc(j.Transcript.Sent, func(other script.Sent) bool {
		r := j.answer(&other)
		return text[len(markStem)] == 'b' && writtenMark.FindString(string(other.Raw)) == text && (r == nil || r.At > s.At)
	})
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

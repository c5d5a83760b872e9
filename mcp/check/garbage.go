package check

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// Garbage of three kinds: what is not JSON, what is no message, and messages that have no effect. They are kept apart,
// since a server that dies of one kind may still trip over another.
var (
	brokenGarbage   = []string{`{bad`, `garbage`, `{"jsonrpc":"2.0","id":"@id","method":"ping"`, "\x00\x01\x02"}
	invalidGarbage  = []string{`{"jsonrpc":"2.0","id":{},"method":"ping"}`, `[]`, `null`, `{"jsonrpc":"2.0","id":"@id"}`}
	harmlessGarbage = []string{
		`{"jsonrpc":"2.0","id":"@id","method":"` + ControlName + `a1"}`,
		`{"jsonrpc":"2.0","method":"notifications/` + ControlName + `a1"}`,
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{"name":"` + ControlName + `a1"}}`,
		`{"jsonrpc":"2.0","id":"@id","method":"tools/call","params":{}}`,
		`{"jsonrpc":"2.0","id":"@id","method":"resources/read","params":{"uri":"` + ControlName + `a1://"}}`,
		`{"jsonrpc":"2.0","id":"@id","method":"prompts/get","params":{"name":"` + ControlName + `a1"}}`,
		`{"jsonrpc":"2.0","id":"teasel-unasked","result":{}}`,
		`{"jsonrpc":"2.0","id":"teasel-unasked","error":{"code":-1,"message":"a"}}`,
		`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"teasel-unknown"}}`,
		`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"teasel-unknown","progress":1}}`,
	}
)

func texts(lines []string) (steps []script.Step) {
	for _, line := range lines {
		steps = append(steps, script.SendText(line))
	}
	return steps
}

// ToolLooks is how often a tool has to give the same answer before garbage for another answer after it to mean something: many
// draw lots, such as a die, and there are campaigns of a million calls.
const ToolLooks = 6

func checkSameAfterGarbage(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	probe := func(name string, look []script.Step, garbage ...script.Step) {
		emit(name, script.NewShared(SameAfterGarbage, slices.Concat(look, look, garbage, look)...))
	}
	harmless := texts(harmlessGarbage)
	EachList(b, func(method string) {
		probe(method+" after refused messages", allPages(b, method, 0), harmless...)
		probe(method+" after broken lines", allPages(b, method, 0), texts(brokenGarbage)...)
		probe(method+" after no messages", allPages(b, method, 0), texts(invalidGarbage)...)
	})
	for _, t := range b.Tools {
		if t.Slow {
			continue
		}
		garbage := slices.Clone(harmless)
		for _, arguments := range t.Broken[:min(8, len(t.Broken))] {
			garbage = append(garbage, script.Send(t.CallWith(arguments)))
		}
		look := []script.Step{script.Send(t.Call())}
		emit(t.Name, script.NewShared(SameAfterGarbage, slices.Concat(slices.Repeat(look, ToolLooks), garbage, look)...))
	}
}

// checkFirstGarbage looks at all that shows state on a process that has not seen any garbage yet: its first may do what
// no later one does.
func checkFirstGarbage(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	begin := script.Handshake(b.Version())
	look := observers(b, len(begin), nil)
	for i := range b.Session.Prompts[:min(maxLooks, len(b.Session.Prompts))] {
		look = append(look, script.Send(PromptLine(&b.Session.Prompts[i], b.Likely)))
	}
	if len(look) == 0 {
		return
	}
	looks := 2
	if slices.ContainsFunc(look, func(s script.Step) bool { return bytes.Contains(s.Line, []byte("tools/call")) }) {
		looks = ToolLooks
	}
	for _, g := range []struct {
		name  string
		lines []string
	}{{"broken lines first", brokenGarbage}, {"no messages first", invalidGarbage}, {"refused messages first", harmlessGarbage}} {
		emit(g.name, script.NewFresh(SameAfterGarbage, slices.Concat(begin, slices.Repeat(look, looks), texts(g.lines), look)...))
	}
}

// afterGarbage compares requests before garbage with the same after it.
func (j *Case) afterGarbage() {
	for last := len(j.Transcript.Script.Steps) - 1; last >= 3; last-- {
		latest, sent := j.changed(last)
		if sent == nil {
			continue
		}
		useless, ok := j.useless(latest+1, last)
		if !ok || useless == 0 {
			continue
		}
		j.report(RuleSameAfterGarbage, j.subject(sent), "", fmt.Sprintf(
			"%s was answered with %s after %d lines that were of no use, and with %s before them.",
			jsonrpc.Cut(sent.Raw, 160), jsonrpc.Cut(j.answer(sent).Raw, 160), useless, jsonrpc.Cut(j.answer(j.single(latest)).Raw, 160)))
		return
	}
}

// changed returns the line of a step whose answer is another than those to the equal steps before it, the latest of which were answered
// alike so often that this means something; nil: it is not. latest is the last of these steps.
func (j *Case) changed(last int) (latest int, sent *script.Sent) {
	before, sent := j.equalBefore(last), j.single(last)
	if sent == nil || len(before) < looksOf(&sent.Message) {
		return 0, nil
	}
	before = before[len(before)-looksOf(&sent.Message):]
	latest = before[len(before)-1]
	if slices.ContainsFunc(before, func(i int) bool { same, ok := j.exactly(i, latest); return !ok || !same }) {
		return 0, nil
	}
	if same, answered := j.exactly(latest, last); !answered || same || records(sent) {
		return 0, nil
	}
	return latest, sent
}

// looksOf returns how often a request has to give the same answer before another one means something.
func looksOf(m *jsonrpc.Message) int {
	if m.Method == "tools/call" {
		return ToolLooks
	}
	return 2
}

// useless counts the steps between two that had no effect to speak of; false: one of them was carried out, and may have
// changed what it likes. Requests that stand there only to be compared are passed over.
func (j *Case) useless(from, to int) (n int, ok bool) {
	for i := from; i < to; i++ {
		switch {
		case len(j.equalBefore(i)) > 0:
		case j.carriedOut(i):
			return 0, false
		default:
			n++
		}
	}
	return n, true
}

// carriedOut reports whether a step had a result.
func (j *Case) carriedOut(step int) bool {
	for i := range j.Transcript.Sent {
		s := &j.Transcript.Sent[i]
		if s.Step == step && s.Message.Method != "ping" {
			if r := j.answer(s); r != nil && script.Succeeded(r) {
				return true
			}
		}
	}
	return false
}

package gen

import (
	"context"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/observe"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// Answer is the stage that answers what a server asks while a testcase runs: sampling, elicitation, roots, and the input that results
// ask for. It gives answers that are right in form and hostile, late, malformed, doubled or missing. What the server asks is in the
// testcase's [observe.Note]. It needs a [Mutator] of this package and does nothing with others.
type Answer struct {
	Energy int // scripts made from a testcase of ordinary energy; 0: 512
}

var _ teasel.Stage[script.Script] = Answer{}

// Name implements [teasel.Stage].
func (Answer) Name() string { return "answer" }

// Run implements [teasel.Stage].
func (a Answer) Run(ctx context.Context, w *teasel.Worker[script.Script], tc *teasel.Testcase[script.Script]) error {
	useful := func(n *observe.Note) bool { return len(n.Asked) > 0 }
	return byNote(ctx, w, tc, w.Energy(a.Energy, 512), useful, (*Mutator).Answer)
}

// Answer makes a script that says what src does, and answers otherwise what the server asks meanwhile, of which note tells.
func (m *Mutator) Answer(r *teasel.Rand, dst, src script.Script, note *observe.Note) script.Script {
	e := &m.e
	e.begin(r, dst, src)
	for n := 1 + r.IntN(2); n > 0 && !e.full(); n-- {
		q := choose(e, note.Asked)
		switch n := r.IntN(4); {
		case n == 0 && q.Method != session.InputRequired:
			e.late(q.Method)
		case n == 1 && q.Method != session.InputRequired:
			e.answer(q.Method, choose(e, check.Answers))
		default:
			e.answer(q.Method, check.AnswerLine(q.Method, e.drawResult(q)))
		}
	}
	return m.finish(src)
}

// answer adds a step that answers a question.
func (e *editor) answer(method, line string) {
	e.add(script.Step{Asked: method, Line: []byte(line)})
	if e.r.IntN(16) == 0 {
		e.in.Steps[len(e.in.Steps)-1].Times = 2
	}
}

// late has a question answered when the server has answered something else, or when what it belongs to was cancelled.
func (e *editor) late(method string) {
	last := len(e.in.Steps) - 1
	if own := check.Results[method]; len(own) > 0 && last+4 < maxSteps {
		e.in.Steps[last].NoWait = true
		e.add(script.Step{Asked: method})
		e.add(script.SendText(session.PingLine))
		if e.r.IntN(2) == 0 {
			e.add(script.SendText(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"@id:` + strconv.Itoa(last) + `"}}`))
		}
		e.add(script.SendText(check.AnswerLine(method, own[0])))
		e.add(script.SendText(session.PingLine))
	}
}

// drawResult draws a result for a question: values for its form that break it, or one of the fixed ones with a change.
func (e *editor) drawResult(q observe.Question) string {
	if q.Form != "" && e.r.IntN(2) == 0 {
		if compiled, err := schema.Compile([]byte(q.Form)); err == nil {
			v, _ := compiled.Generate(e.r, choose(e, []schema.Mode{schema.Adversarial, schema.Mixed}))
			return `{"action":"accept","content":` + v.String() + `}`
		}
	}
	text := `{}`
	if own := check.Results[q.Method]; len(own) > 0 {
		text = choose(e, own)
	}
	v, err := mutate.ParseJSON([]byte(text))
	if err != nil {
		return text
	}
	return string(oneLine(e.values.Mutate(e.r, nil, v).Append(nil)))
}

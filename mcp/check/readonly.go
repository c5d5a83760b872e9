package check

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// readOnlySamples is with how many arguments more a tool is called that must not change anything.
const readOnlySamples = 3

func checkReadOnly(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	for _, t := range b.Tools {
		if !t.ReadOnly || t.Slow {
			continue
		}
		watch := observers(b, 0, t)
		for _, o := range quickTools(b, r, 4, func(o *session.Operation) bool { return o != t && o.ReadOnly && len(o.Plain.Members) > 0 }) {
			watch = append(watch, script.Send(o.Call()))
		}
		probe := func(name string, arguments *mutate.JSON) {
			emit(name, script.NewShared(ReadOnly, slices.Concat(watch, watch, []script.Step{script.Send(t.CallWith(arguments))}, watch, watch)...))
		}
		probe(t.Name, t.Full)
		for i := range readOnlySamples {
			if t.Schema != nil && len(t.Full.Members) > 0 {
				v, _ := t.Schema.Generate(r, schema.Conform)
				probe(t.Name+" "+strconv.Itoa(i), v)
			}
		}
	}
}

// Bounds of the script in which all tools are called for the first time.
const maxFirstLines = 768

// checkFirstCall calls one tool after another that must not change anything, on a process in which nothing was called
// yet: the first call may do what no later one does.
func checkFirstCall(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	begin := script.Handshake(b.Version())
	watch := observers(b, len(begin), nil)
	if len(watch) == 0 {
		return
	}
	steps := slices.Concat(begin, watch, watch)
	for _, t := range b.Tools {
		if t.ReadOnly && !t.Slow && len(t.Plain.Members) > 0 && len(steps)+2*len(watch) < maxFirstLines {
			steps = slices.Concat(steps, []script.Step{script.Send(t.Call())}, watch, watch)
		}
	}
	emit("first calls", script.NewFresh(ReadOnly, steps...))
}

// readOnly looks whether observers see something else after a call that says it changes nothing: twice the same before it, and twice
// something else after it, since an observer may draw lots.
func (j *Case) readOnly() {
	steps := j.Transcript.Script.Steps
	for last := len(steps) - 1; last >= 3; last-- {
		looks := append(j.equalBefore(last), last)
		if len(looks) < 4 {
			continue
		}
		looks = looks[len(looks)-4:]
		steady := func(a, b int) bool { same, ok := j.exactly(looks[a], looks[b]); return ok && same }
		if same, ok := j.exactly(looks[1], looks[2]); !ok || same || !steady(0, 1) || !steady(2, 3) {
			continue
		}
		call := j.onlyCall(looks[1], looks[2])
		if call == nil {
			continue
		}
		observer := j.single(last)
		if records(observer) {
			continue
		}
		j.report(RuleReadOnly, j.subject(call), "", fmt.Sprintf("The tool says that it is read-only, but after %s the answer to %s is %s instead of %s.",
			jsonrpc.Cut(call.Raw, 160), jsonrpc.Cut(observer.Raw, 100), jsonrpc.Cut(j.answer(observer).Raw, 160), jsonrpc.Cut(j.answer(j.single(looks[1])).Raw, 160)))
		return
	}
}

// onlyCall returns the call that stands once in the script and between two steps; nil: there is none, or several.
func (j *Case) onlyCall(after, before int) (call *script.Sent) {
	for i := after + 1; i < before; i++ {
		times := 0
		for k := range j.Transcript.Script.Steps {
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

package check

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
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

// maxLooks is how many resources are read, and how many tools that need no argument are called, to see state.
const maxLooks = 8

// observers are requests whose answers show state: all lists, resources, and the tools that say that they only read and
// need no argument; but is left out. The first will be the given step of a script.
func observers(b *session.Catalog, first int, but *session.Operation) (look []script.Step) {
	EachList(b, func(method string) { look = append(look, allPages(b, method, first+len(look))...) })
	for i := range b.Session.Resources[:min(maxLooks, len(b.Session.Resources))] {
		look = append(look, script.Send(jsonrpc.RequestLine("resources/read", jsonrpc.Object("uri", b.Session.Resources[i].URI))))
	}
	tools := 0
	for _, t := range b.Tools {
		if t != but && t.ReadOnly && !t.Slow && len(t.Plain.Members) == 0 && tools < maxLooks {
			look = append(look, script.Send(t.Call()))
			tools++
		}
	}
	return look
}

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

// readOnlySamples is with how many arguments more a tool is called that must not change anything.
const readOnlySamples = 3

func checkReadOnly(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	for _, t := range b.Tools {
		if !t.ReadOnly || t.Slow {
			continue
		}
		watch := observers(b, 0, t)
		for _, o := range quickTools(b, r, 4) {
			if o != t && o.ReadOnly && len(o.Plain.Members) > 0 {
				watch = append(watch, script.Send(o.Call()))
			}
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

// sameLine reports whether two steps are equal steps.
func (j *Case) sameLine(a, b int) bool {
	steps := j.Transcript.Script.Steps
	return bytes.Equal(steps[a].Line, steps[b].Line)
}

// exactly reports whether two steps were answered with the same result, or the same error.
func (j *Case) exactly(a, b int) (same, answered bool) {
	s, t := j.single(a), j.single(b)
	if s == nil || t == nil {
		return false, false
	}
	x, y := j.answer(s), j.answer(t)
	if x == nil || y == nil {
		return false, false
	}
	if x.Message.Error != nil || y.Message.Error != nil {
		return x.Message.Error != nil && y.Message.Error != nil && script.ErrorCode(x) == script.ErrorCode(y), true
	}
	return sameButTime(x.Message.Result, y.Message.Result), true
}

func sameButTime(x, y *mutate.JSON) bool {
	if x.Equal(y) {
		return true
	}
	without := func(v *mutate.JSON) string { return clockTime.ReplaceAllString(v.String(), "") }
	return without(x) == without(y)
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

// equalBefore returns the steps before one that are equal to it.
func (j *Case) equalBefore(last int) (before []int) {
	for i := range last {
		if j.sameLine(i, last) {
			before = append(before, i)
		}
	}
	return before
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

package mcp

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
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

func texts(lines []string) (steps []Step) {
	for _, line := range lines {
		steps = append(steps, sendText(line))
	}
	return steps
}

// toolLooks is how often a tool has to give the same answer before garbage for another answer after it to mean something: many
// draw lots, such as a die, and there are campaigns of a million calls.
const toolLooks = 6

func checkSameAfterGarbage(b *repertoire, _ *teasel.Rand, emit emitter) {
	probe := func(name string, look []Step, garbage ...Step) {
		emit(name, shared(CheckSameAfterGarbage, slices.Concat(look, look, garbage, look)...))
	}
	harmless := texts(harmlessGarbage)
	eachList(b, func(method string) {
		probe(method+" after refused messages", walkPages(b, method, 0), harmless...)
		probe(method+" after broken lines", walkPages(b, method, 0), texts(brokenGarbage)...)
		probe(method+" after no messages", walkPages(b, method, 0), texts(invalidGarbage)...)
	})
	for _, t := range b.tools {
		if t.Slow {
			continue
		}
		garbage := slices.Clone(harmless)
		for _, arguments := range t.broken[:min(8, len(t.broken))] {
			garbage = append(garbage, send(t.callWith(arguments)))
		}
		look := []Step{send(t.call())}
		emit(t.Name, shared(CheckSameAfterGarbage, slices.Concat(slices.Repeat(look, toolLooks), garbage, look)...))
	}
}

// checkFirstGarbage looks at all that shows state on a process that has not seen any garbage yet: its first may do what
// no later one does.
func checkFirstGarbage(b *repertoire, _ *teasel.Rand, emit emitter) {
	begin := handshake(b.version())
	look := observers(b, len(begin), nil)
	for i := range b.session.Prompts[:min(maxLooks, len(b.session.Prompts))] {
		look = append(look, send(promptLine(&b.session.Prompts[i], b.likely)))
	}
	if len(look) == 0 {
		return
	}
	looks := 2
	if slices.ContainsFunc(look, func(s Step) bool { return bytes.Contains(s.Line, []byte("tools/call")) }) {
		looks = toolLooks
	}
	for _, g := range []struct {
		name  string
		lines []string
	}{{"broken lines first", brokenGarbage}, {"no messages first", invalidGarbage}, {"refused messages first", harmlessGarbage}} {
		emit(g.name, fresh(CheckSameAfterGarbage, slices.Concat(begin, slices.Repeat(look, looks), texts(g.lines), look)...))
	}
}

// maxLooks is how many resources are read, and how many tools that need no argument are called, to see state.
const maxLooks = 8

// observers are requests whose answers show state: all lists, resources, and the tools that say that they only read and
// need no argument; but is left out. The first will be the given step of a script.
func observers(b *repertoire, first int, but *callable) (look []Step) {
	eachList(b, func(method string) { look = append(look, walkPages(b, method, first+len(look))...) })
	for i := range b.session.Resources[:min(maxLooks, len(b.session.Resources))] {
		look = append(look, send(requestLine("resources/read", object("uri", b.session.Resources[i].URI))))
	}
	tools := 0
	for _, t := range b.tools {
		if t != but && t.ReadOnly && !t.Slow && len(t.plain.Members) == 0 && tools < maxLooks {
			look = append(look, send(t.call()))
			tools++
		}
	}
	return look
}

// walk returns the requests for all pages of a list, or for as many as are worth it. Its first step will be the given one
// of a script; asked again, they are the same lines, with the cursors of the first time.
func walkPages(b *repertoire, method string, first int) []Step {
	steps := []Step{send(requestLine(method, nil))}
	for i := 1; i < min(b.session.Pages[method], pages); i++ {
		steps = append(steps, send(requestLine(method, cursorParams(capture(first+i-1, "/nextCursor")))))
	}
	return steps
}

func checkRepeat(b *repertoire, _ *teasel.Rand, emit emitter) {
	repeat := func(name string, line []byte) {
		emit(name, shared(CheckRepeat, send(line), send(line), send(line), send(line)))
	}
	eachList(b, func(method string) { repeat(method, requestLine(method, nil)) })
	for _, t := range b.tools {
		if (t.ReadOnly || t.Idempotent) && !t.Slow {
			repeat(t.Name, t.call())
		}
	}
}

// readOnlySamples is with how many arguments more a tool is called that must not change anything.
const readOnlySamples = 3

func checkReadOnly(b *repertoire, r *teasel.Rand, emit emitter) {
	for _, t := range b.tools {
		if !t.ReadOnly || t.Slow {
			continue
		}
		watch := observers(b, 0, t)
		for _, o := range quickTools(b, r, 4) {
			if o != t && o.ReadOnly && len(o.plain.Members) > 0 {
				watch = append(watch, send(o.call()))
			}
		}
		probe := func(name string, arguments *mutate.JSON) {
			emit(name, shared(CheckReadOnly, slices.Concat(watch, watch, []Step{send(t.callWith(arguments))}, watch)...))
		}
		probe(t.Name, t.full)
		for i := range readOnlySamples {
			if t.schema != nil && len(t.full.Members) > 0 {
				v, _ := t.schema.Generate(r, schema.Conform)
				probe(t.Name+" "+strconv.Itoa(i), v)
			}
		}
	}
}

// Bounds of the script in which all tools are called for the first time.
const maxFirstLines = 768

// checkFirstCall calls one tool after another that must not change anything, on a process in which nothing was called
// yet: the first call may do what no later one does.
func checkFirstCall(b *repertoire, _ *teasel.Rand, emit emitter) {
	begin := handshake(b.version())
	watch := observers(b, len(begin), nil)
	if len(watch) == 0 {
		return
	}
	steps := slices.Concat(begin, watch, watch)
	for _, t := range b.tools {
		if t.ReadOnly && !t.Slow && len(t.plain.Members) > 0 && len(steps)+len(watch) < maxFirstLines {
			steps = append(append(steps, send(t.call())), watch...)
		}
	}
	emit("first calls", fresh(CheckReadOnly, steps...))
}

// pages is how many pages a walk asks for at most.
const pages = 6

func checkPagination(b *repertoire, _ *teasel.Rand, emit emitter) {
	eachList(b, func(method string) {
		steps := []Step{send(requestLine(method, nil))}
		for i := range pages - 1 {
			steps = append(steps, send(requestLine(method, cursorParams(capture(i, "/nextCursor")))))
		}
		emit(method, shared(CheckPagination, steps...))
	})
}

// oddCursors are texts of cursors that no server gave out.
var oddCursors = []string{
	`""`, `"` + ControlName + `a1"`, `"-1"`, `"0"`, `"1"`, `"999999999"`, `"null"`, `"undefined"`, `"NaN"`, `"../.."`, `"\u0000"`,
	`"ü💥"`, `"` + encoded("-1") + `"`, `"` + encoded("999999999") + `"`, `"` + encoded(`{"offset":-1}`) + `"`, `"` + encoded("teasel") + `"`,
	`"__proto__"`, `"'"`, `5`, `-1`, `1.5`, `null`, `true`, `{}`, `[]`, `[""]`, `{"a":"b"}`,
}

func checkCursor(b *repertoire, _ *teasel.Rand, emit emitter) {
	eachList(b, func(method string) {
		var steps []Step
		for _, cursor := range oddCursors {
			steps = append(steps, send(requestLine(method, cursorParams(mutate.NewRaw(cursor)))))
		}
		steps = append(steps, send(requestLine(method, cursorParams(mutate.NewString(longText(4096))))))
		chunks(steps, chunk, func(part int, steps []Step) { emit(method+" "+strconv.Itoa(part), shared(CheckCursor, steps...)) })
	})
}

// plainParams are parameters for the methods that need some, whatever the server has.
var plainParams = map[string]string{
	"tools/call": `{"name":"a","arguments":{}}`, "resources/read": `{"uri":"file:///a"}`, "prompts/get": `{"name":"a"}`,
	"resources/subscribe": `{"uri":"file:///a"}`, "resources/unsubscribe": `{"uri":"file:///a"}`,
	"completion/complete": `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a","value":""}}`,
	"logging/setLevel":    `{"level":"emergency"}`, "tasks/get": `{"taskId":"a"}`, "tasks/result": `{"taskId":"a"}`, "tasks/cancel": `{"taskId":"a"}`,
}

func checkUndeclared(b *repertoire, _ *teasel.Rand, emit emitter) {
	var steps []Step
	for _, m := range methods {
		declared := capabilityOf(m) == "" || b.session.Has(capabilityOf(m))
		if m == "resources/subscribe" || m == "resources/unsubscribe" {
			subscribe := b.session.Capabilities.Get("resources").Get("subscribe")
			declared = subscribe != nil && subscribe.Text == "true"
		}
		// The first version had no word for completions.
		if declared || m == "completion/complete" && b.session.Version == Versions[0] {
			continue
		}
		line := requestLine(m, nil)
		if p, ok := plainParams[m]; ok {
			line = requestLine(m, mutate.NewRaw(p))
		}
		steps = append(steps, send(line))
	}
	if len(steps) > 0 {
		emit("methods", shared(CheckUndeclared, steps...))
	}
}

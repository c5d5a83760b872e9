package mcp

import (
	"slices"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// Garbage of two kinds: that which a line reader has to skip, and well-formed messages that have no effect.
var (
	brokenGarbage = []string{
		`{bad`, `garbage`, `{"jsonrpc":"2.0","id":"@id","method":"ping"`, `{"jsonrpc":"2.0","id":{},"method":"ping"}`, `[]`, `null`, "\x00\x01\x02",
	}
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

func checkSameAfterGarbage(b *repertoire, _ *teasel.Rand, emit emitter) {
	probe := func(name string, line []byte, garbage ...Step) {
		steps := []Step{send(line), send(line)}
		steps = append(steps, garbage...)
		emit(name, shared(CheckSameAfterGarbage, append(steps, send(line))...))
	}
	var harmless, broken []Step
	for _, g := range harmlessGarbage {
		harmless = append(harmless, sendText(g))
	}
	for _, g := range brokenGarbage {
		broken = append(broken, sendText(g))
	}
	b.eachList(func(method string) {
		probe(method+" after refused messages", requestLine(method, nil), harmless...)
		probe(method+" after broken lines", requestLine(method, nil), broken...)
	})
	for _, t := range b.tools {
		if t.slow {
			continue
		}
		garbage := slices.Clone(harmless)
		for _, arguments := range t.broken[:min(8, len(t.broken))] {
			garbage = append(garbage, send(t.callWith(arguments)))
		}
		probe(t.Name, t.call(), garbage...)
	}
}

func checkRepeat(b *repertoire, _ *teasel.Rand, emit emitter) {
	repeat := func(name string, line []byte) {
		emit(name, shared(CheckRepeat, send(line), send(line), send(line), send(line)))
	}
	b.eachList(func(method string) { repeat(method, requestLine(method, nil)) })
	for _, t := range b.tools {
		if (t.hint("readOnlyHint") || t.hint("idempotentHint")) && !t.slow {
			repeat(t.Name, t.call())
		}
	}
}

func checkReadOnly(b *repertoire, r *teasel.Rand, emit emitter) {
	var observers []Step
	b.eachList(func(method string) { observers = append(observers, send(requestLine(method, nil))) })
	for i := range b.session.Resources[:min(2, len(b.session.Resources))] {
		observers = append(observers, send(requestLine("resources/read", object("uri", b.session.Resources[i].URI))))
	}
	for _, t := range b.tools {
		if !t.hint("readOnlyHint") || t.slow {
			continue
		}
		watch := slices.Clone(observers)
		for _, o := range b.quick(r, 4) {
			if o != t && o.hint("readOnlyHint") {
				watch = append(watch, send(o.call()))
			}
		}
		plain := 0
		for _, o := range b.tools { // what needs no argument shows state as a rule
			if o != t && o.hint("readOnlyHint") && !o.slow && len(o.plain.Members) == 0 && plain < 8 {
				watch = append(watch, send(o.call()))
				plain++
			}
		}
		emit(t.Name, shared(CheckReadOnly, slices.Concat(watch, watch, []Step{send(t.callWith(t.full))}, watch)...))
	}
}

// pages is how many pages a walk asks for at most.
const pages = 6

func checkPagination(b *repertoire, _ *teasel.Rand, emit emitter) {
	b.eachList(func(method string) {
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
	b.eachList(func(method string) {
		var steps []Step
		for _, cursor := range oddCursors {
			steps = append(steps, send(requestLine(method, cursorParams(mutate.NewRaw(cursor)))))
		}
		steps = append(steps, send(requestLine(method, cursorParams(mutate.NewString(longText(4096))))))
		chunks(steps, chunk, func(part int, steps []Step) { emit(method+" "+itoa(part), shared(CheckCursor, steps...)) })
	})
}

func checkUndeclared(b *repertoire, _ *teasel.Rand, emit emitter) {
	params := map[string]string{
		"tools/call": `{"name":"a","arguments":{}}`, "resources/read": `{"uri":"file:///a"}`, "prompts/get": `{"name":"a"}`,
		"resources/subscribe": `{"uri":"file:///a"}`, "resources/unsubscribe": `{"uri":"file:///a"}`,
		"completion/complete": `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a","value":""}}`,
		"logging/setLevel":    `{"level":"emergency"}`, "tasks/get": `{"taskId":"a"}`, "tasks/result": `{"taskId":"a"}`, "tasks/cancel": `{"taskId":"a"}`,
	}
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
		if p, ok := params[m]; ok {
			line = requestLine(m, mutate.NewRaw(p))
		}
		steps = append(steps, send(line))
	}
	if len(steps) > 0 {
		emit("methods", shared(CheckUndeclared, steps...))
	}
}

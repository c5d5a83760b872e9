package mcp

import (
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mutate"
)

// checkValidation breaks each tool's schema in each way that was found. Each script begins with
// a call that is right.
func checkValidation(b *repertoire, _ *teasel.Rand, emit emitter) {
	for _, t := range b.tools {
		var steps []Step
		for _, arguments := range t.broken {
			steps = append(steps, send(t.callWith(arguments)))
		}
		for _, arguments := range []string{`[]`, `"a"`, `5`, `true`, `null`} {
			steps = append(steps, send(t.callWith(mutate.NewRaw(arguments))))
		}
		if t.InputSchema.Get("required").Len() > 1 {
			steps = append(steps, send(callLine(t.Name, nil)), send(t.callWith(mutate.NewObject())))
		}
		chunks(steps, chunk, func(part int, steps []Step) {
			if !t.Slow {
				steps = append([]Step{send(t.call())}, steps...)
			}
			emit(t.Name+" "+strconv.Itoa(part), shared(CheckValidation, steps...))
		})
	}
}

// withToken returns a call that asks for progress.
func withToken(c *callable, token *mutate.JSON) []byte {
	meta := mutate.NewObject(member("progressToken", token))
	return requestLine("tools/call", mutate.NewObject(member("name", mutate.NewString(c.Name)),
		member("arguments", c.plain.Clone()), member("_meta", meta)))
}

func checkProgress(b *repertoire, _ *teasel.Rand, emit emitter) {
	for _, t := range b.tools {
		steps := []Step{send(withToken(t, mutate.NewString("@id"))), send(withToken(t, mutate.NewString("teasel-progress")))}
		if !t.Slow {
			for _, odd := range []string{`0`, `""`, `-1`, `null`, `1.5`, `true`, `{}`, `[]`} {
				steps = append(steps, send(withToken(t, mutate.NewRaw(odd))))
			}
		}
		emit(t.Name, shared(CheckProgress, steps...))
	}
	emit("lists", shared(CheckProgress,
		sendText(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{"_meta":{"progressToken":"@id"}}}`),
		sendText(`{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{"_meta":{"progressToken":"@id"}}}`)))
}

func promptRef(name string) *mutate.JSON {
	return mutate.NewObject(member("type", mutate.NewString("ref/prompt")), member("name", mutate.NewString(name)))
}

func resourceRef(uri string) *mutate.JSON {
	return mutate.NewObject(member("type", mutate.NewString("ref/resource")), member("uri", mutate.NewString(uri)))
}

func completionLine(ref *mutate.JSON, argument, value string) []byte {
	return requestLine("completion/complete", mutate.NewObject(member("ref", ref), member("argument",
		mutate.NewObject(member("name", mutate.NewString(argument)), member("value", mutate.NewString(value))))))
}

// eachCompletion passes on what the server could complete.
func eachCompletion(s *Session, visit func(name string, ref func() *mutate.JSON, argument string)) {
	for i := range s.Prompts {
		p := &s.Prompts[i]
		for _, a := range p.Arguments {
			visit(p.Name, func() *mutate.JSON { return promptRef(p.Name) }, a.Name)
		}
	}
	for i := range s.Templates {
		uri := s.Templates[i].URI
		for _, v := range templateVariables(uri) {
			visit(uri, func() *mutate.JSON { return resourceRef(uri) }, v)
		}
	}
}

func checkCompletion(b *repertoire, _ *teasel.Rand, emit emitter) {
	if !b.session.Has("completions") {
		return
	}
	eachCompletion(b.session, func(name string, ref func() *mutate.JSON, argument string) {
		steps := []Step{
			send(completionLine(ref(), argument, "")), send(completionLine(ref(), argument, "a")), send(completionLine(ref(), argument, "1")),
			send(completionLine(ref(), argument, "\x00")), send(completionLine(ref(), argument, longText(10_000))),
			send(completionLine(ref(), controls[0], "a")), send(completionLine(ref(), "__proto__", "a")),
		}
		emit(name+" "+argument, shared(CheckCompletion, steps...))
	})
	argument := `,"argument":{"name":"a","value":"a"}}`
	var steps []Step
	for _, params := range []string{
		`{"ref":{"type":"ref/prompt","name":"` + ControlName + `a1"}` + argument,
		`{"ref":{"type":"ref/resource","uri":"` + ControlName + `a1://a"}` + argument,
		`{"ref":{"type":"ref/` + ControlName + `a1","name":"a"}` + argument,
		`{"ref":{"type":"ref/prompt"}` + argument, `{"ref":{}` + argument, `{"ref":null` + argument, `{"ref":"ref/prompt"` + argument,
		`{"ref":{"type":"ref/prompt","name":"a"}}`, `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a"}}`, `{}`, `[]`,
	} {
		steps = append(steps, send(requestLine("completion/complete", mutate.NewRaw(params))))
	}
	steps = append(steps, send(requestLine("completion/complete", nil)))
	chunks(steps, chunk, func(part int, steps []Step) { emit("malformed "+strconv.Itoa(part), shared(CheckCompletion, steps...)) })
}

// levels are those of RFC 5424 that logging/setLevel knows, the most talkative first, so that a session is left quiet.
var levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

func levelLine(level *mutate.JSON) []byte {
	return requestLine("logging/setLevel", mutate.NewObject(member("level", level)))
}

func checkLogLevel(b *repertoire, _ *teasel.Rand, emit emitter) {
	if !b.session.Has("logging") {
		return
	}
	var steps []Step
	for _, level := range levels {
		steps = append(steps, send(levelLine(mutate.NewString(level))))
	}
	for _, level := range []string{`""`, `"DEBUG"`, `"Info"`, `"` + ControlName + `a1"`, `"__proto__"`, `7`, `0`, `null`, `true`, `[]`, `["info"]`, `{}`} {
		steps = append(steps, send(levelLine(mutate.NewRaw(level))))
	}
	steps = append(steps, send(requestLine("logging/setLevel", nil)))
	chunks(steps, chunk, func(part int, steps []Step) { emit("levels "+strconv.Itoa(part), shared(CheckLogLevel, steps...)) })
}

// cancelLine cancels the request of an earlier step, whose id stands in JSON.
func cancelLine(id string) []byte {
	return notificationLine(cancelMethod, mutate.NewObject(member("requestId", mutate.NewRaw(id)),
		member("reason", mutate.NewString("teasel"))))
}

func checkCancel(b *repertoire, r *teasel.Rand, emit emitter) {
	ping := sendText(pingLine)
	probe := func(name string, line []byte) {
		emit(name+" in flight", shared(CheckCancel, sendOn(line), sendOn(cancelLine(`"@id:0"`)), ping))
		emit(name+" twice", shared(CheckCancel, sendOn(line), sendOn(cancelLine(`"@id:0"`)), sendOn(cancelLine(`"@id:0"`)), ping))
	}
	late := func(name string, line []byte) {
		emit(name+" too late", shared(CheckCancel, send(line), sendOn(cancelLine(`"@id:0"`)), ping))
	}
	probe("tools/list", requestLine("tools/list", nil))
	late("tools/list", requestLine("tools/list", nil))
	tools := someTools(b, r, 8)
	for _, t := range b.tools { // which are still at it when they are told to stop
		if t.Slow && !slices.Contains(tools, t) {
			tools = append(slices.Clone(tools), t)
		}
	}
	for _, t := range tools {
		probe(t.Name, t.call())
		late(t.Name, t.call())
		if long := t.lengthy(); !long.Equal(t.plain) {
			probe(t.Name+" at length", t.callWith(long))
		}
	}
	var steps []Step
	for _, id := range []string{`"` + ControlName + `a1"`, `-7000000001`, `9007199254740993`, `null`, `{}`, `[]`, `true`, `1.5`, `""`} {
		steps = append(steps, sendOn(cancelLine(id)))
	}
	steps = append(steps, sendOn(notificationLine(cancelMethod, nil)),
		sendOn(notificationLine(cancelMethod, mutate.NewObject())),
		sendOn(notificationLine(cancelMethod, mutate.NewArray())), ping)
	emit("unknown ids", shared(CheckCancel, steps...))
	for _, t := range b.tools {
		if !t.Slow {
			emit("as a string, "+t.Name, shared(CheckCancel, sendOn(t.call()), sendOn(cancelLine(`"@id:0:s"`)), ping))
			break
		}
	}
}

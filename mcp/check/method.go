package check

import (
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
)

// checkValidation breaks each tool's schema in each way that was found. Each script begins with
// a call that is right.
func checkValidation(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	for _, t := range b.Tools {
		var steps []script.Step
		for _, arguments := range t.Broken {
			steps = append(steps, script.Send(t.CallWith(arguments)))
		}
		for _, arguments := range []string{`[]`, `"a"`, `5`, `true`, `null`} {
			steps = append(steps, script.Send(t.CallWith(mutate.NewRaw(arguments))))
		}
		if t.InputSchema.Get("required").Len() > 1 {
			steps = append(steps, script.Send(session.CallLine(t.Name, nil)), script.Send(t.CallWith(mutate.NewObject())))
		}
		Chunks(steps, chunk, func(part int, steps []script.Step) {
			if !t.Slow {
				steps = append([]script.Step{script.Send(t.Call())}, steps...)
			}
			emit(t.Name+" "+strconv.Itoa(part), script.NewShared(Validation, steps...))
		})
	}
}

// withToken returns a call that asks for progress.
func withToken(c *session.Operation, token *mutate.JSON) []byte {
	meta := mutate.NewObject(jsonrpc.Member("progressToken", token))
	return jsonrpc.RequestLine("tools/call", mutate.NewObject(jsonrpc.Member("name", mutate.NewString(c.Name)),
		jsonrpc.Member("arguments", c.Plain.Clone()), jsonrpc.Member("_meta", meta)))
}

func checkProgress(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	for _, t := range b.Tools {
		steps := []script.Step{script.Send(withToken(t, mutate.NewString("@id"))), script.Send(withToken(t, mutate.NewString("teasel-progress")))}
		if !t.Slow {
			for _, odd := range []string{`0`, `""`, `-1`, `null`, `1.5`, `true`, `{}`, `[]`} {
				steps = append(steps, script.Send(withToken(t, mutate.NewRaw(odd))))
			}
		}
		emit(t.Name, script.NewShared(Progress, steps...))
	}
	emit("lists", script.NewShared(Progress,
		script.SendText(`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{"_meta":{"progressToken":"@id"}}}`),
		script.SendText(`{"jsonrpc":"2.0","id":"@id","method":"tools/list","params":{"_meta":{"progressToken":"@id"}}}`)))
}

func checkCompletion(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.Has("completions") {
		return
	}
	session.EachCompletion(b.Session, func(name string, ref func() *mutate.JSON, argument string) {
		steps := []script.Step{
			script.Send(session.CompletionLine(ref(), argument, "")), script.Send(session.CompletionLine(ref(), argument, "a")), script.Send(session.CompletionLine(ref(), argument, "1")),
			script.Send(session.CompletionLine(ref(), argument, "\x00")), script.Send(session.CompletionLine(ref(), argument, script.LongText(10_000))),
			script.Send(session.CompletionLine(ref(), Controls[0], "a")), script.Send(session.CompletionLine(ref(), "__proto__", "a")),
		}
		emit(name+" "+argument, script.NewShared(Completion, steps...))
	})
	argument := `,"argument":{"name":"a","value":"a"}}`
	var steps []script.Step
	for _, params := range []string{
		`{"ref":{"type":"ref/prompt","name":"` + ControlName + `a1"}` + argument,
		`{"ref":{"type":"ref/resource","uri":"` + ControlName + `a1://a"}` + argument,
		`{"ref":{"type":"ref/` + ControlName + `a1","name":"a"}` + argument,
		`{"ref":{"type":"ref/prompt"}` + argument, `{"ref":{}` + argument, `{"ref":null` + argument, `{"ref":"ref/prompt"` + argument,
		`{"ref":{"type":"ref/prompt","name":"a"}}`, `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a"}}`, `{}`, `[]`,
	} {
		steps = append(steps, script.Send(jsonrpc.RequestLine("completion/complete", mutate.NewRaw(params))))
	}
	steps = append(steps, script.Send(jsonrpc.RequestLine("completion/complete", nil)))
	Chunks(steps, chunk, func(part int, steps []script.Step) {
		emit("malformed "+strconv.Itoa(part), script.NewShared(Completion, steps...))
	})
}

// Levels are those of RFC 5424 that logging/setLevel knows, the most talkative first, so that a session is left quiet.
var Levels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// LevelLine returns a request to log at a level.
func LevelLine(level *mutate.JSON) []byte {
	return jsonrpc.RequestLine("logging/setLevel", mutate.NewObject(jsonrpc.Member("level", level)))
}

func checkLogLevel(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	if !b.Session.Has("logging") {
		return
	}
	var steps []script.Step
	for _, level := range Levels {
		steps = append(steps, script.Send(LevelLine(mutate.NewString(level))))
	}
	for _, level := range []string{`""`, `"DEBUG"`, `"Info"`, `"` + ControlName + `a1"`, `"__proto__"`, `7`, `0`, `null`, `true`, `[]`, `["info"]`, `{}`} {
		steps = append(steps, script.Send(LevelLine(mutate.NewRaw(level))))
	}
	steps = append(steps, script.Send(jsonrpc.RequestLine("logging/setLevel", nil)))
	Chunks(steps, chunk, func(part int, steps []script.Step) {
		emit("levels "+strconv.Itoa(part), script.NewShared(LogLevel, steps...))
	})
}

// CancelLine cancels the request of an earlier step, whose id stands in JSON.
func CancelLine(id string) []byte {
	return jsonrpc.NotificationLine(jsonrpc.CancelMethod, mutate.NewObject(jsonrpc.Member("requestId", mutate.NewRaw(id)),
		jsonrpc.Member("reason", mutate.NewString("teasel"))))
}

func checkCancel(b *session.Catalog, r *teasel.Rand, emit Emitter) {
	ping := script.SendText(session.PingLine)
	probe := func(name string, line []byte) {
		emit(name+" in flight", script.NewShared(Cancel, script.SendOn(line), script.SendOn(CancelLine(`"@id:0"`)), ping))
		emit(name+" twice", script.NewShared(Cancel, script.SendOn(line), script.SendOn(CancelLine(`"@id:0"`)), script.SendOn(CancelLine(`"@id:0"`)), ping))
	}
	late := func(name string, line []byte) {
		emit(name+" too late", script.NewShared(Cancel, script.Send(line), script.SendOn(CancelLine(`"@id:0"`)), ping))
	}
	probe("tools/list", jsonrpc.RequestLine("tools/list", nil))
	late("tools/list", jsonrpc.RequestLine("tools/list", nil))
	tools := someTools(b, r, 8)
	for _, t := range b.Tools { // which are still at it when they are told to stop
		if t.Slow && !slices.Contains(tools, t) {
			tools = append(slices.Clone(tools), t)
		}
	}
	for _, t := range tools {
		probe(t.Name, t.Call())
		late(t.Name, t.Call())
		if long := t.Lengthy(); !long.Equal(t.Plain) {
			probe(t.Name+" at length", t.CallWith(long))
		}
	}
	var steps []script.Step
	for _, id := range []string{`"` + ControlName + `a1"`, `-7000000001`, `9007199254740993`, `null`, `{}`, `[]`, `true`, `1.5`, `""`} {
		steps = append(steps, script.SendOn(CancelLine(id)))
	}
	steps = append(steps, script.SendOn(jsonrpc.NotificationLine(jsonrpc.CancelMethod, nil)),
		script.SendOn(jsonrpc.NotificationLine(jsonrpc.CancelMethod, mutate.NewObject())),
		script.SendOn(jsonrpc.NotificationLine(jsonrpc.CancelMethod, mutate.NewArray())), ping)
	emit("unknown ids", script.NewShared(Cancel, steps...))
	for _, t := range b.Tools {
		if !t.Slow {
			emit("as a string, "+t.Name, script.NewShared(Cancel, script.SendOn(t.Call()), script.SendOn(CancelLine(`"@id:0:s"`)), ping))
			break
		}
	}
}

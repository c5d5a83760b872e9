package check

import (
	"bytes"
	"slices"
	"strconv"

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
		probe(method+" after refused messages", walkPages(b, method, 0), harmless...)
		probe(method+" after broken lines", walkPages(b, method, 0), texts(brokenGarbage)...)
		probe(method+" after no messages", walkPages(b, method, 0), texts(invalidGarbage)...)
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
	EachList(b, func(method string) { look = append(look, walkPages(b, method, first+len(look))...) })
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

// walkPages returns the requests for all pages of a list, or for as many as are worth it. Its first step will be the given one
// of a script; asked again, they are the same lines, with the cursors of the first time.
func walkPages(b *session.Catalog, method string, first int) []script.Step {
	steps := []script.Step{script.Send(jsonrpc.RequestLine(method, nil))}
	for i := 1; i < min(b.Session.Pages[method], pages); i++ {
		steps = append(steps, script.Send(jsonrpc.RequestLine(method, CursorParams(script.Placeholder(first+i-1, "/nextCursor")))))
	}
	return steps
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
			emit(name, script.NewShared(ReadOnly, slices.Concat(watch, watch, []script.Step{script.Send(t.CallWith(arguments))}, watch)...))
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
		if t.ReadOnly && !t.Slow && len(t.Plain.Members) > 0 && len(steps)+len(watch) < maxFirstLines {
			steps = append(append(steps, script.Send(t.Call())), watch...)
		}
	}
	emit("first calls", script.NewFresh(ReadOnly, steps...))
}

// pages is how many pages a walk asks for at most.
const pages = 6

func checkPagination(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	EachList(b, func(method string) {
		steps := []script.Step{script.Send(jsonrpc.RequestLine(method, nil))}
		for i := range pages - 1 {
			steps = append(steps, script.Send(jsonrpc.RequestLine(method, CursorParams(script.Placeholder(i, "/nextCursor")))))
		}
		emit(method, script.NewShared(Pagination, steps...))
	})
}

// OddCursors are texts of cursors that no server gave out.
var OddCursors = []string{
	`""`, `"` + ControlName + `a1"`, `"-1"`, `"0"`, `"1"`, `"999999999"`, `"null"`, `"undefined"`, `"NaN"`, `"../.."`, `"\u0000"`,
	`"ü💥"`, `"` + session.Base64("-1") + `"`, `"` + session.Base64("999999999") + `"`, `"` + session.Base64(`{"offset":-1}`) + `"`, `"` + session.Base64("teasel") + `"`,
	`"__proto__"`, `"'"`, `5`, `-1`, `1.5`, `null`, `true`, `{}`, `[]`, `[""]`, `{"a":"b"}`,
}

func checkCursor(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	EachList(b, func(method string) {
		var steps []script.Step
		for _, cursor := range OddCursors {
			steps = append(steps, script.Send(jsonrpc.RequestLine(method, CursorParams(mutate.NewRaw(cursor)))))
		}
		steps = append(steps, script.Send(jsonrpc.RequestLine(method, CursorParams(mutate.NewString(script.LongText(4096))))))
		Chunks(steps, chunk, func(part int, steps []script.Step) {
			emit(method+" "+strconv.Itoa(part), script.NewShared(Cursor, steps...))
		})
	})
}

// plainParams are parameters for the methods that need some, whatever the server has.
var plainParams = map[string]string{
	"tools/call": `{"name":"a","arguments":{}}`, "resources/read": `{"uri":"file:///a"}`, "prompts/get": `{"name":"a"}`,
	"resources/subscribe": `{"uri":"file:///a"}`, "resources/unsubscribe": `{"uri":"file:///a"}`,
	"completion/complete": `{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a","value":""}}`,
	"logging/setLevel":    `{"level":"emergency"}`, "tasks/get": `{"taskId":"a"}`, "tasks/result": `{"taskId":"a"}`, "tasks/cancel": `{"taskId":"a"}`,
}

func checkUndeclared(b *session.Catalog, _ *teasel.Rand, emit Emitter) {
	var steps []script.Step
	for _, m := range session.Methods {
		declared := session.CapabilityOf(m) == "" || b.Session.Has(session.CapabilityOf(m))
		if m == "resources/subscribe" || m == "resources/unsubscribe" {
			subscribe := b.Session.Capabilities.Get("resources").Get("subscribe")
			declared = subscribe != nil && subscribe.Text == "true"
		}
		// The first version had no word for completions.
		if declared || m == "completion/complete" && b.Session.Version == session.Versions[0] {
			continue
		}
		line := jsonrpc.RequestLine(m, nil)
		if p, ok := plainParams[m]; ok {
			line = jsonrpc.RequestLine(m, mutate.NewRaw(p))
		}
		steps = append(steps, script.Send(line))
	}
	if len(steps) > 0 {
		emit("methods", script.NewShared(Undeclared, steps...))
	}
}

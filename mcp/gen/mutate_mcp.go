package gen

import (
	"bytes"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// callStep draws a step that calls a tool which we know, or makes one. c is nil if there is no tool to call.
func (e *editor) callStep() (i int, root *mutate.JSON, c *session.Operation) {
	i = e.pick()
	if root = e.message(i); e.method(i) == "tools/call" {
		name, _ := root.Get("params").Get("name").Str()
		if c = e.b.Find(name); c != nil {
			return i, root, c
		}
	}
	if len(e.b.Tools) == 0 {
		return i, root, nil
	}
	c = choose(e, e.b.Tools)
	root, err := mutate.ParseJSON(c.Call())
	if err != nil {
		return i, nil, nil
	}
	e.setTree(i, root)
	return i, root, c
}

// Names of tools that nobody has.
var oddTools = []string{
	"nonexistent_tool", "../../etc/passwd", "'; DROP TABLE tools; --", "", " ", "\x00", "*", "tools/list", "%s%n", "{{name}}", "${name}", "a/b", "a.b", "ü", "-", "0",
}

// renameTool calls a tool that there is not: an invented one, a runtime's own name, a near miss.
func renameTool(e *editor) bool {
	i, root, c := e.callStep()
	name := "echo"
	if c != nil {
		name = c.Name
	}
	if root == nil || c == nil {
		parsed, err := mutate.ParseJSON(session.CallLine(name, mutate.NewObject()))
		if err != nil {
			return false
		}
		root = parsed
		e.setTree(i, root)
	}
	var now *mutate.JSON
	switch e.r.IntN(6) {
	case 0:
		now = mutate.NewString(choose(e, check.OwnedNames))
	case 1:
		now = mutate.NewString(choose(e, check.Variants(orA(name))))
	case 2:
		now = mutate.NewString(script.LongText(1 << (4 + e.r.IntN(12))))
	case 3:
		now = mutate.NewRaw(choose(e, []string{`null`, `1`, `true`, `[]`, `{}`, `["` + check.ControlName + `a1"]`}))
	case 4:
		now = mutate.NewString(check.ControlName + e.odd())
	default:
		now = mutate.NewString(choose(e, oddTools))
	}
	params := root.Get("params")
	if params.Get("name").String() == now.String() {
		now = mutate.NewString(check.Controls[0])
	}
	params.Set("name", now)
	e.touch(i)
	return true
}

// violateSchema breaks one keyword of a tool's input schema, or draws arguments that are hostile.
func violateSchema(e *editor) bool {
	i, root, c := e.callStep()
	if c == nil {
		return false
	}
	var arguments *mutate.JSON
	switch {
	case c.Schema == nil || e.r.IntN(16) == 0:
		arguments = mutate.NewRaw(choose(e, []string{`[]`, `null`, `"a"`, `1`, `true`, `{}`, `[{}]`, `{"":null}`, `""`}))
	case len(c.Broken) > 0 && e.r.IntN(4) > 0:
		arguments = choose(e, c.Broken).Clone()
	default:
		arguments, _ = c.Schema.Generate(e.r, schema.Adversarial)
	}
	return e.setArguments(i, root, arguments)
}

func (e *editor) setArguments(i int, root, arguments *mutate.JSON) bool {
	params := root.Get("params")
	if params == nil || params.Kind != mutate.Object {
		return false
	}
	params.Set("arguments", arguments)
	e.touch(i)
	return true
}

// redrawArguments draws conform arguments; half the time it keeps all of the present ones but one.
func redrawArguments(e *editor) bool {
	i, root, c := e.callStep()
	if c == nil || c.Schema == nil {
		return false
	}
	mode := schema.Conform
	if e.r.IntN(4) == 0 {
		mode = schema.Mixed
	}
	drawn, _ := c.Schema.Generate(e.r, mode)
	present := root.Get("params").Get("arguments")
	if nonEmpty(drawn) == nil || present == nil || present.Kind != mutate.Object || e.r.IntN(2) == 0 {
		return e.setArguments(i, root, drawn)
	}
	m := choose(e, drawn.Members)
	present.Set(m.Name, m.Value)
	e.touch(i)
	return true
}

// reorder makes a script say things in another order: a message twice, one less, two exchanged, a handshake in the
// middle, an answer to nothing.
func reorder(e *editor) bool {
	n := len(e.in.Steps)
	switch e.r.IntN(9) {
	case 0:
		if n < 2 {
			return false
		}
		e.remove(e.r.IntN(n))
	case 1:
		if n < 2 {
			return false
		}
		i := e.r.IntN(n - 1)
		e.swap(i, i+1)
	case 2:
		if n < 3 {
			return false
		}
		e.swap(0, n-1)
	case 3, 4:
		if e.full() {
			return false
		}
		e.add(e.copyOf(e.r.IntN(n)))
	case 5:
		if e.full() {
			return false
		}
		i := e.r.IntN(n)
		e.insert(i, e.copyOf(i))
	case 6:
		return e.cancelSomething()
	case 7:
		if e.r.IntN(4) > 0 {
			return e.cancelSomething()
		}
		return e.answerNothing()
	default:
		if e.full() {
			return false
		}
		e.insert(e.r.IntN(n+1), script.SendText(session.InitializedLine))
	}
	return true
}

// cancelSomething cancels a request before its answer, twice, or after.
func (e *editor) cancelSomething() bool {
	if e.full() {
		return false
	}
	i := e.r.IntN(len(e.in.Steps))
	if e.message(i).Get("id") == nil {
		return false
	}
	e.in.Steps[i].NoWait = e.r.IntN(4) > 0
	id := `"@id:` + strconv.Itoa(i) + `"`
	if e.r.IntN(8) == 0 {
		id = `"@id:` + strconv.Itoa(i) + `:s"`
	}
	e.insert(i+1, script.SendOn(check.CancelLine(id)))
	return true
}

// Messages that a server did not ask for.
var unasked = []string{
	`{"jsonrpc":"2.0","id":"teasel-unasked","result":{}}`, `{"jsonrpc":"2.0","id":0,"result":{}}`, `{"jsonrpc":"2.0","id":0,"result":{"roots":[]}}`,
	`{"jsonrpc":"2.0","id":0,"result":{"role":"assistant","content":{"type":"text","text":"a"},"model":"a"}}`, `{"jsonrpc":"2.0","id":0,"result":{"action":"accept","content":{}}}`,
	`{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"Method not found"}}`, `{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"a"}}`, `{"jsonrpc":"2.0","id":"teasel-unasked","result":null}`,
	`{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"teasel-unknown","progress":1}}`, `{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":0,"progress":"a"}}`,
	`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"error","data":"a"}}`,
	`{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}`, `{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"teasel-unknown"}}`,
}

func (e *editor) answerNothing() bool {
	if e.full() {
		return false
	}
	e.insert(e.r.IntN(len(e.in.Steps)+1), script.SendOn([]byte(choose(e, unasked))))
	return true
}

// exhaust makes one value of a message huge: a text, an array, an object, a depth.
func exhaust(e *editor) bool {
	i := e.pick()
	root := e.message(i)
	if root == nil {
		return false
	}
	places := e.under(e.valueWithin(root), func(v *mutate.JSON) bool { return v != root })
	if len(places) == 0 {
		return false
	}
	v := choose(e, places)
	size := 1 << (12 + e.r.IntN(8)) // 4 KiB to 512 KiB
	switch e.r.IntN(5) {
	case 0:
		*v = *mutate.NewRaw(check.WideObject(size / 16))
	case 1:
		*v = *mutate.NewRaw(check.WideArray(size / 4))
	case 2:
		*v = *mutate.NewRaw(check.DeepText("[", "0", "]", size/64))
	default:
		*v = *mutate.NewString(choose(e, check.Growths).Text(size))
	}
	e.touch(i)
	return true
}

// Messages that need something which nobody agreed upon.
var mismatches = []string{
	`{"jsonrpc":"2.0","id":"@id","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}`, `{"jsonrpc":"2.0","id":"@id","method":"roots/list"}`,
	`{"jsonrpc":"2.0","id":"@id","method":"elicitation/create","params":{"message":"a","requestedSchema":{"type":"object","properties":{}}}}`,
	`{"jsonrpc":"2.0","id":"@id","method":"tasks/list"}`, `{"jsonrpc":"2.0","id":"@id","method":"tasks/get","params":{"taskId":"a"}}`, `{"jsonrpc":"2.0","id":"@id","method":"tasks/result","params":{"taskId":"a"}}`,
	`{"jsonrpc":"2.0","id":"@id","method":"tasks/cancel","params":{"taskId":"a"}}`, `{"jsonrpc":"2.0","id":"@id","method":"server/discover"}`, session.DiscoverLine,
	`{"jsonrpc":"2.0","id":"@id","method":"subscriptions/listen"}`, string(session.Stamp([]byte(`{"jsonrpc":"2.0","id":"@id","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}`))),
	string(session.Stamp([]byte(`{"jsonrpc":"2.0","id":"@id","method":"tools/list"}`))),
	`{"jsonrpc":"2.0","id":"@id","method":"resources/subscribe","params":{"uri":"file:///a"}}`, `{"jsonrpc":"2.0","id":"@id","method":"resources/unsubscribe","params":{"uri":"file:///a"}}`,
	`{"jsonrpc":"2.0","id":"@id","method":"prompts/list"}`, `{"jsonrpc":"2.0","id":"@id","method":"prompts/get","params":{"name":"a"}}`, `{"jsonrpc":"2.0","id":"@id","method":"resources/list"}`,
	`{"jsonrpc":"2.0","id":"@id","method":"resources/templates/list"}`, `{"jsonrpc":"2.0","id":"@id","method":"resources/read","params":{"uri":"file:///a"}}`,
	`{"jsonrpc":"2.0","id":"@id","method":"completion/complete","params":{"ref":{"type":"ref/prompt","name":"a"},"argument":{"name":"a","value":"a"}}}`,
	`{"jsonrpc":"2.0","id":"@id","method":"logging/setLevel","params":{"level":"error"}}`,
	`{"jsonrpc":"2.0","id":"@id","method":"ping","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
	`{"jsonrpc":"2.0","method":"notifications/roots/list_changed"}`,
}

// mismatch puts a message into a script that needs a capability which one of the two sides has not declared.
func mismatch(e *editor) bool {
	line := choose(e, mismatches)
	i := e.pick()
	if !e.b.Session.Stateless && e.r.IntN(4) == 0 { // a request in the words of a version without a handshake
		if stamped := session.Stamp(e.line(i)); !bytes.Equal(stamped, e.line(i)) {
			e.setLine(i, stamped)
			return true
		}
	}
	if e.full() || len(e.in.Steps) == 1 && e.r.IntN(2) == 0 {
		if string(e.line(i)) == line {
			return false
		}
		e.setLine(i, []byte(line))
		return true
	}
	e.insert(i, script.SendText(line))
	return true
}

// breakCursor gives a list request a cursor that the server never gave, or makes a step one.
func breakCursor(e *editor) bool {
	i := e.pick()
	root := e.message(i)
	if root == nil || !slices.Contains(check.Lists, e.method(i)) {
		method := choose(e, check.Lists)
		check.EachList(e.b.Catalog, func(m string) {
			if e.r.IntN(2) == 0 {
				method = m
			}
		})
		e.setLine(i, jsonrpc.RequestLine(method, nil))
		if root = e.message(i); root == nil {
			return false
		}
	}
	cursor := mutate.NewRaw(choose(e, check.OddCursors))
	switch e.r.IntN(6) {
	case 0:
		cursor = mutate.NewString(e.word())
	case 1:
		cursor = mutate.NewString(script.LongText(1 << (4 + e.r.IntN(12))))
	}
	params := root.Get("params")
	if params == nil || params.Kind != mutate.Object {
		params = mutate.NewObject()
		root.Set("params", params)
	}
	params.Set("cursor", cursor)
	e.touch(i)
	return true
}

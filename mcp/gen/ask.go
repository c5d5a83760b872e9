package gen

import (
	"strconv"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// ask makes a request of a method: mostly one that the server should take, sometimes with something odd about it.
func (e *editor) ask(method string) []byte {
	if e.r.IntN(24) == 0 {
		return jsonrpc.RequestLine(method, e.oddParams())
	}
	var params *mutate.JSON
	switch method {
	case "tools/call":
		return e.call()
	case "initialize":
		if e.in.Start == script.Shared { // others are in the session, and go by what it agreed upon
			return session.InitializeLine(e.b.Version())
		}
		return e.initialize()
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list":
		if e.r.IntN(2) == 0 {
			params = check.CursorParams(e.cursor())
		}
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		params = jsonrpc.Object("uri", e.uri())
	case "prompts/get":
		params = e.promptParams()
	case "completion/complete":
		params = e.completionParams()
	case "logging/setLevel":
		params = jsonrpc.Object("level", e.level())
	case "tasks/get", "tasks/result", "tasks/cancel":
		params = jsonrpc.Object("taskId", e.word())
	}
	if e.r.IntN(8) == 0 {
		params = e.withMeta(params)
	}
	return jsonrpc.RequestLine(method, params)
}

// Texts of params that no method has.
var oddParams = []string{`null`, `[]`, `"a"`, `1`, `true`, `{}`, `[{}]`, `[null]`, `{"":""}`, `{"_meta":null}`, `{"_meta":[]}`, `{"_meta":{"progressToken":{}}}`}

// oddParams are params that no method has.
func (e *editor) oddParams() *mutate.JSON {
	if e.r.IntN(2) == 0 {
		return mutate.NewRaw(choose(e, oddParams))
	}
	odd := choose(e, oddMembers)
	return mutate.NewObject(jsonrpc.Member(odd.name, mutate.NewRaw(odd.value)))
}

func (e *editor) withMeta(params *mutate.JSON) *mutate.JSON {
	if params == nil {
		params = mutate.NewObject()
	}
	token := mutate.NewString("@id")
	if e.r.IntN(4) == 0 {
		token = mutate.NewRaw(choose(e, []string{`"teasel"`, `0`, `""`, `null`, `1.5`, `{}`, `"ü💥"`, `-1`, `9007199254740993`}))
	}
	params.Set("_meta", mutate.NewObject(jsonrpc.Member("progressToken", token)))
	return params
}

// arguments draws arguments of a tool.
func (e *editor) arguments(c *session.Operation) *mutate.JSON {
	if c.Schema == nil {
		v := c.Full.Clone()
		if e.r.IntN(2) == 0 {
			e.values.Apply(e.r, mutate.JSONBoundary, v, nil)
		}
		return v
	}
	mode := schema.Conform
	switch n := e.r.IntN(100); {
	case n < e.adversarial:
		mode = schema.Adversarial
	case n < e.adversarial+30:
		mode = schema.Mixed
	}
	v, _ := c.Schema.Generate(e.r, mode)
	if mode == schema.Conform && len(c.Texts) > 0 && e.r.IntN(2) == 0 {
		pointer := choose(e, c.Texts)
		if leaf := v.At(pointer); leaf != nil && leaf.Kind == mutate.String {
			leaf.Text = e.wordFor(lastName(pointer))
		}
	}
	return v
}

// call makes a call of a tool; without tools it is of one that there is not.
func (e *editor) call() []byte {
	if len(e.b.Tools) == 0 {
		return session.CallLine(choose(e, check.OwnedNames), mutate.NewObject())
	}
	c := choose(e, e.b.Tools)
	params := mutate.NewObject(jsonrpc.Member("name", mutate.NewString(c.Name)), jsonrpc.Member("arguments", e.arguments(c)))
	if e.r.IntN(16) == 0 {
		params = e.withMeta(params)
	}
	return jsonrpc.RequestLine("tools/call", params)
}

// initialize makes the first message of a handshake.
func (e *editor) initialize() []byte {
	version := choose(e, session.Versions)
	if e.r.IntN(3) == 0 {
		version = choose(e, []string{"", "1.0", "2024-11-04", "1999-12-31", "2999-01-01", "2026-07-28", "2025-11-25 ", "latest", "__proto__"})
	}
	line := session.InitializeLine(version)
	if e.r.IntN(3) > 0 {
		return line
	}
	root, err := mutate.ParseJSON(line)
	if err != nil {
		return line
	}
	params := root.Get("params")
	switch e.r.IntN(4) {
	case 0:
		m := choose(e, params.Members)
		params.Delete(m.Name)
	case 1:
		m := choose(e, params.Members)
		params.Set(m.Name, mutate.NewRaw(choose(e, []string{`null`, `1`, `"a"`, `[]`, `{}`, `true`})))
	case 2:
		params.Set("capabilities", mutate.NewRaw(choose(e, []string{
			`{"roots":{"listChanged":true}}`, `{"sampling":{},"elicitation":{},"roots":{}}`, `{"experimental":{"a":{}}}`, `{"tasks":{}}`, `{"sampling":null}`, `{"__proto__":{}}`,
		})))
	default:
		params.Set("clientInfo", mutate.NewRaw(`{"name":`+check.Quote(e.word())+`,"version":`+check.Quote(e.word())+`}`))
	}
	return root.Append(nil)
}

// uri draws a resource: a known one, a template with sane or hostile values in it, something else altogether.
func (e *editor) uri() string {
	s := e.b.Session
	switch n := e.r.IntN(8); {
	case n < 2 && len(s.Resources) > 0:
		return choose(e, s.Resources).URI
	case n < 5 && len(s.Templates) > 0:
		return session.ExpandTemplate(choose(e, s.Templates).URI, e.templateValue)
	case n < 6 && len(s.Resources)+len(s.Templates) > 0:
		if bases := check.ResourceBases(s); len(bases) > 0 {
			return choose(e, bases) + strings.TrimPrefix(choose(e, check.Disguises), "/")
		}
	case n < 7:
		return choose(e, check.Disguises)
	}
	return choose(e, []string{
		"", "a", "file:///", "file://", "file:///etc/passwd", "http://127.0.0.1:1/", "data:text/plain,a", "urn:a", check.ControlName + "a1://a", "a:", ":", "//", "?", "#", "%", "file:///%00", "file:///a?b#c",
		"test://\x00", "javascript:1", "FILE:///", "ü://ü", "http://[::1]:1/", "http://a@b:c/", "file:///" + strings.Repeat("a/", 2000),
	})
}

// templateValue draws a value for a variable of a template.
func (e *editor) templateValue(name string) string {
	if known := e.b.Observed[name]; len(known) > 0 && e.r.IntN(4) == 0 {
		return choose(e, known)
	}
	switch e.r.IntN(8) {
	case 0:
		return strconv.Itoa(e.r.IntN(100))
	case 1:
		return choose(e, []string{"0", "-1", "1.5", "2147483648", "9007199254740993", "-9223372036854775809", "1e309", "0x10", "007", "NaN", "1e1000000"})
	case 2:
		return e.word()
	case 3:
		return choose(e, []string{"%2f", "%2e%2e%2f", "%00", "%0a", "%ff", "%", "%zz", "a%2fb", "a/b", "a?b", "a#b", "{a}", "{", "a b", "..", "../..", "%252e"})
	case 4:
		return choose(e, check.Growths).Text(2 << e.r.IntN(12))
	case 5:
		return choose(e, check.Injections)
	}
	return strconv.Itoa(1 + e.r.IntN(3))
}

func (e *editor) promptParams() *mutate.JSON {
	prompts := e.b.Session.Prompts
	if len(prompts) == 0 || e.r.IntN(8) == 0 {
		return jsonrpc.Object("name", e.word())
	}
	p := choose(e, prompts)
	params := jsonrpc.Object("name", p.Name)
	arguments := mutate.NewObject()
	for _, a := range p.Arguments {
		if !a.Required && e.r.IntN(2) == 0 || a.Required && e.r.IntN(12) == 0 {
			continue
		}
		value := mutate.NewString(e.wordFor(a.Name))
		switch e.r.IntN(8) {
		case 0:
			value = mutate.NewRaw(choose(e, []string{`null`, `1`, `true`, `[]`, `{}`}))
		case 1:
			value = mutate.NewString(e.odd())
		case 2:
			value = mutate.NewString(e.templateValue(a.Name))
		}
		arguments.Set(a.Name, value)
	}
	if len(arguments.Members) > 0 || e.r.IntN(2) == 0 {
		params.Set("arguments", arguments)
	}
	return params
}

func (e *editor) completionParams() *mutate.JSON {
	var ref *mutate.JSON
	argument, known := "a", 0
	session.EachCompletion(e.b.Session, func(_ string, make func() *mutate.JSON, name string) {
		if known++; e.r.IntN(known) == 0 {
			ref, argument = make(), name
		}
	})
	if ref == nil || e.r.IntN(8) == 0 {
		ref = choose(e, []func(string) *mutate.JSON{session.PromptRef, session.ResourceRef})(e.word())
	}
	if e.r.IntN(8) == 0 {
		argument = e.word()
	}
	value := e.templateValue(argument)
	if e.r.IntN(3) == 0 {
		value = ""
	}
	params := mutate.NewObject(jsonrpc.Member("ref", ref), jsonrpc.Member("argument",
		mutate.NewObject(jsonrpc.Member("name", mutate.NewString(argument)), jsonrpc.Member("value", mutate.NewString(value)))))
	if e.r.IntN(3) == 0 {
		params.Set("context", mutate.NewObject(jsonrpc.Member("arguments", jsonrpc.Object(e.word(), e.word()))))
	}
	return params
}

func (e *editor) level() string {
	if e.r.IntN(4) == 0 {
		return e.word()
	}
	return choose(e, check.Levels)
}

// cursor draws one that the server may never have given.
func (e *editor) cursor() *mutate.JSON {
	if e.r.IntN(3) == 0 {
		return mutate.NewString(e.word())
	}
	return mutate.NewRaw(choose(e, check.OddCursors))
}

// tell makes a notification.
func (e *editor) tell() []byte {
	switch e.r.IntN(8) {
	case 0:
		return []byte(session.InitializedLine)
	case 1:
		return check.CancelLine(choose(e, []string{`"teasel-unknown"`, `-7000000001`, `null`, `{}`, `""`, `"@id:0"`}))
	case 2:
		return jsonrpc.NotificationLine("notifications/progress", mutate.NewRaw(choose(e, []string{
			`{"progressToken":"teasel-unknown","progress":1}`, `{"progressToken":null,"progress":"a"}`, `{"progressToken":-1,"progress":-1,"total":0}`, `{}`, `[]`,
		})))
	case 3:
		return jsonrpc.NotificationLine("notifications/roots/list_changed", nil)
	case 4:
		return jsonrpc.NotificationLine(choose(e, session.Notifications), e.oddParams())
	case 5:
		return jsonrpc.NotificationLine(e.word(), nil)
	}
	return []byte(choose(e, unasked))
}

package main

import "strconv"

// tool is one tool: what tools/list says of it, and what tools/call does.
type tool struct {
	name        string
	title       string
	description string
	input       string // JSON Schema of the arguments
	output      string // JSON Schema of the structured content, "" for none
	hints       string // the annotations, "" for none
	call        func(s *session, a args) answer
	// launch serves a call that is answered later, instead of call.
	launch func(s *session, r *request, a args) (raw, *failure)

	checked *schema
}

// The annotations of tools that do no harm: a missing destructiveHint would mean that they may destroy.
const (
	readsOnly  = `{"readOnlyHint":true,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`
	addsOnly   = `{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":false,"openWorldHint":false}`
	sameAgain  = `{"readOnlyHint":false,"destructiveHint":false,"idempotentHint":true,"openWorldHint":false}`
	mayDestroy = `{"readOnlyHint":false,"destructiveHint":true,"idempotentHint":true,"openWorldHint":false}`
)

// newTools returns all tools in the order in which they are listed.
func newTools() []*tool {
	var all []*tool
	for _, group := range [][]tool{textTools(), stockTools(), shapeTools(), searchTools(), documentTools(), systemTools()} {
		for i := range group {
			t := &group[i]
			input, err := parse([]byte(t.input))
			if err != nil {
				panic("planted: schema of " + t.name + ": " + err.Error())
			}
			t.checked = compile(input)
			all = append(all, t)
		}
	}
	return all
}

// describe returns the tool as tools/list gives it in a session's version.
func (t *tool) describe(s *session) raw {
	var title, output, hints any
	if s.since("2025-06-18") {
		title = t.title
		if t.output != "" {
			output = raw(t.output)
		}
	}
	if t.hints != "" {
		hints = raw(t.hints)
	}
	return object("name", t.name, "title", title, "description", t.description,
		"inputSchema", raw(t.input), "outputSchema", output, "annotations", hints)
}

func (s *session) listTools(r *request) (raw, *failure) {
	list := make([]raw, len(s.tools))
	for i, t := range s.tools {
		list[i] = t.describe(s)
	}
	return s.page(r, "tools", list)
}

// callTool checks a call's arguments against the tool's schema. Arguments that break it are an error of the protocol
// up to 2025-06-18 and one of the tool from 2025-11-25 on.
func (s *session) callTool(r *request) (raw, *failure) {
	name, given := r.params.get("name"), r.params.get("arguments")
	if !name.isString() {
		f := invalid("Invalid params: name must be a string")
		if s.has("error-without-message") {
			f.verbatim = errorWithoutMessage
		}
		return nil, f
	}
	t := s.tool(name.str())
	if t == nil {
		if s.has("inherited-name") && inherited(name.str()) {
			return nil, inheritedFailure(name.str())
		}
		return nil, invalid("Unknown tool: " + brief(name.str()))
	}
	if given == nil {
		given = value("{}")
	}
	if !given.isObject() {
		return nil, invalid("Invalid params: arguments must be an object")
	}
	unchecked := t.name == "add_tag" && s.has("input-not-validated")
	if wrong := t.checked.check(given, "arguments"); wrong != "" && !unchecked {
		if !s.since("2025-11-25") {
			return nil, invalid("Invalid arguments for tool " + t.name + ": " + wrong)
		}
		return refuse("Invalid arguments for tool " + t.name + ": " + wrong).encode(s), nil
	}
	if t.launch != nil {
		return t.launch(s, r, args{given})
	}
	said := t.call(s, args{given})
	if said.silent {
		return nil, nil
	}
	return said.encode(s), nil
}

func (s *session) tool(name string) *tool {
	for _, t := range s.tools {
		if t.name == name {
			return t
		}
	}
	return nil
}

// args are a call's arguments, which fit the tool's schema. Where one is missing, its zero value is returned.
type args struct{ v value }

func (a args) has(name string) bool      { return a.v.get(name) != nil }
func (a args) str(name string) string    { return a.v.get(name).str() }
func (a args) bool(name string) bool     { return a.v.get(name).is('t') }
func (a args) float(name string) float64 { return a.v.get(name).float() }
func (a args) strs(name string) []string { return strs(a.v.get(name)) }

func (a args) int(name string) int {
	v := a.v.get(name)
	if !v.isInteger() {
		return 0
	}
	return int(v.decimal().integer())
}

// answer is what a tool has to say.
type answer struct {
	content    []raw
	structured raw
	isError    bool
	// silent leaves the call without any reply; only planted bugs use it.
	silent bool
}

func textItem(text string) raw { return object("type", "text", "text", text) }

// say answers with a text.
func say(text string) answer { return answer{content: []raw{textItem(text)}} }

// refuse answers with an error of the tool.
func refuse(text string) answer { return answer{content: []raw{textItem(text)}, isError: true} }

// structure answers with an object, and with the same object as a text.
func structure(v raw) answer {
	return answer{content: []raw{textItem(string(v))}, structured: v}
}

// encode writes the answer for the session's version: structured content came with 2025-06-18.
func (a answer) encode(s *session) raw {
	var structured any
	if a.structured != nil && s.since("2025-06-18") {
		structured = a.structured
	}
	return object("content", a.content, "structuredContent", structured, "isError", a.isError)
}

func plural(n int, one string) string {
	if n == 1 {
		return "1 " + one
	}
	return strconv.Itoa(n) + " " + one + "s"
}

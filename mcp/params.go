package mcp

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mutate"
)

// paramFault is what is certainly wrong with the parameters of a known method. The zero value: nothing.
type paramFault struct {
	text  string
	grave bool // it may not be accepted: what is required is missing or has the wrong type
}

// logLevels are the levels of log messages, the least severe first.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// faultOf reads the parameters of a request the way the protocol's schema does. An explicit null where a member may be
// missing is wrong by the schema, but so common that accepting it is no fault.
func faultOf(m *Message) paramFault {
	p := m.Params
	if p != nil && p.Kind != mutate.Object {
		return paramFault{text: "params is " + article(p.Kind)}
	}
	if meta := p.Get("_meta"); meta != nil {
		if meta.Kind != mutate.Object {
			return paramFault{text: "_meta is " + article(meta.Kind)}
		}
		if token := meta.Get("progressToken"); token != nil && !isID(token) {
			return paramFault{text: "the progress token is " + article(token.Kind)}
		}
	}
	return memberFault(m)
}

// memberFault is faultOf for the members of the parameters that belong to the method.
func memberFault(m *Message) paramFault {
	p := m.Params
	switch m.Method {
	case "tools/call":
		return firstFault(stringFault(p, "name"), optionalObject(p, "arguments"))
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return firstFault(stringFault(p, "uri"), uriFault(p.Get("uri")))
	case "prompts/get":
		return firstFault(stringFault(p, "name"), optionalObject(p, "arguments"), promptValues(p.Get("arguments")))
	case "completion/complete":
		return completionFault(p)
	case "logging/setLevel":
		if f := stringFault(p, "level"); f.text != "" {
			return f
		}
		if !slices.Contains(logLevels, p.Get("level").Text) {
			return paramFault{text: "there is no level " + cut(p.Get("level").Text, 40), grave: true}
		}
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list":
		if c := p.Get("cursor"); c != nil && c.Kind != mutate.String {
			return paramFault{text: "the cursor is " + article(c.Kind), grave: c.Kind != mutate.Null}
		}
	case "tasks/get", "tasks/result", "tasks/cancel":
		return stringFault(p, "taskId")
	case "initialize":
		f := firstFault(stringFault(p, "protocolVersion"), objectFault(p, "capabilities"), objectFault(p, "clientInfo"),
			stringFault(p.Get("clientInfo"), "name"), stringFault(p.Get("clientInfo"), "version"))
		f.grave = false
		return f
	}
	return paramFault{}
}

// lacksMembers reports whether members that the method needs are missing or of the wrong type: a library that reads a request into a
// type does not get as far as the method.
func lacksMembers(m *Message) bool {
	f := memberFault(m)
	return f.grave || m.Method == "initialize" && f.text != "" // where it is no fault to accept it
}

func firstFault(faults ...paramFault) paramFault {
	for _, f := range faults {
		if f.text != "" {
			return f
		}
	}
	return paramFault{}
}

func stringFault(p *mutate.JSON, name string) paramFault {
	switch v := p.Get(name); {
	case v == nil:
		return paramFault{text: name + " is missing", grave: true}
	case v.Kind != mutate.String:
		return paramFault{text: name + " is " + article(v.Kind), grave: true}
	}
	return paramFault{}
}

func objectFault(p *mutate.JSON, name string) paramFault {
	switch v := p.Get(name); {
	case v == nil:
		return paramFault{text: name + " is missing", grave: true}
	case v.Kind != mutate.Object:
		return paramFault{text: name + " is " + article(v.Kind), grave: true}
	}
	return paramFault{}
}

func optionalObject(p *mutate.JSON, name string) paramFault {
	if v := p.Get(name); v != nil && v.Kind != mutate.Object {
		return paramFault{text: name + " is " + article(v.Kind), grave: v.Kind != mutate.Null}
	}
	return paramFault{}
}

// promptValues judges the arguments of a prompt, which are strings. Servers that take numbers for them do no harm.
func promptValues(arguments *mutate.JSON) paramFault {
	if arguments == nil {
		return paramFault{}
	}
	for i := range arguments.Members {
		if v := arguments.Members[i].Value; v != nil && v.Kind != mutate.String {
			return paramFault{text: "the argument " + cut(arguments.Members[i].Name, 40) + " is " + article(v.Kind)}
		}
	}
	return paramFault{}
}

// uriFault judges a text that has no scheme and so cannot be a URI. Reading it may still fail or succeed as a name.
func uriFault(uri *mutate.JSON) paramFault {
	text, ok := uri.Str()
	if scheme := schemeOf(text); ok && scheme == "" {
		return paramFault{text: `"` + cut(text, 40) + `" is no URI`}
	}
	return paramFault{}
}

// schemeOf returns the scheme of a URI in lower case, "" if it has none.
func schemeOf(uri string) string {
	scheme, _, ok := strings.Cut(uri, ":")
	if !ok || scheme == "" || strings.ContainsFunc(scheme, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')
	}) {
		return ""
	}
	return strings.ToLower(scheme)
}

func completionFault(p *mutate.JSON) paramFault {
	ref := p.Get("ref")
	f := firstFault(objectFault(p, "ref"), stringFault(ref, "type"))
	if f.text != "" {
		return f
	}
	switch kind := ref.Get("type").Text; kind {
	case "ref/prompt":
		f = stringFault(ref, "name")
	case "ref/resource":
		f = stringFault(ref, "uri")
	default:
		f = paramFault{text: "there is no type of reference " + cut(kind, 40), grave: true}
	}
	argument := p.Get("argument")
	return firstFault(f, objectFault(p, "argument"), stringFault(argument, "name"), stringFault(argument, "value"))
}

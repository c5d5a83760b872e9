package session

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// ParamFault is what is certainly wrong with the parameters of a known method. The zero value: nothing.
type ParamFault struct {
	Text  string
	Grave bool // it may not be accepted: what is required is missing or has the wrong type
}

// LogLevels are the levels of log messages, the least severe first.
var LogLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// FaultOf reads the parameters of a request the way the protocol's schema does. An explicit null where a member may be
// missing is wrong by the schema, but so common that accepting it is no fault.
func FaultOf(m *jsonrpc.Message) ParamFault {
	p := m.Params
	if p != nil && p.Kind != mutate.Object {
		return ParamFault{Text: "params is " + jsonrpc.Describe(p.Kind)}
	}
	if meta := p.Get("_meta"); meta != nil {
		if meta.Kind != mutate.Object {
			return ParamFault{Text: "_meta is " + jsonrpc.Describe(meta.Kind)}
		}
		if token := meta.Get("progressToken"); token != nil && !jsonrpc.IsID(token) {
			return ParamFault{Text: "the progress token is " + jsonrpc.Describe(token.Kind)}
		}
	}
	return MemberFault(m)
}

// MemberFault is FaultOf for the members of the parameters that belong to the method.
func MemberFault(m *jsonrpc.Message) ParamFault {
	p := m.Params
	switch m.Method {
	case "tools/call":
		return FirstFault(StringFault(p, "name"), optionalObject(p, "arguments"))
	case "resources/read", "resources/subscribe", "resources/unsubscribe":
		return FirstFault(StringFault(p, "uri"), uriFault(p.Get("uri")))
	case "prompts/get":
		return FirstFault(StringFault(p, "name"), optionalObject(p, "arguments"), promptValues(p.Get("arguments")))
	case "completion/complete":
		return completionFault(p)
	case "logging/setLevel":
		if f := StringFault(p, "level"); f.Text != "" {
			return f
		}
		if !slices.Contains(LogLevels, p.Get("level").Text) {
			return ParamFault{Text: "there is no level " + jsonrpc.Cut(p.Get("level").Text, 40), Grave: true}
		}
	case "tools/list", "resources/list", "resources/templates/list", "prompts/list", "tasks/list":
		if c := p.Get("cursor"); c != nil && c.Kind != mutate.String {
			return ParamFault{Text: "the cursor is " + jsonrpc.Describe(c.Kind), Grave: c.Kind != mutate.Null}
		}
	case "tasks/get", "tasks/result", "tasks/cancel":
		return StringFault(p, "taskId")
	case "initialize":
		f := FirstFault(StringFault(p, "protocolVersion"), ObjectFault(p, "capabilities"), ObjectFault(p, "clientInfo"),
			StringFault(p.Get("clientInfo"), "name"), StringFault(p.Get("clientInfo"), "version"))
		f.Grave = false
		return f
	}
	return ParamFault{}
}

// LacksMembers reports whether members that the method needs are missing or of the wrong type: a library that reads a request into a
// type does not get as far as the method.
func LacksMembers(m *jsonrpc.Message) bool {
	f := MemberFault(m)
	return f.Grave || m.Method == "initialize" && f.Text != "" // where it is no fault to accept it
}

// FirstFault returns the first of the faults that is one.
func FirstFault(faults ...ParamFault) ParamFault {
	for _, f := range faults {
		if f.Text != "" {
			return f
		}
	}
	return ParamFault{}
}

// StringFault is the fault of a member that has to be a string.
func StringFault(p *mutate.JSON, name string) ParamFault {
	switch v := p.Get(name); {
	case v == nil:
		return ParamFault{Text: name + " is missing", Grave: true}
	case v.Kind != mutate.String:
		return ParamFault{Text: name + " is " + jsonrpc.Describe(v.Kind), Grave: true}
	}
	return ParamFault{}
}

// ObjectFault is the fault of a member that has to be an object.
func ObjectFault(p *mutate.JSON, name string) ParamFault {
	switch v := p.Get(name); {
	case v == nil:
		return ParamFault{Text: name + " is missing", Grave: true}
	case v.Kind != mutate.Object:
		return ParamFault{Text: name + " is " + jsonrpc.Describe(v.Kind), Grave: true}
	}
	return ParamFault{}
}

func optionalObject(p *mutate.JSON, name string) ParamFault {
	if v := p.Get(name); v != nil && v.Kind != mutate.Object {
		return ParamFault{Text: name + " is " + jsonrpc.Describe(v.Kind), Grave: v.Kind != mutate.Null}
	}
	return ParamFault{}
}

// promptValues judges the arguments of a prompt, which are strings. Servers that take numbers for them do no harm.
func promptValues(arguments *mutate.JSON) ParamFault {
	if arguments == nil {
		return ParamFault{}
	}
	for i := range arguments.Members {
		if v := arguments.Members[i].Value; v != nil && v.Kind != mutate.String {
			return ParamFault{Text: "the argument " + jsonrpc.Cut(arguments.Members[i].Name, 40) + " is " + jsonrpc.Describe(v.Kind)}
		}
	}
	return ParamFault{}
}

// uriFault judges a text that has no scheme and so cannot be a URI. Reading it may still fail or succeed as a name.
func uriFault(uri *mutate.JSON) ParamFault {
	text, ok := uri.Str()
	if scheme := SchemeOf(text); ok && scheme == "" {
		return ParamFault{Text: `"` + jsonrpc.Cut(text, 40) + `" is no URI`}
	}
	return ParamFault{}
}

// SchemeOf returns the scheme of a URI in lower case, "" if it has none.
func SchemeOf(uri string) string {
	scheme, _, ok := strings.Cut(uri, ":")
	if !ok || scheme == "" || strings.ContainsFunc(scheme, func(r rune) bool {
		return !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '+' || r == '-' || r == '.')
	}) {
		return ""
	}
	return strings.ToLower(scheme)
}

func completionFault(p *mutate.JSON) ParamFault {
	ref := p.Get("ref")
	f := FirstFault(ObjectFault(p, "ref"), StringFault(ref, "type"))
	if f.Text != "" {
		return f
	}
	switch kind := ref.Get("type").Text; kind {
	case "ref/prompt":
		f = StringFault(ref, "name")
	case "ref/resource":
		f = StringFault(ref, "uri")
	default:
		f = ParamFault{Text: "there is no type of reference " + jsonrpc.Cut(kind, 40), Grave: true}
	}
	argument := p.Get("argument")
	return FirstFault(f, ObjectFault(p, "argument"), StringFault(argument, "name"), StringFault(argument, "value"))
}

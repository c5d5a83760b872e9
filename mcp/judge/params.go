package judge

import (
	"slices"
	"strings"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

// paramFault is what is certainly wrong with the parameters of a known method. The zero value: nothing.
type paramFault struct {
	text  string
	grave bool // it may not be accepted: what is required is missing or has the wrong type
}

// logLevels are the levels of log messages, the least severe first.
var logLevels = []string{"debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"}

// member is one of the parameters that a method needs, which no server may accept in another form. Other parameters it may not know.
type member struct {
	name     string
	optional bool // an explicit null is wrong by the schema, but so common that accepting it is no fault
}

// neededMembers are the parameters that methods need. What initialize needs, a server may do without.
var neededMembers = map[string][]member{
	"tools/call":               {{"name", false}, {"arguments", true}},
	"resources/read":           {{"uri", false}},
	"resources/subscribe":      {{"uri", false}},
	"resources/unsubscribe":    {{"uri", false}},
	"prompts/get":              {{"name", false}, {"arguments", true}},
	"completion/complete":      {{"ref", false}, {"argument", false}},
	"logging/setLevel":         {{"level", false}},
	"tools/list":               {{"cursor", true}},
	"resources/list":           {{"cursor", true}},
	"resources/templates/list": {{"cursor", true}},
	"prompts/list":             {{"cursor", true}},
	"tasks/list":               {{"cursor", true}},
	"tasks/get":                {{"taskId", false}},
	"tasks/result":             {{"taskId", false}},
	"tasks/cancel":             {{"taskId", false}},
}

var noParams = mutate.JSON{Kind: mutate.Object}

// faultOf holds the parameters of a request against the protocol's schema.
func (j *judge) faultOf(m *jsonrpc.Message) paramFault {
	p := m.Params
	switch {
	case p == nil:
		p = &noParams
	case p.Kind != mutate.Object:
		return paramFault{text: "params is " + jsonrpc.Describe(p.Kind)}
	}
	method := m.Method
	if _, ok := definitions[method]; !ok {
		method = "ping" // all have _meta
	}
	version := j.phase.version
	if version == "" || method == "initialize" || strings.HasPrefix(method, "tasks/") {
		version = shapeVersions[newestShapes()].name
	}
	var fault paramFault
	breaches, certain := paramBreaches(version, method, p)
	if len(breaches) == 0 && p.Get("_meta") != nil { // some versions say what it is only once for all
		breaches, _ = paramBreaches(version, "ping", p)
	}
	for _, b := range breaches {
		f := paramFault{text: breachWords(&b, p), grave: isGrave(method, &b, p)}
		if fault.text == "" || f.grave && !fault.grave {
			fault = f
		}
	}
	if i := slices.IndexFunc(neededMembers[method], func(m member) bool { return !m.optional && p.Get(m.name) == nil }); i >= 0 && fault.text == "" && !certain {
		return paramFault{text: neededMembers[method][i].name + " is missing", grave: true} // whatever else readers disagree over
	}
	if fault.text == "" && strings.HasPrefix(method, "resources/") {
		return uriFault(p.Get("uri"))
	}
	return fault
}

// isGrave reports whether a breach is of a member that the method needs. Servers that take numbers for the arguments of a prompt do no
// harm.
func isGrave(method string, b *schema.Breach, params *mutate.JSON) bool {
	name, _, inside := strings.Cut(strings.TrimPrefix(b.At, "/"), "/")
	if method == "prompts/get" && inside { // whatever the name of the argument, which may be ""
		return false
	}
	return slices.ContainsFunc(neededMembers[method], func(m member) bool {
		if b.At == "" {
			return b.Keyword == "required" && slices.Contains(b.Names, m.name)
		}
		v := params.Get(m.name)
		return m.name == name && !(m.optional && v != nil && v.Kind == mutate.Null)
	})
}

// lacksMembers reports whether members that the method needs are missing or of the wrong type: a library that reads a request into a
// type does not get as far as the method.
func (j *judge) lacksMembers(m *jsonrpc.Message) bool {
	f := j.faultOf(m)
	return f.grave || m.Method == "initialize" && f.text != "" && !strings.HasPrefix(f.text, "_meta") // where it is no fault to accept it
}

// uriFault judges a text that has no scheme and so cannot be a URI. Reading it may still fail or succeed as a name.
func uriFault(uri *mutate.JSON) paramFault {
	text, ok := uri.Str()
	if scheme := schemeOf(text); ok && scheme == "" {
		return paramFault{text: `"` + jsonrpc.Cut(text, 40) + `" is no URI`}
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

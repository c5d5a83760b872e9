package judge

import (
	"embed"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
	"github.com/teaselfuzz/teasel/mutate/schema"
)

//go:embed shapes/*.json
var shapeFiles embed.FS

// shapes are the schemas of one version of the protocol, by the method that they belong to.
type shapes struct {
	results, params map[string]*schema.Checker
}

// shapeVersions are the versions whose schema is known, the oldest first, each of which is read when it is needed.
var shapeVersions = []struct {
	name string
	read func() *shapes
}{
	{"2024-11-05", sync.OnceValue(func() *shapes { return readShapes("2024-11-05") })},
	{"2025-03-26", sync.OnceValue(func() *shapes { return readShapes("2025-03-26") })},
	{"2025-06-18", sync.OnceValue(func() *shapes { return readShapes("2025-06-18") })},
	{"2025-11-25", sync.OnceValue(func() *shapes { return readShapes("2025-11-25") })},
}

// definitions names the definitions of a method's result and request in the schema.
var definitions = map[string][2]string{
	"initialize":               {"InitializeResult", "InitializeRequest"},
	"ping":                     {"Result", "PingRequest"},
	"tools/list":               {"ListToolsResult", "ListToolsRequest"},
	"tools/call":               {"CallToolResult", "CallToolRequest"},
	"resources/list":           {"ListResourcesResult", "ListResourcesRequest"},
	"resources/templates/list": {"ListResourceTemplatesResult", "ListResourceTemplatesRequest"},
	"resources/read":           {"ReadResourceResult", "ReadResourceRequest"},
	"resources/subscribe":      {"Result", "SubscribeRequest"},
	"resources/unsubscribe":    {"Result", "UnsubscribeRequest"},
	"prompts/list":             {"ListPromptsResult", "ListPromptsRequest"},
	"prompts/get":              {"GetPromptResult", "GetPromptRequest"},
	"completion/complete":      {"CompleteResult", "CompleteRequest"},
	"logging/setLevel":         {"Result", "SetLevelRequest"},
	"sampling/createMessage":   {"CreateMessageResult", "CreateMessageRequest"},
	"elicitation/create":       {"ElicitResult", "ElicitRequest"},
	"roots/list":               {"ListRootsResult", "ListRootsRequest"},
	"tasks/get":                {"GetTaskResult", "GetTaskRequest"},
	"tasks/list":               {"ListTasksResult", "ListTasksRequest"},
	"tasks/cancel":             {"CancelTaskResult", "CancelTaskRequest"},
	"tasks/result":             {"Result", "GetTaskPayloadRequest"},
}

// readShapes reads the schema of a version. The files are part of the program, so that a mistake in them is one of ours.
func readShapes(version string) *shapes {
	text, err := shapeFiles.ReadFile("shapes/" + version + ".json")
	if err != nil {
		panic(err)
	}
	doc, err := mutate.ParseJSON(text)
	if err != nil {
		panic(fmt.Errorf("reading the schema of version %s: %w", version, err))
	}
	at := "/definitions/"
	if doc.Get("$defs") != nil {
		at = "/$defs/"
	}
	whole := schema.NewChecker(doc)
	s := &shapes{results: map[string]*schema.Checker{}, params: map[string]*schema.Checker{}}
	for method, names := range definitions {
		s.results[method] = whole.At(at + names[0])
		s.params[method] = whole.At(at + names[1] + "/properties/params")
	}
	return s
}

// newestShapes is the index of the newest version.
func newestShapes() int { return len(shapeVersions) - 1 }

// shapesOf returns the index of the schemas that hold for a version.
func shapesOf(version string) int {
	i := newestShapes()
	for i > 0 && shapeVersions[i].name > version {
		i--
	}
	return i
}

// resultBreaches returns where the result of a method breaks the schema of a version.
func resultBreaches(version, method string, result *mutate.JSON) []schema.Breach {
	breaches, _ := breachesOf(version, result, func(s *shapes) *schema.Checker { return s.results[method] })
	return breaches
}

// paramBreaches is resultBreaches for the parameters of a request. certain is false if readers disagree over them.
func paramBreaches(version, method string, params *mutate.JSON) (breaches []schema.Breach, certain bool) {
	return breachesOf(version, params, func(s *shapes) *schema.Checker { return s.params[method] })
}

// breachesOf tolerates in an earlier version what the newest one allows.
func breachesOf(version string, v *mutate.JSON, of func(*shapes) *schema.Checker) (breaches []schema.Breach, certain bool) {
	i := shapesOf(version)
	breaches, certain = of(shapeVersions[i].read()).Report(v)
	if len(breaches) == 0 || i == newestShapes() {
		return breaches, certain
	}
	later, _ := of(shapeVersions[newestShapes()].read()).Report(v)
	return slices.DeleteFunc(breaches, func(b schema.Breach) bool {
		return !slices.ContainsFunc(later, func(l schema.Breach) bool {
			return l.At == b.At || strings.HasPrefix(l.At, b.At+"/") || strings.HasPrefix(b.At, l.At+"/")
		})
	}), certain
}

// breachWords says in words what breaks a schema in v, such as "content[0].text is missing".
func breachWords(b *schema.Breach, v *mutate.JSON) string {
	path := memberPath(b.At, v)
	at := v.At(b.At)
	switch {
	case b.Keyword == "required":
		names := strings.Join(b.Names, ", ")
		if path != "" {
			names = path + "." + names
		}
		if len(b.Names) > 1 {
			return names + " are missing"
		}
		return names + " is missing"
	case path == "":
		path = "it"
	}
	kind, _ := at.Get("type").Str()
	switch {
	case b.Want != nil && at != nil && b.Keyword == "type":
		return path + " is " + jsonrpc.Describe(at.Kind)
	case b.Keyword == "anyOf" && kind != "":
		return fmt.Sprintf("%s is of a type that does not exist, or lacks what belongs to it: %s", path, jsonrpc.Quote(kind, 40))
	case b.Keyword == "anyOf":
		return path + " is none of what it may be"
	case (b.Keyword == "enum" || b.Keyword == "const") && at != nil:
		return fmt.Sprintf("%s is %s, which it may not be", path, jsonrpc.Cut(at.String(), 40))
	}
	_, what, _ := strings.Cut(b.Text, ": ")
	return path + ": " + what
}

// memberPath writes a JSON pointer into v as programs do: content[0].text.
func memberPath(pointer string, v *mutate.JSON) string {
	var b strings.Builder
	for i, step := range strings.Split(pointer, "/") {
		if i == 0 {
			continue
		}
		switch {
		case v != nil && v.Kind == mutate.Array:
			fmt.Fprintf(&b, "[%s]", step)
		case b.Len() > 0:
			b.WriteString("." + step)
		default:
			b.WriteString(step)
		}
		v = v.At("/" + step)
	}
	return jsonrpc.Cut(b.String(), 80)
}

// resultFault says what is wrong with the form of a method's result, "" if nothing is.
func resultFault(version, method string, result *mutate.JSON) string {
	for _, name := range [...]string{"content", "contents", "messages"} { // the words of the schema would say less
		if list := result.Get(name); list != nil {
			for i, item := range list.Items {
				if why := contentFault(item, name == "contents"); why != "" {
					return fmt.Sprintf("%s[%d]: %s", name, i, why)
				}
			}
		}
	}
	for _, b := range resultBreaches(version, method, result) {
		if b.At == "/structuredContent" && version >= "2026" { // which may be any value
			continue
		}
		return breachWords(&b, result)
	}
	return totalFault(result.Get("completion"))
}

// contentFault judges what the schema does not say of a content: a resource has a text or a blob and not both, and what is in base64 can
// be read.
func contentFault(item *mutate.JSON, isResource bool) string {
	if content := item.Get("content"); content != nil && content.Kind == mutate.Object { // of a message
		item = content
	}
	if data, ok := item.Get("data").Str(); ok && !isResource {
		return base64Fault("data", data)
	}
	if !isResource {
		if item = item.Get("resource"); item == nil {
			return ""
		}
	}
	text, blob := item.Get("text"), item.Get("blob")
	switch {
	case text == nil && blob == nil && item.Kind == mutate.Object && item.Get("uri") != nil:
		return "it has neither text nor blob"
	case text != nil && blob != nil:
		return "it has both text and blob"
	case blob != nil && blob.Kind == mutate.String:
		return base64Fault("blob", blob.Text)
	}
	return ""
}

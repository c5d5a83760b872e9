package session

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mutate"
)

// ReadInitialize takes over what the result of initialize says.
func (s *Session) ReadInitialize() {
	r := s.Initialize
	if s.Stateless {
		s.Version = StatelessVersion
		s.Capabilities, s.ServerInfo = r.Get("capabilities"), r.Get("_meta").Get("io.modelcontextprotocol/serverInfo")
		s.Instructions, _ = r.Get("instructions").Str()
		return
	}
	s.Capabilities, s.ServerInfo = r.Get("capabilities"), r.Get("serverInfo")
	s.Instructions, _ = r.Get("instructions").Str()
	var ok bool
	if s.Version, ok = r.Get("protocolVersion").Str(); !ok {
		s.AddTrouble("initialize: the result has no protocolVersion")
	}
	if s.Capabilities == nil || s.Capabilities.Kind != mutate.Object {
		s.AddTrouble("initialize: the result has no capabilities")
	}
}

// AddTrouble notes what went wrong while the lists were read.
func (s *Session) AddTrouble(format string, args ...any) {
	s.Trouble = append(s.Trouble, fmt.Sprintf(format, args...))
}

// AddTool adds an item of tools/list, and returns what is wrong with it.
func (s *Session) AddTool(item *mutate.JSON) string {
	name, ok := item.Get("name").Str()
	if !ok {
		return "a tool without a name"
	}
	t := Tool{Name: name, Root: item, InputSchema: item.Get("inputSchema"), OutputSchema: item.Get("outputSchema"),
		Annotations: item.Get("annotations")}
	t.Description, _ = item.Get("description").Str()
	s.Tools = append(s.Tools, t)
	if mirrors := mirrorsOf(t.InputSchema, nil); mirrors != nil {
		if s.Mirrors == nil {
			s.Mirrors = map[string][]Mirror{}
		}
		s.Mirrors[name] = mirrors
	}
	if t.InputSchema == nil {
		return fmt.Sprintf("tool %q has no inputSchema", name)
	}
	return ""
}

// defaultHints are the hints of annotations with the values that the specification gives those that are left out.
var defaultHints = []struct{ name, value string }{
	{"readOnlyHint", "false"}, {"destructiveHint", "true"}, {"idempotentHint", "false"}, {"openWorldHint", "true"},
}

// WeighAnnotations marks the tools as unmarked if the annotations of all of them have every hint there is with its default, as an SDK
// writes them of itself. They say of no tool anything that was not said of the others, nor anything that leaving them out would not
// say, so that the tools are judged as if they had none. It is called when all tools are added.
func (s *Session) WeighAnnotations() {
	for i := range s.Tools {
		for _, h := range defaultHints {
			if s.Tools[i].hint(h.name) != h.value {
				return
			}
		}
	}
	for i := range s.Tools {
		s.Tools[i].Unmarked = true
	}
}

// AddResource adds an item of resources/list, and returns what is wrong with it.
func (s *Session) AddResource(item *mutate.JSON) string {
	uri, ok := item.Get("uri").Str()
	if !ok {
		return "a resource without a uri"
	}
	r := Resource{URI: uri, Root: item}
	r.Name, _ = item.Get("name").Str()
	s.Resources = append(s.Resources, r)
	return ""
}

// AddTemplate adds an item of resources/templates/list, and returns what is wrong with it.
func (s *Session) AddTemplate(item *mutate.JSON) string {
	uri, ok := item.Get("uriTemplate").Str()
	if !ok {
		return "a resource template without a uriTemplate"
	}
	r := Resource{URI: uri, Root: item}
	r.Name, _ = item.Get("name").Str()
	s.Templates = append(s.Templates, r)
	return ""
}

// AddPrompt adds an item of prompts/list, and returns what is wrong with it.
func (s *Session) AddPrompt(item *mutate.JSON) string {
	name, ok := item.Get("name").Str()
	if !ok {
		return "a prompt without a name"
	}
	p := Prompt{Name: name, Root: item}
	p.Description, _ = item.Get("description").Str()
	if list := item.Get("arguments"); list != nil && list.Kind == mutate.Array {
		for _, a := range list.Items {
			var arg PromptArgument
			if arg.Name, ok = a.Get("name").Str(); !ok {
				continue
			}
			required := a.Get("required")
			arg.Description, _ = a.Get("description").Str()
			arg.Required = required != nil && required.Kind == mutate.Bool && required.Text == "true"
			p.Arguments = append(p.Arguments, arg)
		}
	}
	s.Prompts = append(s.Prompts, p)
	return ""
}

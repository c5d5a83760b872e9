package mcp

import (
	"fmt"

	"github.com/teaselfuzz/teasel/mutate"
)

func (s *Session) readInitialize() {
	r := s.Initialize
	s.Capabilities, s.ServerInfo = r.Get("capabilities"), r.Get("serverInfo")
	s.Instructions, _ = r.Get("instructions").Str()
	var ok bool
	if s.Version, ok = r.Get("protocolVersion").Str(); !ok {
		s.trouble("initialize: the result has no protocolVersion")
	}
	if s.Capabilities == nil || s.Capabilities.Kind != mutate.Object {
		s.trouble("initialize: the result has no capabilities")
	}
}

func (s *Session) trouble(format string, args ...any) {
	s.Trouble = append(s.Trouble, fmt.Sprintf(format, args...))
}

func (s *Session) takeTool(item *mutate.JSON) string {
	name, ok := item.Get("name").Str()
	if !ok {
		return "a tool without a name"
	}
	t := Tool{Name: name, Root: item, InputSchema: item.Get("inputSchema"), OutputSchema: item.Get("outputSchema"),
		Annotations: item.Get("annotations")}
	t.Description, _ = item.Get("description").Str()
	s.Tools = append(s.Tools, t)
	if t.InputSchema == nil {
		return fmt.Sprintf("tool %q has no inputSchema", name)
	}
	return ""
}

func (s *Session) takeResource(item *mutate.JSON) string {
	uri, ok := item.Get("uri").Str()
	if !ok {
		return "a resource without a uri"
	}
	r := Resource{URI: uri, Root: item}
	r.Name, _ = item.Get("name").Str()
	s.Resources = append(s.Resources, r)
	return ""
}

func (s *Session) takeTemplate(item *mutate.JSON) string {
	uri, ok := item.Get("uriTemplate").Str()
	if !ok {
		return "a resource template without a uriTemplate"
	}
	r := Resource{URI: uri, Root: item}
	r.Name, _ = item.Get("name").Str()
	s.Templates = append(s.Templates, r)
	return ""
}

func (s *Session) takePrompt(item *mutate.JSON) string {
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

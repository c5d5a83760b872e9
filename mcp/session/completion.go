package session

import (
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mutate"
)

// PromptRef returns the reference to a prompt that completion takes.
func PromptRef(name string) *mutate.JSON {
	return mutate.NewObject(jsonrpc.Member("type", mutate.NewString("ref/prompt")), jsonrpc.Member("name", mutate.NewString(name)))
}

// ResourceRef returns the reference to a resource template that completion takes.
func ResourceRef(uri string) *mutate.JSON {
	return mutate.NewObject(jsonrpc.Member("type", mutate.NewString("ref/resource")), jsonrpc.Member("uri", mutate.NewString(uri)))
}

// CompletionLine returns a request to complete the value of an argument of what ref refers to.
func CompletionLine(ref *mutate.JSON, argument, value string) []byte {
	return jsonrpc.RequestLine("completion/complete", mutate.NewObject(jsonrpc.Member("ref", ref), jsonrpc.Member("argument",
		mutate.NewObject(jsonrpc.Member("name", mutate.NewString(argument)), jsonrpc.Member("value", mutate.NewString(value))))))
}

// EachCompletion calls visit for each argument of a prompt and each variable of a template, whose values the server may complete.
func EachCompletion(s *Session, visit func(name string, ref func() *mutate.JSON, argument string)) {
	for i := range s.Prompts {
		p := &s.Prompts[i]
		for _, a := range p.Arguments {
			visit(p.Name, func() *mutate.JSON { return PromptRef(p.Name) }, a.Name)
		}
	}
	for i := range s.Templates {
		uri := s.Templates[i].URI
		for _, v := range TemplateVariables(uri) {
			visit(uri, func() *mutate.JSON { return ResourceRef(uri) }, v)
		}
	}
}

package main

import (
	"slices"
	"strings"
)

// completionLimit is the most values that one completion may have.
const completionLimit = 100

func (s *session) complete(r *request) (raw, *failure) {
	ref, argument := r.params.get("ref"), r.params.get("argument")
	name, typed := argument.get("name"), argument.get("value")
	if !name.isString() || !typed.isString() {
		return nil, invalid("Invalid params: argument must have a name and a value, both strings")
	}
	if wrong := checkContext(r.params.get("context")); wrong != "" {
		return nil, invalid("Invalid params: " + wrong)
	}
	all, f := s.offered(ref, name.str())
	if f != nil {
		return nil, f
	}
	values := []string{}
	for _, v := range all {
		if strings.HasPrefix(v, typed.str()) {
			values = append(values, v)
		}
	}
	total := len(values)
	if total > completionLimit && !s.has("completion-too-long") {
		values = values[:completionLimit]
	}
	return object("completion", object("values", values, "total", total, "hasMore", len(values) < total)), nil
}

// checkContext says what is wrong with the arguments that the client has settled already.
func checkContext(context value) string {
	if context == nil {
		return ""
	}
	if !context.isObject() {
		return "context must be an object"
	}
	settled := context.get("arguments")
	if settled == nil {
		return ""
	}
	if !settled.isObject() {
		return "context.arguments must be an object"
	}
	for _, m := range settled.members() {
		if !m.val.isString() {
			return "context.arguments must hold strings"
		}
	}
	return ""
}

// offered returns the values that an argument of a prompt or of a template can take.
func (s *session) offered(ref value, argument string) ([]string, *failure) {
	switch ref.get("type").str() {
	case "ref/prompt":
		p := findPrompt(ref.get("name"))
		if p == nil {
			return nil, invalid("Unknown prompt")
		}
		if i := slices.IndexFunc(p.arguments, func(a promptArgument) bool { return a.name == argument }); i >= 0 {
			return p.arguments[i].values, nil
		}
	case "ref/resource":
		uri := ref.get("uri").str()
		i := slices.IndexFunc(templateTable, func(t template) bool { return t.uri == uri })
		if i < 0 {
			return nil, invalid("Unknown resource template")
		}
		if templateTable[i].variable == argument {
			return templateTable[i].values(), nil
		}
	default:
		f := invalid("Invalid params: ref must be of type ref/prompt or ref/resource")
		if s.has("result-and-error") {
			f.verbatim = resultAndError
		}
		return nil, f
	}
	return nil, invalid("Unknown argument: " + brief(argument))
}

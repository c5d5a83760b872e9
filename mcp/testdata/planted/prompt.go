package main

import "slices"

// prompt is one entry of prompts/list.
type prompt struct {
	name, description string
	arguments         []promptArgument
	text              string // of its one message, in front of the arguments
}

type promptArgument struct {
	name     string
	required bool
	values   []string // what completion offers
}

var promptTable = []prompt{
	{"daily_digest", "Sums the day up.", []promptArgument{{"style", false, []string{"brief", "full"}}}, "Sum up what happened in the warehouse today."},
	{"plan_delivery", "Plans a delivery to a city.", []promptArgument{{"city", true, cities}, {"date", false, nil}}, "Plan a delivery."},
	{"write_offer", "Writes an offer for an article.", []promptArgument{{"sku", true, skus}, {"customer", true, nil}}, "Write an offer."},
	{"greet", "Greets a visitor.", nil, "Greet the visitor who has just come in."},
	{"review_stock", "Reviews an article's stock.", []promptArgument{{"sku", false, skus}}, "Review what we have in stock."},
}

// cities are more than fit into one completion.
var cities = func() []string {
	var list []string
	for _, first := range []string{"Ash", "Birch", "Elm", "Fern", "Hazel", "Maple", "Oak", "Pine", "Rowan", "Thorn"} {
		for _, last := range []string{"bridge", "bury", "dale", "field", "ford", "ham", "hill", "mouth", "port", "stead", "ton", "ville", "well", "wick", "worth"} {
			list = append(list, first+last)
		}
	}
	return list
}()

func (s *session) listPrompts(r *request) (raw, *failure) {
	list := make([]raw, 0, len(promptTable))
	for _, p := range promptTable {
		arguments := make([]raw, 0, len(p.arguments))
		for _, a := range p.arguments {
			arguments = append(arguments, object("name", a.name, "required", a.required))
		}
		list = append(list, object("name", p.name, "description", p.description, "arguments", arguments))
	}
	if s.traces.garbled {
		list = forgetAfterGarbage(list)
	}
	return s.page(r, "prompts", list)
}

func findPrompt(name value) *prompt {
	if !name.isString() {
		return nil
	}
	if i := slices.IndexFunc(promptTable, func(p prompt) bool { return p.name == name.str() }); i >= 0 {
		return &promptTable[i]
	}
	return nil
}

func (s *session) getPrompt(r *request) (raw, *failure) {
	name, given := r.params.get("name"), r.params.get("arguments")
	p := findPrompt(name)
	switch {
	case !name.isString():
		return nil, invalid("Invalid params: name must be a string")
	case p == nil:
		f := invalid("Unknown prompt: " + brief(name.str()))
		if s.has("error-code-string") {
			f.verbatim = errorWithStringCode
		}
		return nil, f
	case given != nil && !given.isObject():
		return nil, invalid("Invalid params: arguments must be an object")
	}
	if f := s.checkArguments(p, given); f != nil {
		return nil, f
	}
	text, role := p.text, "user"
	for _, a := range p.arguments {
		if v := given.get(a.name); v != nil {
			text += "\n" + a.name + ": " + v.str()
		}
	}
	if s.has("invalid-role") && p.name == "review_stock" {
		role = invalidRole
	}
	r.twice = s.has("reply-twice") && p.name == "daily_digest" && given.get("style").str() == "brief"
	return object("description", p.description,
		"messages", []raw{object("role", role, "content", textItem(text))}), nil
}

func (s *session) checkArguments(p *prompt, given value) *failure {
	for _, a := range p.arguments {
		missing := a.required && given.get(a.name) == nil
		if missing && !(s.has("missing-prompt-argument") && p.name == "write_offer") {
			return invalid("Missing required argument: " + a.name)
		}
	}
	for _, m := range given.members() {
		if !slices.ContainsFunc(p.arguments, func(a promptArgument) bool { return a.name == m.name }) {
			return invalid("Unknown argument: " + brief(m.name))
		}
		if !m.val.isString() {
			return invalid("Invalid params: the argument " + brief(m.name) + " must be a string")
		}
	}
	return nil
}

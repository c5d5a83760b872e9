package main

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
)

// schema is the part of JSON Schema 2020-12 that the tools' schemas use. A keyword it does not know is a panic at the
// start, so that nothing is promised in tools/list that is not kept in tools/call.
type schema struct {
	kind       string
	properties map[string]*schema
	required   []string
	closed     bool // additionalProperties: false
	enum       []string
	minimum    *bound
	maximum    *bound
	minLength  int
	maxLength  int // -1: none
	minItems   int
	maxItems   int // -1: none
	items      *schema
	pattern    *regexp.Regexp
}

// bound is a limit together with its text.
type bound struct {
	whole int64
	float float64
	text  string
}

func newBound(v value) *bound {
	return &bound{whole: v.decimal().integer(), float: v.float(), text: string(v)}
}

// compile reads a schema that the server declares. It panics on one it would not enforce.
func compile(v value) *schema {
	s := &schema{maxLength: -1, maxItems: -1}
	for _, m := range v.members() {
		switch m.name {
		case "type":
			s.kind = m.val.str()
		case "properties":
			s.properties = map[string]*schema{}
			for _, p := range m.val.members() {
				s.properties[p.name] = compile(p.val)
			}
		case "required":
			s.required = strs(m.val)
		case "additionalProperties":
			s.closed = string(m.val) == "false"
		case "enum":
			s.enum = strs(m.val)
		case "minimum":
			s.minimum = newBound(m.val)
		case "maximum":
			s.maximum = newBound(m.val)
		case "minLength":
			s.minLength = int(m.val.decimal().integer())
		case "maxLength":
			s.maxLength = int(m.val.decimal().integer())
		case "minItems":
			s.minItems = int(m.val.decimal().integer())
		case "maxItems":
			s.maxItems = int(m.val.decimal().integer())
		case "items":
			s.items = compile(m.val)
		case "pattern":
			s.pattern = regexp.MustCompile(m.val.str())
		case "title", "description", "default", "examples":
		default:
			panic("planted: schema keyword " + m.name + " is not enforced")
		}
	}
	return s
}

func strs(v value) []string {
	var list []string
	for _, item := range v.items() {
		list = append(list, item.str())
	}
	return list
}

// check returns what is wrong with v, "" if it is valid. where is its place for the message.
func (s *schema) check(v value, where string) string {
	if !s.typed(v) {
		return fmt.Sprintf("%s must be of type %s", where, s.kind)
	}
	switch {
	case v.isObject():
		return s.checkObject(v, where)
	case v.isArray():
		return s.checkArray(v, where)
	case v.isString():
		return s.checkString(v.str(), where)
	case v.isNumber():
		return s.checkNumber(v, where)
	}
	return ""
}

func (s *schema) typed(v value) bool {
	switch s.kind {
	case "object":
		return v.isObject()
	case "array":
		return v.isArray()
	case "string":
		return v.isString()
	case "boolean":
		return v.isBool()
	case "number":
		return v.isNumber()
	case "integer":
		return v.isInteger()
	}
	return true
}

func (s *schema) checkObject(v value, where string) string {
	members := v.members()
	for _, name := range s.required {
		if !slices.ContainsFunc(members, func(m member) bool { return m.name == name }) {
			return fmt.Sprintf("%s needs the property %q", where, name)
		}
	}
	for _, m := range members {
		p, known := s.properties[m.name]
		switch {
		case known:
			if wrong := p.check(m.val, where+"/"+m.name); wrong != "" {
				return wrong
			}
		case s.closed:
			return fmt.Sprintf("%s must not have the property %s", where, brief(m.name))
		}
	}
	return ""
}

func (s *schema) checkArray(v value, where string) string {
	items := v.items()
	if len(items) < s.minItems {
		return fmt.Sprintf("%s must have at least %d items", where, s.minItems)
	}
	if s.maxItems >= 0 && len(items) > s.maxItems {
		return fmt.Sprintf("%s must have at most %d items", where, s.maxItems)
	}
	if s.items == nil {
		return ""
	}
	for i, item := range items {
		if wrong := s.items.check(item, fmt.Sprintf("%s/%d", where, i)); wrong != "" {
			return wrong
		}
	}
	return ""
}

func (s *schema) checkString(got, where string) string {
	switch n := length(got); {
	case n < s.minLength:
		return fmt.Sprintf("%s must have at least %d characters", where, s.minLength)
	case s.maxLength >= 0 && n > s.maxLength:
		return fmt.Sprintf("%s must have at most %d characters", where, s.maxLength)
	case s.enum != nil && !slices.Contains(s.enum, got):
		return fmt.Sprintf("%s must be one of %s", where, strings.Join(s.enum, ", "))
	case s.pattern != nil && !s.pattern.MatchString(got):
		return fmt.Sprintf("%s must match %s", where, s.pattern)
	}
	return ""
}

func (s *schema) checkNumber(v value, where string) string {
	below := func(b *bound) bool { return v.float() < b.float }
	above := func(b *bound) bool { return v.float() > b.float }
	if s.kind == "integer" {
		n := v.decimal().integer()
		below = func(b *bound) bool { return n < b.whole }
		above = func(b *bound) bool { return n > b.whole }
	}
	if s.minimum != nil && below(s.minimum) {
		return fmt.Sprintf("%s must be at least %s", where, s.minimum.text)
	}
	if s.maximum != nil && above(s.maximum) {
		return fmt.Sprintf("%s must be at most %s", where, s.maximum.text)
	}
	return ""
}

// brief quotes a client's word for a message and cuts a long one.
func brief(s string) string {
	const most = 80
	if length(s) > most {
		s = prefix(s, most) + "..."
	}
	return string(quote(nil, s))
}

// prefix returns the first n characters.
func prefix(s string, n int) string {
	for i := range len(s) {
		if s[i]&0xC0 == 0x80 {
			continue
		}
		if n == 0 {
			return s[:i]
		}
		n--
	}
	return s
}

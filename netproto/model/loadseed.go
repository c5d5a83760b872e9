package model

import (
	"encoding/hex"
	"errors"
	"strconv"
	"strings"

	"go.yaml.in/yaml/v3"
)

// seeds reads the dialogues and takes their messages apart.
func (l *loader) seeds(n *yaml.Node) {
	if n == nil {
		return
	}
	all, ok := l.mapping(n, "seeds")
	if !ok {
		return
	}
	for i, k := range all.keys {
		path := "seeds." + k.Value
		s := Seed{Name: l.name(k, "seeds")}
		v := all.vals[i]
		if v.Kind == yaml.MappingNode {
			e, ok := l.mapping(v, path, "doc", "messages")
			if !ok {
				continue
			}
			s.Doc, v = l.text(e.get("doc"), path), e.get("messages")
		}
		for j, c := range list(v) {
			s.Messages = append(s.Messages, l.seedMessage(c, path+"["+strconv.Itoa(j)+"]"))
		}
		l.m.Seeds = append(l.m.Seeds, s)
	}
}

func (l *loader) seedMessage(n *yaml.Node, path string) SeedMessage {
	s := SeedMessage{node: n}
	if n.Kind == yaml.ScalarNode && n.Tag == "!!str" {
		l.seedBytes(&s, []byte(n.Value), n, path)
		return s
	}
	e, ok := l.mapping(n, path, "message", "text", "hex", "fields", "raw", "client")
	if !ok {
		return s
	}
	if c := e.get("client"); c != nil {
		n, err := strconv.Atoi(c.Value)
		if err != nil || n < 1 || n > MaxClients {
			l.fail(c, path, "", "client is a number from 1 to %d, here stands %s", MaxClients, shape(c))
			return s
		}
		s.Client = n - 1
	}
	if name := e.get("message"); name != nil {
		if s.Message = l.m.Message(l.text(name, path)); s.Message == nil {
			l.fail(name, path, known("messages", l.m.Messages, name.Value), "there is no message %q", name.Value)
			return s
		}
	}
	text, digits, fields := e.get("text"), e.get("hex"), e.get("fields")
	switch {
	case text != nil && digits == nil && fields == nil:
		l.seedBytes(&s, l.rawBytes(text, path+".text"), text, path)
	case digits != nil && text == nil && fields == nil:
		data, err := hex.DecodeString(strings.Join(strings.Fields(digits.Value), ""))
		if err != nil {
			l.fail(digits, path, "", "expected are pairs of hexadecimal digits, here stands %s", shape(digits))
			return s
		}
		if l.flag(e.get("raw"), path, false) {
			s.Tree.SetRaw(data)
			return s
		}
		l.seedBytes(&s, data, digits, path)
	case s.Message != nil && text == nil && digits == nil:
		l.seedFields(&s, fields, n, path)
	default:
		l.fail(n, path, "", "a message of a seed has one of text, hex, or message with fields")
	}
	return s
}

// seedBytes takes the bytes of a seed apart.
func (l *loader) seedBytes(s *SeedMessage, data []byte, n *yaml.Node, path string) {
	kinds := l.m.Messages
	if s.Message != nil {
		kinds = []*Message{s.Message}
	}
	if len(kinds) == 0 {
		s.Tree.SetRaw(data)
		return
	}
	var best *ParseError
	for _, m := range kinds {
		err := m.Parse(&s.Tree, data)
		if err == nil {
			s.Message = m
			return
		}
		if e, ok := errors.AsType[*ParseError](err); ok && (best == nil || e.Offset > best.Offset) {
			best = e
		}
	}
	hint := "raw: true beside hex is for bytes that are no message"
	p := &Problem{File: l.file, Line: n.Line, Col: n.Column, Field: path, Offset: best.Offset, Hint: hint,
		Reason: "the seed does not fit " + best.Message}
	if best.Field != "" {
		p.Reason += ", field " + best.Field
	}
	p.Reason += ": " + best.Reason
	l.problems = append(l.problems, p)
}

// seedFields makes a message of the values of its fields, and reads it again.
func (l *loader) seedFields(s *SeedMessage, fields, n *yaml.Node, path string) {
	b := builder{t: &s.Tree}
	if err := b.run(s.Message, fields); err != nil {
		at := n
		reason := err.Error()
		if e, ok := errors.AsType[*buildError](err); ok && e.node != nil {
			at = e.node
		}
		l.fail(at, path, "", "%s", reason)
		return
	}
	l.seedBytes(s, append([]byte(nil), s.Tree.Data...), n, path)
}

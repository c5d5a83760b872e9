package model

import (
	"math"
	"slices"
	"strings"
	"time"

	"go.yaml.in/yaml/v3"
)

// messages reads what is sent or what is expected.
func (l *loader) messages(n *yaml.Node, path string, into *[]*Message) {
	if n == nil {
		return
	}
	all, ok := l.mapping(n, path)
	if !ok {
		return
	}
	for i, k := range all.keys {
		*into = append(*into, l.message(all.vals[i], l.name(k, path), path+"."+k.Value, path == "responses"))
	}
}

func (l *loader) message(n *yaml.Node, name, path string, response bool) *Message {
	m := &Message{Name: name, line: n.Line}
	keys := append([]string{"type", "when", "fields"}, typeKeys...)
	if response {
		keys = append(keys, "code", "capture")
	}
	e, ok := l.mapping(n, path, keys...)
	if !ok {
		return m
	}
	switch t := e.get("type"); {
	case t != nil && e.get("seq") != nil:
		l.fail(t, path, "", "a message has a type or a seq, not both")
	case t != nil:
		m.Doc = l.text(e.get("doc"), path)
		if m.Type = l.findType(l.text(t, path)); m.Type == nil {
			l.fail(t, path, "", "there is no type %q", t.Value)
			return m
		}
	default:
		m.Type = &Type{Name: name, parent: l.scope, line: n.Line}
		l.body(&e, m.Type, path)
		m.Doc = m.Type.Doc
	}
	outer := l.scope
	l.scope = m.Type
	defer func() { l.scope = outer }()
	m.outer = Field{Kind: Struct, Type: m.Type, Mutable: true, line: n.Line, col: n.Column}
	m.When, m.Code = l.expr(e.get("when"), path+".when"), l.expr(e.get("code"), path+".code")
	m.defaults = e.get("fields")
	m.late = late(m.Type, map[*Type]bool{})
	if c := e.get("capture"); c != nil {
		l.captures(c, m, path+".capture")
	}
	return m
}

// late reports whether a type has a field that gets its value when it is sent.
func late(t *Type, seen map[*Type]bool) bool {
	if t == nil || seen[t] {
		return false
	}
	seen[t] = true
	for _, f := range t.Fields {
		if f.Derive.Late() || slices.ContainsFunc(f.types(), func(t *Type) bool { return late(t, seen) }) {
			return true
		}
	}
	return false
}

// types returns the types that a field may have.
func (f *Field) types() (all []*Type) {
	if f.Type != nil {
		all = append(all, f.Type)
	}
	if f.Switch == nil {
		return all
	}
	for _, c := range f.Switch.Cases {
		if c.Type != nil {
			all = append(all, c.Type)
		}
	}
	if f.Switch.Else != nil {
		all = append(all, f.Switch.Else)
	}
	return all
}

func (l *loader) captures(n *yaml.Node, m *Message, path string) {
	all, ok := l.mapping(n, path)
	if !ok {
		return
	}
	for i, k := range all.keys {
		v := all.vals[i]
		c := Capture{Name: l.name(k, path)}
		if v.Kind != yaml.MappingNode {
			c.From = l.expr(v, path+"."+c.Name)
		} else if e, ok := l.mapping(v, path+"."+c.Name, "from", "transform"); ok {
			c.From = l.expr(e.get("from"), path+"."+c.Name)
			if e.get("transform") != nil {
				c.Transforms = l.transforms(e.get("transform"), path+"."+c.Name)
			}
		}
		if c.From == nil {
			l.fail(v, path+"."+c.Name, "", "nothing says which value is captured")
			continue
		}
		m.Captures = append(m.Captures, c)
	}
}

func (l *loader) connection(n *yaml.Node) {
	l.m.Connection.Transport = TCP
	if n == nil {
		return
	}
	e, ok := l.mapping(n, "connection", "transport", "port", "keep", "greeting", "follow")
	if !ok {
		return
	}
	c := &l.m.Connection
	if at := l.choice(e.get("transport"), "connection.transport", transportNames[1:]...); at >= 0 {
		c.Transport = TCP + Transport(at)
	}
	port := l.integer(e.get("port"), "connection.port", 0)
	if port < 0 || port > math.MaxUint16 {
		l.fail(e.get("port"), "connection.port", "", "a port is a number up to 65535")
	}
	c.Port = int(port)
	c.Keep, c.Greeting = l.flag(e.get("keep"), "connection.keep", false), l.flag(e.get("greeting"), "connection.greeting", false)
	if c.Follow = l.flag(e.get("follow"), "connection.follow", false); c.Follow && c.Transport != UDP {
		l.fail(e.get("follow"), "connection.follow", "", "only a server of datagrams answers from another port: expected is transport: udp")
	}
}

// maxLengthAt is where a response may have its length at the latest.
const maxLengthAt = 1 << 16

func (l *loader) framing(n *yaml.Node) {
	f := &l.m.Framing
	f.Kind = FramingQuiet
	if len(l.m.Responses) > 0 {
		f.Kind = FramingModel
	}
	if n == nil {
		return
	}
	if n.Kind == yaml.ScalarNode {
		if at := l.choice(n, "framing", "model", "quiet"); at >= 0 {
			f.Kind = map[int]FramingKind{0: FramingModel, 1: FramingQuiet}[at]
		}
		if f.Kind == FramingModel && len(l.m.Responses) == 0 {
			l.fail(n, "framing", "", "framing by the model wants responses")
		}
		return
	}
	e, ok := l.mapping(n, "framing", "delimiter", "length")
	if !ok {
		return
	}
	if d := e.get("delimiter"); d != nil {
		f.Kind, f.Delimiter = FramingDelimiter, l.rawBytes(d, "framing.delimiter")
		if len(f.Delimiter) == 0 {
			l.fail(d, "framing.delimiter", "", "the delimiter is empty")
		}
		return
	}
	if e.get("length") == nil {
		l.fail(n, "framing", "expected is model, quiet, {delimiter: BYTES} or {length: {at: 0, type: u2}}", "nothing says where a response ends")
		return
	}
	le, ok := l.mapping(e.get("length"), "framing.length", "at", "type", "add")
	if !ok {
		return
	}
	f.Kind, f.Little = FramingLength, l.little
	f.At, f.Add = int(l.integer(le.get("at"), "framing.length.at", 0)), int(l.integer(le.get("add"), "framing.length.add", 0))
	if f.At < 0 || f.At > maxLengthAt {
		l.fail(le.get("at"), "framing.length.at", "", "the length begins at a byte from 0 to %d of the response", maxLengthAt)
	}
	g := plainType.FindStringSubmatch(l.text(le.get("type"), "framing.length.type"))
	if g == nil || g[1] != "u" {
		l.fail(n, "framing.length", "", "the type of the length is one of u1 to u8")
		return
	}
	f.Width = int(g[2][0] - '0')
	if g[3] != "" {
		f.Little = g[3] == "le"
	}
}

// maxStates is how many states can be told apart: the number of one is a byte of a feature.
const maxStates = 255

func (l *loader) states(n, initial *yaml.Node) {
	if n == nil {
		return
	}
	all, ok := l.mapping(n, "states")
	if !ok {
		return
	}
	var everywhere []Transition
	for i, k := range all.keys {
		path := "states." + k.Value
		s := &State{Name: k.Value}
		v := all.vals[i]
		transitions := v
		if v.Kind == yaml.MappingNode {
			e, ok := l.mapping(v, path, "doc", "transitions")
			if !ok {
				continue
			}
			s.Doc, transitions = l.text(e.get("doc"), path), e.get("transitions")
		}
		for _, t := range list(transitions) {
			if t.Kind == yaml.ScalarNode && t.Tag == "!!null" {
				continue
			}
			s.Transitions = append(s.Transitions, l.transition(t, path))
		}
		if k.Value == "*" {
			everywhere = s.Transitions
			continue
		}
		l.name(k, "states")
		l.m.States = append(l.m.States, s)
	}
	if len(l.m.States) > maxStates {
		l.fail(n, "states", "", "there are %d states, a model has at most %d", len(l.m.States), maxStates)
	}
	for _, s := range l.m.States {
		for _, t := range everywhere {
			if s.Transition(t.Send) == nil {
				s.Transitions = append(s.Transitions, t)
			}
		}
	}
	l.first(initial)
	l.reachable(n)
}

// first puts the initial state in front.
func (l *loader) first(n *yaml.Node) {
	if n == nil {
		return
	}
	at := slices.IndexFunc(l.m.States, func(s *State) bool { return s.Name == n.Value })
	if at < 0 {
		l.fail(n, "initial", "", "there is no state %q", n.Value)
		return
	}
	s := l.m.States[at]
	l.m.States = slices.Insert(slices.Delete(l.m.States, at, at+1), 0, s)
}

// reachable looks for states that the model names but does not have, and for those that no transition leads to.
func (l *loader) reachable(n *yaml.Node) {
	if len(l.m.States) == 0 {
		return
	}
	seen := map[string]bool{l.m.States[0].Name: true}
	todo := []*State{l.m.States[0]}
	for len(todo) > 0 {
		s := todo[0]
		todo = todo[1:]
		for _, t := range s.Transitions {
			for _, to := range [...]string{t.To, t.Else, t.Timeout} {
				if next := l.m.State(to); next != nil && !seen[to] {
					seen[to] = true
					todo = append(todo, next)
				} else if to != "" && next == nil {
					l.fail(n, "states."+s.Name, "", "the transition of %s leads to %s, but there is no such state", t.Send, to)
				}
			}
		}
	}
	for _, s := range l.m.States {
		if !seen[s.Name] {
			l.fail(n, "states."+s.Name, "", "no transition leads from %s to this state", l.m.States[0].Name)
		}
	}
}

func (l *loader) transition(n *yaml.Node, path string) (t Transition) {
	e, ok := l.mapping(n, path, "send", "expect", "when", "to", "else", "timeout")
	if !ok {
		return t
	}
	t.Send = l.sent(e.get("send"), n, path)
	t.Expect, t.Silence = l.expected(e.get("expect"), path)
	if w := e.get("when"); w != nil {
		t.When = l.expr(w, path+".when")
		if len(t.Expect) == 0 {
			l.fail(w, path, "", "when says something of a response: name it with expect")
		}
	}
	t.To, t.Else, t.Timeout = l.text(e.get("to"), path), l.text(e.get("else"), path), l.text(e.get("timeout"), path)
	return t
}

// sent reads the name of a message.
func (l *loader) sent(n, in *yaml.Node, path string) string {
	if n == nil {
		l.fail(in, path, "", "nothing is sent: send names a message")
		return ""
	}
	name := l.text(n, path)
	if l.m.Message(name) == nil {
		l.fail(n, path, known("messages", l.m.Messages, name), "there is no message %q", name)
	}
	return name
}

func (l *loader) expected(n *yaml.Node, path string) (names []string, silence bool) {
	for _, c := range list(n) {
		name := l.text(c, path)
		if name == "nothing" {
			silence = true
			continue
		}
		if l.m.Response(name) == nil {
			l.fail(c, path, known("responses", l.m.Responses, name), "there is no response %q", name)
		}
		names = append(names, name)
	}
	return names, silence && len(names) == 0
}

func known(what string, all []*Message, name string) string {
	var names []string
	for _, m := range all {
		names = append(names, m.Name)
	}
	if near := nearest(name, names); near != "" {
		return "did you mean " + near + "?"
	}
	return what + " are " + strings.Join(names, ", ")
}

func (l *loader) steps(n *yaml.Node, path string) (all []Step) {
	for _, c := range list(n) {
		if c.Kind == yaml.ScalarNode {
			all = append(all, Step{Send: l.sent(c, c, path), Attempts: 1})
			continue
		}
		e, ok := l.mapping(c, path, "send", "expect", "attempts", "delay")
		if !ok {
			continue
		}
		s := Step{Send: l.sent(e.get("send"), c, path), Attempts: max(1, int(l.integer(e.get("attempts"), path, 1)))}
		s.Expect, _ = l.expected(e.get("expect"), path)
		s.Delay = l.duration(e.get("delay"), path, 0)
		all = append(all, s)
	}
	return all
}

func (l *loader) duration(n *yaml.Node, path string, otherwise time.Duration) time.Duration {
	if n == nil {
		return otherwise
	}
	d, err := time.ParseDuration(l.text(n, path))
	if err != nil || d < 0 {
		l.fail(n, path, "", "expected is a duration such as 500ms or 30s, here stands %s", shape(n))
		return otherwise
	}
	return d
}

func (l *loader) heartbeat(n *yaml.Node) {
	if n == nil {
		return
	}
	e, ok := l.mapping(n, "heartbeat", "send", "expect", "every", "failures")
	if !ok {
		return
	}
	h := &Heartbeat{Send: l.sent(e.get("send"), n, "heartbeat"), Every: l.duration(e.get("every"), "heartbeat.every", 30*time.Second),
		Failures: max(1, int(l.integer(e.get("failures"), "heartbeat.failures", 1)))}
	h.Expect, _ = l.expected(e.get("expect"), "heartbeat")
	l.m.Heartbeat = h
}

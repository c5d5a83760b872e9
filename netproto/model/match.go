package model

// Message returns the message of that name, nil if there is none.
func (m *Model) Message(name string) *Message {
	for _, x := range m.Messages {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// Response returns the response of that name, nil if there is none.
func (m *Model) Response(name string) *Message {
	for _, x := range m.Responses {
		if x.Name == name {
			return x
		}
	}
	return nil
}

// State returns the state of that name, nil if there is none.
func (m *Model) State(name string) *State {
	for _, s := range m.States {
		if s.Name == name {
			return s
		}
	}
	return nil
}

// Transition returns the transition of a message, nil if the state has none.
func (s *State) Transition(message string) *Transition {
	for i := range s.Transitions {
		if s.Transitions[i].Send == message {
			return &s.Transitions[i]
		}
	}
	return nil
}

// Sample returns a message as the first seed has it, or with its default values; nil if there is no such message.
func (m *Model) Sample(name string) *SeedMessage {
	for i := range m.Seeds {
		for j := range m.Seeds[i].Messages {
			if s := &m.Seeds[i].Messages[j]; s.Message != nil && s.Message.Name == name {
				return s
			}
		}
	}
	kind := m.Message(name)
	if kind == nil {
		return nil
	}
	s := &SeedMessage{Message: kind}
	if kind.Build(&s.Tree) != nil {
		return nil
	}
	return s
}

// Find reads the start of data as the first message that fits, and returns it with its size in bytes; nil if none fits.
func (m *Model) Find(t *Tree, data []byte) (*Message, int) {
	found, n, _ := first(m.Messages, t, data, false)
	return found, n
}

// Answer reads the start of data as the first response that fits, and returns it with its size in bytes; nil if none fits.
// If more says that further bytes may follow, short reports whether those could make one fit. A response that fits is then
// not taken while an earlier one has all of its bytes and wants more behind them: it is the start of that one, as the head of an
// HTTP response is whose body is on its way.
func (m *Model) Answer(t *Tree, data []byte, more bool) (found *Message, n int, short bool) {
	return first(m.Responses, t, data, more)
}

func first(all []*Message, t *Tree, data []byte, more bool) (found *Message, n int, short bool) {
	missing := -1 // offset from which on an earlier message wants more bytes, the largest of all
	for _, m := range all {
		p := decoder{t: t, extent: extent{more: more}}
		n, ok := p.run(m, data, false)
		if ok && missing >= n {
			break
		}
		if ok {
			return m, n, false
		}
		if p.short {
			missing = max(missing, p.pos/8)
		}
	}
	t.SetRaw(data)
	return nil, 0, missing >= 0
}

// CodeOf returns what a response says of the server's state.
func (m *Message) CodeOf(t *Tree) string {
	if m.Code == nil {
		return ""
	}
	v, err := m.Code.node.eval(&scope{tree: t, item: -1})
	if err != nil {
		return ""
	}
	if r, ok := m.Code.node.(*reference); ok && !v.text {
		if at, ok := r.find(&scope{tree: t, item: -1}); ok {
			if e := t.Nodes[at].Field.Enum; e != nil {
				if name := e.ValueName(v.number); name != "" {
					return name
				}
			}
		}
	}
	return v.String()
}

// Holds reports whether an expression over a whole message is true.
func (e *Expr) Holds(t *Tree) bool {
	v, err := e.node.eval(&scope{tree: t, item: -1})
	return err == nil && v.holds()
}

// Length returns how many bytes the first response of a stream has; false if its length is not there yet.
func (f *Framing) Length(data []byte) (int, bool) {
	if len(data) < f.At+f.Width {
		return 0, false
	}
	n := int64(readInt(data[f.At:f.At+f.Width], f.Little)) + int64(f.Add)
	if n < int64(f.At+f.Width) { // it cannot be: what there is is the response
		return len(data), true
	}
	if n > int64(len(data)) {
		return 0, false
	}
	return int(n), true
}

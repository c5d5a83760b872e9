package model

import (
	"fmt"
	"io"
	"slices"
	"strings"
)

// Describe writes what a model has: messages, states, and the fields of its seeds.
func (m *Model) Describe(w io.Writer) {
	title := m.ID
	if m.Title != "" {
		title += ": " + m.Title
	}
	fmt.Fprintf(w, "%s\n", title)
	fmt.Fprintf(w, "  %s, port %d, responses end by %s\n", m.Connection.Transport, m.Connection.Port, m.Framing.Kind)
	fmt.Fprintf(w, "  messages: %s\n", strings.Join(namesOf(m.Messages), ", "))
	if len(m.Responses) > 0 {
		fmt.Fprintf(w, "  responses: %s\n", strings.Join(namesOf(m.Responses), ", "))
	}
	for _, s := range m.States {
		fmt.Fprintf(w, "  state %s\n", s.Name)
		for i := range s.Transitions {
			fmt.Fprintf(w, "    %s\n", s.Transitions[i].text())
		}
	}
	unused := namesOf(m.Messages)
	for i := range m.Seeds {
		s := &m.Seeds[i]
		fmt.Fprintf(w, "  seed %s\n", s.Name)
		for j := range s.Messages {
			msg := &s.Messages[j]
			name := "bytes without a model"
			if msg.Message != nil {
				name = msg.Message.Name
				unused = slices.DeleteFunc(unused, func(n string) bool { return n == name })
			}
			fmt.Fprintf(w, "    %s, %d bytes\n", name, len(msg.Tree.Data))
			msg.Tree.Describe(w, "    ")
		}
	}
	if len(unused) > 0 {
		fmt.Fprintf(w, "  in no seed, sent with their default values: %s\n", strings.Join(unused, ", "))
	}
}

func namesOf(all []*Message) (out []string) {
	for _, m := range all {
		out = append(out, m.Name)
	}
	return out
}

func (t *Transition) text() string {
	text := "send " + t.Send
	switch {
	case t.Silence:
		text += ", expect nothing"
	case len(t.Expect) > 0:
		text += ", expect " + strings.Join(t.Expect, " or ")
	}
	if t.When != nil {
		text += " with " + t.When.Source
	}
	if t.To != "" {
		text += " -> " + t.To
	}
	return text
}

package model

import (
	"bytes"
	"fmt"
	"io"
	"strconv"
	"strings"
)

// CheckSeeds computes the derived fields of every message of every seed anew, writes all values anew, and returns where that
// gives other bytes than the seed has: a length that is not one, a checksum that does not fit, a number that is not in its
// shortest form. There are none in a sound model.
func (m *Model) CheckSeeds() (problems []*Problem) {
	for i := range m.Seeds {
		s := &m.Seeds[i]
		for j := range s.Messages {
			msg := &s.Messages[j]
			if msg.Message == nil {
				continue
			}
			var t Tree
			t.CopyFrom(&msg.Tree)
			t.Derive(nil)
			p := &Problem{File: m.File, Line: msg.node.Line, Col: msg.node.Column, Field: s.Name + "[" + strconv.Itoa(j) + "]"}
			if at := difference(t.Data, msg.Tree.Data); at >= 0 {
				p.Offset, p.Reason = at, "the derived field "+msg.Tree.fieldAt(at)+" is not what the model makes of it"
				p.Hint = "correct the seed or the model; raw: true beside hex is for a message that is meant to be wrong"
				problems = append(problems, p)
				continue
			}
			if again := msg.Tree.Serialize(nil); difference(again, msg.Tree.Data) >= 0 {
				p.Offset = difference(again, msg.Tree.Data)
				p.Reason = "field " + msg.Tree.fieldAt(p.Offset) + " is not written in the plain form of its type, or its bits belong to no field"
				problems = append(problems, p)
			}
		}
	}
	return problems
}

// difference returns the first byte in which two messages differ, -1 if they do not.
func difference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return -1
	}
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return i
		}
	}
	return min(len(a), len(b))
}

// fieldAt returns the path of the innermost field that a byte belongs to.
func (t *Tree) fieldAt(offset int) string {
	path := ""
	for i := range t.Nodes {
		if n := &t.Nodes[i]; t.Leaf(i) && int(n.Start/8) <= offset && offset < int(n.End+7)/8 {
			path = t.Path(i)
		}
	}
	return path
}

// Describe writes the fields of a message, one a line: where it begins, its name, and its value.
func (t *Tree) Describe(w io.Writer, indent string) {
	for i := 1; i < len(t.Nodes); i++ {
		n := &t.Nodes[i]
		depth := 0
		for p := n.Parent; p > 0; p = t.Nodes[p].Parent {
			depth++
		}
		at := strconv.Itoa(int(n.Start / 8))
		if n.Start%8 != 0 || n.Field.Kind == Bits {
			at += "." + strconv.Itoa(int(n.Start%8))
		}
		name := n.Field.ID
		if name == "" {
			name = "-"
		}
		fmt.Fprintf(w, "%s%6s  %s%s%s\n", indent, at, strings.Repeat("  ", depth), name, t.valueText(i))
	}
}

// valueText is what Describe says of a node's value.
func (t *Tree) valueText(i int) string {
	n := &t.Nodes[i]
	switch {
	case n.Flags&Array != 0:
		return fmt.Sprintf(": %d items", t.Items(i))
	case n.Type != nil:
		return ": " + n.Type.Name
	}
	text := ""
	if v, ok := t.Number(i); ok {
		text = " = " + strconv.FormatInt(v, 10)
		if n.Field.Enum != nil {
			if name := n.Field.Enum.ValueName(v); name != "" {
				text += " (" + name + ")"
			}
		}
	} else if b := t.Bytes(i); len(b) > 40 {
		text = fmt.Sprintf(" = %q and %d bytes more", b[:40], len(b)-40)
	} else {
		text = fmt.Sprintf(" = %q", b)
	}
	if t.Derived(i) {
		text += ", derived"
	}
	return text
}

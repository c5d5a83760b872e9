package model

import (
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// AppendLayout appends the fields of a message in one line of text, such as
//
//	packet_type@0+4 flags@4+4 remaining@8+8! body:connect@16+96 .name@16+48
//
// that is, for each field, as many dots as it is deep, its id, or _ and its number in its type if it has none, the type if it is a structure, the bit at which it begins
// and how many it has, [] if it is repeated, and ! if it is [Broken]. It is for messages whose fields would not be found
// by parsing, because a length in them lies.
func (t *Tree) AppendLayout(dst []byte) []byte {
	for i := 1; i < len(t.Nodes); i++ {
		n := &t.Nodes[i]
		if i > 1 {
			dst = append(dst, ' ')
		}
		for p := n.Parent; p > 0; p = t.Nodes[p].Parent {
			dst = append(dst, '.')
		}
		if n.Field.ID == "" {
			dst = append(dst, '_')
			if typ := t.Nodes[n.Parent].Type; typ != nil {
				dst = strconv.AppendInt(dst, int64(slices.Index(typ.Fields, n.Field)), 10)
			}
		}
		dst = append(dst, n.Field.ID...)
		if n.Type != nil {
			dst = append(append(dst, ':'), n.Type.Name...)
		}
		dst = strconv.AppendInt(append(dst, '@'), int64(n.Start), 10)
		dst = strconv.AppendInt(append(dst, '+'), int64(n.End-n.Start), 10)
		if n.Flags&Array != 0 {
			dst = append(dst, "[]"...)
		}
		if n.Flags&Broken != 0 {
			dst = append(dst, '!')
		}
	}
	return dst
}

// SetLayout makes t the message of these bytes, which are copied, with the fields that AppendLayout wrote. It is an error
// if the layout does not fit the model or the bytes.
func (m *Message) SetLayout(t *Tree, data []byte, layout string) error {
	t.SetRaw(data)
	nodes := []Node{{Field: &m.outer, Type: m.Type, Parent: -1, End: int32(len(data) * 8)}}
	open := []int{0}
	for entry := range strings.FieldsSeq(layout) {
		name := strings.TrimLeft(entry, ".")
		depth := len(entry) - len(name)
		if depth >= len(open) {
			return fmt.Errorf("layout: %s is deeper than what stands before it allows", entry)
		}
		for len(open) > depth+1 {
			open = open[:len(open)-1]
		}
		parent := open[depth]
		n, err := layoutNode(name, nodes, parent)
		if err != nil {
			return fmt.Errorf("layout: %s: %w", entry, err)
		}
		nodes = append(nodes, n)
		for p := int32(len(nodes) - 1); p >= 0; p = nodes[p].Parent {
			nodes[p].Size++
		}
		open = append(open, len(nodes)-1)
	}
	nodes[0].Size = int32(len(nodes))
	t.Nodes = append(t.Nodes[:0], nodes...)
	return nil
}

func layoutNode(entry string, nodes []Node, parent int) (n Node, err error) {
	n.Parent = int32(parent)
	if rest, ok := strings.CutSuffix(entry, "!"); ok {
		entry, n.Flags = rest, n.Flags|Broken
	}
	if rest, ok := strings.CutSuffix(entry, "[]"); ok {
		entry, n.Flags = rest, n.Flags|Array
	}
	name, span, _ := strings.Cut(entry, "@")
	from, size, _ := strings.Cut(span, "+")
	start, err1 := strconv.ParseInt(from, 10, 32)
	bits, err2 := strconv.ParseInt(size, 10, 32)
	if err := errors.Join(err1, err2); err != nil {
		return n, errors.New("expected is name@start+bits")
	}
	above := &nodes[parent]
	least := above.Start
	if last := lastChild(nodes, parent); last >= 0 {
		least = nodes[last].End
	}
	if start < int64(least) || bits < 0 || start+bits > int64(above.End) {
		return n, errors.New("it lies outside of the field that it is part of")
	}
	n.Start, n.End = int32(start), int32(start+bits)
	id, typ, _ := strings.Cut(name, ":")
	if n.Field = layoutField(id, nodes, parent); n.Field == nil {
		return n, errors.New("the model has no such field there")
	}
	if typ != "" {
		if n.Type = n.Field.typeNamed(typ); n.Type == nil {
			return n, fmt.Errorf("the field cannot be a %s", typ)
		}
	}
	f := n.Field
	switch {
	case n.Flags&Array != 0 && f.Repeat == Once:
		return n, errors.New("the field is not repeated")
	case f.Kind == Bits && n.Flags&Array == 0:
		if bits != int64(f.Width) {
			return n, fmt.Errorf("the field has %d bits", f.Width)
		}
	case (n.Start|n.End)&7 != 0:
		return n, errors.New("the field does not begin and end between bytes")
	}
	return n, nil
}

func lastChild(nodes []Node, parent int) int {
	for i := len(nodes) - 1; i > parent; i-- {
		if int(nodes[i].Parent) == parent {
			return i
		}
	}
	return -1
}

// layoutField finds the field of an id; nil if there is none.
func layoutField(id string, nodes []Node, parent int) *Field {
	above := &nodes[parent]
	switch {
	case above.Flags&Array != 0:
		return above.Field
	case id == restField.ID:
		return restField
	case above.Type == nil:
		return nil
	}
	if number, ok := strings.CutPrefix(id, "_"); ok {
		k, err := strconv.Atoi(number)
		if err != nil || k < 0 || k >= len(above.Type.Fields) || above.Type.Fields[k].ID != "" {
			return nil
		}
		return above.Type.Fields[k]
	}
	return above.Type.Field(id)
}

// typeNamed returns the type of that name which the field may have.
func (f *Field) typeNamed(name string) *Type {
	if f.Type != nil && f.Type.Name == name {
		return f.Type
	}
	if f.Switch == nil {
		return nil
	}
	for _, c := range f.Switch.Cases {
		if c.Type != nil && c.Type.Name == name {
			return c.Type
		}
	}
	if f.Switch.Else != nil && f.Switch.Else.Name == name {
		return f.Switch.Else
	}
	return nil
}

package model

import (
	"slices"
	"strconv"
)

// A Node is one field of a message: where it lies in the bytes, and what it is. Bits are counted from the start of the
// message; in bytes that are read in big endian bit order bit 0 is the highest of the first byte, otherwise the lowest.
type Node struct {
	Field      *Field // of the outermost node one without an id
	Type       *Type  // of a structure, the chosen one after a switch; nil: the node has no fields of its own
	Parent     int32  // -1: none
	Start, End int32  // in bits
	Size       int32  // nodes of the subtree, this one included
	Flags      Flag
}

// Flag is what is special about a node.
type Flag uint8

const (
	// Array marks the node of a repeated field. Its children are the items.
	Array Flag = 1 << iota
	// Broken marks a derived field that keeps its value whatever it should be.
	Broken
)

// A Tree is a message: its bytes, and the fields in them in the order of the model, parents first. Without nodes it is
// bytes without a model. The bytes are always what is sent; a tree cannot get out of step with them, since each change
// of a field is a change of the bytes. The zero value is an empty message.
type Tree struct {
	Data  []byte
	Nodes []Node
}

// CopyFrom makes t a copy of src in the memory of t.
func (t *Tree) CopyFrom(src *Tree) {
	t.Data = append(t.Data[:0], src.Data...)
	t.Nodes = append(t.Nodes[:0], src.Nodes...)
}

// SetRaw makes t bytes without a model, which are copied.
func (t *Tree) SetRaw(data []byte) {
	t.Data = append(t.Data[:0], data...)
	t.Nodes = t.Nodes[:0]
}

// Leaf reports whether a node has a value of its own and no fields.
func (t *Tree) Leaf(i int) bool {
	n := &t.Nodes[i]
	return n.Type == nil && n.Flags&Array == 0
}

// Aligned reports whether a node begins and ends between bytes.
func (t *Tree) Aligned(i int) bool {
	n := &t.Nodes[i]
	return (n.Start|n.End)&7 == 0
}

// Bytes returns the bytes of a node, which must be aligned. They are a part of t.Data.
func (t *Tree) Bytes(i int) []byte {
	n := &t.Nodes[i]
	return t.Data[n.Start/8 : n.End/8]
}

// After is the index behind a node's subtree.
func (t *Tree) After(i int) int {
	if n := int(t.Nodes[i].Size); n > 0 {
		return i + n
	}
	return len(t.Nodes) // while it is being parsed
}

// structure returns the structure that a node stands in, -1 if it is the outermost one.
func (t *Tree) structure(i int) int {
	for i = int(t.Nodes[i].Parent); i >= 0 && t.Nodes[i].Flags&Array != 0; {
		i = int(t.Nodes[i].Parent)
	}
	return i
}

// Child returns the field of that id of a structure, -1 if there is none.
func (t *Tree) Child(i int, id string) int {
	if i < 0 || i >= len(t.Nodes) {
		return -1
	}
	for c, end := i+1, t.After(i); c < end; c = t.After(c) {
		if f := t.Nodes[c].Field; f != nil && f.ID == id {
			return c
		}
	}
	return -1
}

// Items returns how many items a repeated field has.
func (t *Tree) Items(i int) (n int) {
	for c, end := i+1, t.After(i); c < end; c = t.After(c) {
		n++
	}
	return n
}

// Path returns the name of a node, such as body.topics[1].name; "" is the message itself.
func (t *Tree) Path(i int) string {
	if i <= 0 {
		return ""
	}
	parent := int(t.Nodes[i].Parent)
	above := t.Path(parent)
	if parent >= 0 && t.Nodes[parent].Flags&Array != 0 {
		n := 0
		for c := parent + 1; c < i; c = t.After(c) {
			n++
		}
		return above + "[" + strconv.Itoa(n) + "]"
	}
	id := t.Nodes[i].Field.ID
	if id == "" {
		id = "_" // a terminator
	}
	if above == "" {
		return id
	}
	return above + "." + id
}

// Replace puts other bytes in the place of an aligned node, which has no fields of its own afterwards.
func (t *Tree) Replace(i int, data []byte) {
	n := &t.Nodes[i]
	from, to := int(n.Start/8), int(n.End/8)
	if extra := int(n.Size) - 1; extra > 0 {
		t.removeNodes(i+1, extra)
		n = &t.Nodes[i]
	}
	n.Type, n.Flags = nil, n.Flags&^Array
	t.Data = splice(t.Data, from, to, data)
	t.shift(i, int32(len(data)-(to-from))*8)
}

// Merge puts other bytes in the place of some nodes of one structure, from the first to the last of them, which become one
// field of any bytes. The first must begin and the last must end between bytes.
func (t *Tree) Merge(first, last int, data []byte) {
	from, end := int(t.Nodes[first].Start/8), t.Nodes[last].End
	if extra := t.After(last) - first - 1; extra > 0 {
		t.removeNodes(first+1, extra)
	}
	n := &t.Nodes[first]
	n.Field, n.Type, n.Flags, n.End, n.Size = restField, nil, 0, end, 1
	t.Data = splice(t.Data, from, int(end/8), data)
	t.shift(first, int32(len(data)*8)-(end-n.Start))
}

// shift moves what comes after node i, and ends its ancestors and itself later, by so many bits.
func (t *Tree) shift(i int, bits int32) {
	if bits == 0 {
		return
	}
	for j := t.After(i); j < len(t.Nodes); j++ {
		t.Nodes[j].Start += bits
		t.Nodes[j].End += bits
	}
	for ; i >= 0; i = int(t.Nodes[i].Parent) {
		t.Nodes[i].End += bits
	}
}

// resize changes the number of nodes of i and its ancestors.
func (t *Tree) resize(i int, by int32) {
	for ; i >= 0; i = int(t.Nodes[i].Parent) {
		t.Nodes[i].Size += by
	}
}

// removeNodes drops n nodes, which are whole subtrees below one parent, without a change of the bytes.
func (t *Tree) removeNodes(at, n int) {
	t.resize(int(t.Nodes[at].Parent), int32(-n))
	t.Nodes = append(t.Nodes[:at], t.Nodes[at+n:]...)
	for j := at; j < len(t.Nodes); j++ {
		if int(t.Nodes[j].Parent) >= at {
			t.Nodes[j].Parent -= int32(n)
		}
	}
}

// Remove takes an aligned node and its bytes out. The outermost node cannot be removed.
func (t *Tree) Remove(i int) {
	n := t.Nodes[i]
	t.Data = splice(t.Data, int(n.Start/8), int(n.End/8), nil)
	bits := n.Start - n.End
	for j := t.After(i); j < len(t.Nodes); j++ {
		t.Nodes[j].Start += bits
		t.Nodes[j].End += bits
	}
	for p := int(n.Parent); p >= 0; p = int(t.Nodes[p].Parent) {
		t.Nodes[p].End += bits
	}
	t.removeNodes(i, int(n.Size))
}

// Insert puts a copy of node j of src, with its bytes, in front of node at; at may also be the index behind the last
// child of parent. Both places must be aligned. src may be t.
func (t *Tree) Insert(parent, at int, src *Tree, j int) {
	start := t.Nodes[parent].End
	if at < t.After(parent) {
		start = t.Nodes[at].Start
	}
	sub := &src.Nodes[j]
	n, from := int(sub.Size), sub.Start
	bits := sub.End - from
	data, nodes := src.Data[from/8:sub.End/8], src.Nodes[j:j+n]
	if src == t { // what is copied moves while it is
		data, nodes = slices.Clone(data), slices.Clone(nodes)
	}
	t.Data = splice(t.Data, int(start/8), int(start/8), data)
	for k := at; k < len(t.Nodes); k++ {
		t.Nodes[k].Start += bits
		t.Nodes[k].End += bits
		if int(t.Nodes[k].Parent) >= at {
			t.Nodes[k].Parent += int32(n)
		}
	}
	for p := parent; p >= 0; p = int(t.Nodes[p].Parent) {
		t.Nodes[p].End += bits
		t.Nodes[p].Size += int32(n)
	}
	t.Nodes = slices.Insert(t.Nodes, at, nodes...)
	for k := range n {
		c := &t.Nodes[at+k]
		c.Start += start - from
		c.End += start - from
		c.Parent += int32(at - j)
	}
	t.Nodes[at].Parent = int32(parent)
}

// Swap exchanges two nodes, of which i comes first and does not contain j. Both must be aligned.
func (t *Tree) Swap(i, j int, scratch *Tree) {
	scratch.CopyFrom(t)
	first, second := int(t.Nodes[i].Parent), int(t.Nodes[j].Parent)
	t.Remove(j)
	t.Insert(second, j, scratch, i)
	t.Remove(i)
	t.Insert(first, i, scratch, j)
}

// splice puts data in the place of from:to.
func splice(buf []byte, from, to int, data []byte) []byte {
	old, grow := len(buf), len(data)-(to-from)
	if grow > 0 {
		buf = slices.Grow(buf, grow)[:old+grow]
		copy(buf[to+grow:], buf[to:old])
	} else if grow < 0 {
		buf = append(buf[:to+grow], buf[to:]...)
	}
	copy(buf[from:], data)
	return buf
}

// Repeat puts so many further copies of an aligned node behind it.
func (t *Tree) Repeat(i, times int) {
	n := t.Nodes[i]
	size, bits := int(n.Size), n.End-n.Start
	from, to, end := int(n.Start/8), int(n.End/8), t.After(i)
	t.Data = slices.Grow(t.Data, times*(to-from))
	t.Data = t.Data[:len(t.Data)+times*(to-from)]
	copy(t.Data[to+times*(to-from):], t.Data[to:])
	for k := range times {
		copy(t.Data[to+k*(to-from):], t.Data[from:to])
	}
	all, added := int32(times)*bits, int32(times*size)
	for p := n.Parent; p >= 0; p = t.Nodes[p].Parent {
		t.Nodes[p].End += all
		t.Nodes[p].Size += added
	}
	t.Nodes = slices.Grow(t.Nodes, int(added))
	t.Nodes = t.Nodes[:len(t.Nodes)+int(added)]
	copy(t.Nodes[end+int(added):], t.Nodes[end:])
	for j := end + int(added); j < len(t.Nodes); j++ {
		t.Nodes[j].Start += all
		t.Nodes[j].End += all
		if int(t.Nodes[j].Parent) >= end {
			t.Nodes[j].Parent += added
		}
	}
	for k := range times {
		for j := range size {
			c := t.Nodes[i+j]
			c.Start += int32(k+1) * bits
			c.End += int32(k+1) * bits
			if j > 0 {
				c.Parent += int32((k + 1) * size)
			}
			t.Nodes[end+k*size+j] = c
		}
	}
}

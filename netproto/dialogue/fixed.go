package dialogue

import (
	"bytes"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// A span is what lies between fixed fields: fields of one structure that stand side by side, all of which may be changed.
type span struct{ first, last int } // nodes

// may reports whether a field may be changed. What is in it may differ from that.
func (m *Mutator) may(f *model.Field) bool { return f.Mutable && (m.allowed == nil || m.allowed[f]) }

// whole reports whether a node and all that is in it may be changed.
func (m *Mutator) whole(t *model.Tree, i int) bool {
	for end := t.After(i); i < end; i++ {
		if !m.may(t.Nodes[i].Field) {
			return false
		}
	}
	return true
}

// movable reports whether a node may be left out, repeated or moved: nothing in it is fixed, or it is one of the items of
// a repeated field, each of which has such a field.
func (m *Mutator) movable(t *model.Tree, i int) bool {
	return m.whole(t, i) || t.Nodes[t.Nodes[i].Parent].Flags&model.Array != 0
}

// fixed reports whether some part of a message may not be changed.
func (m *Mutator) fixed(msg *Message) bool {
	if len(msg.Nodes) == 0 {
		return m.allowed != nil
	}
	for i := 1; i < len(msg.Nodes); i++ {
		if !m.may(msg.Nodes[i].Field) {
			return true
		}
	}
	return false
}

// spans collects the parts of a message that may be changed. With named fields each field is one, as it has to be found
// again; otherwise fields side by side are, so that changes cross their borders.
func (m *Mutator) spans(t *model.Tree) []span {
	m.between = m.between[:0]
	if len(t.Nodes) > 0 {
		m.within(t, 0)
	}
	return m.between
}

func (m *Mutator) within(t *model.Tree, parent int) {
	apart := m.allowed != nil || t.Nodes[parent].Flags&model.Array != 0
	open := false
	for i, end := parent+1, t.After(parent); i < end; i = t.After(i) {
		n := &t.Nodes[i]
		switch {
		case !m.whole(t, i):
			open = false
			if n.Field.Mutable && !t.Leaf(i) {
				m.within(t, i)
			}
		case open:
			m.between[len(m.between)-1].last = i
		case n.Start&7 == 0 && (!apart || n.End&7 == 0):
			m.between = append(m.between, span{i, i})
			open = !apart
		}
	}
	m.trim(t)
}

// trim makes the last span end between bytes.
func (m *Mutator) trim(t *model.Tree) {
	last := len(m.between) - 1
	if last < 0 {
		return
	}
	s := &m.between[last]
	for t.Nodes[s.last].End&7 != 0 {
		if s.last == s.first {
			m.between = m.between[:last]
			return
		}
		i := s.first
		for t.After(i) < s.last {
			i = t.After(i)
		}
		s.last = i
	}
}

// changeSpan changes the bytes of a part of a message, longer ones more often. It reports whether there is one.
func (m *Mutator) changeSpan(r *teasel.Rand, msg *Message, change func(old []byte) bool) bool {
	all := m.spans(&msg.Tree)
	sum := 0
	for _, s := range all {
		sum += m.spanWeight(&msg.Tree, s)
	}
	if sum == 0 {
		return false
	}
	x := r.IntN(sum)
	for _, s := range all {
		if x -= m.spanWeight(&msg.Tree, s); x < 0 {
			old := msg.Data[msg.Nodes[s.first].Start/8 : msg.Nodes[s.last].End/8]
			return change(old) && m.putSpan(msg, s, m.buf)
		}
	}
	return false
}

func (m *Mutator) spanWeight(t *model.Tree, s span) int {
	return 1 + int(t.Nodes[s.last].End-t.Nodes[s.first].Start)/8
}

// putSpan gives a part of a message other bytes. Its fields are where they were if there are as many; otherwise they are
// looked for again, and where they are not found, the part becomes one field.
func (m *Mutator) putSpan(msg *Message, s span, data []byte) bool {
	t := &msg.Tree
	from, to := int(t.Nodes[s.first].Start/8), int(t.Nodes[s.last].End/8)
	if len(data) == to-from {
		markBroken(t, from, data)
		copy(t.Data[from:], data)
		return true
	}
	if m.allowed != nil || s.first == s.last && t.Nodes[t.Nodes[s.first].Parent].Flags&model.Array != 0 {
		return m.put(t, s.first, data)
	}
	if len(t.Data)-(to-from)+len(data) > m.maxBytes() {
		return false
	}
	kept := m.fixedBytes(t)
	t.Merge(s.first, s.last, data)
	if m.Model == nil {
		return true
	}
	if kind := m.Model.Message(msg.Name); kind != nil && kind.Parse(&m.scratch, t.Data) == nil && bytes.Equal(m.fixedBytes(&m.scratch), kept) {
		t.CopyFrom(&m.scratch)
	}
	return true
}

// fixedBytes returns the bytes of all fields that may not be changed, one after another.
func (m *Mutator) fixedBytes(t *model.Tree) (out []byte) {
	for i := 1; i < len(t.Nodes); i++ {
		if n := &t.Nodes[i]; t.Leaf(i) && !m.free(t, i) {
			out = append(out, t.Data[n.Start/8:(n.End+7)/8]...)
		}
	}
	return out
}

// free reports whether a node may be changed: neither it nor what it is a part of is immutable.
func (m *Mutator) free(t *model.Tree, i int) bool {
	if !m.may(t.Nodes[i].Field) {
		return false
	}
	for p := t.Nodes[i].Parent; p > 0; p = t.Nodes[p].Parent {
		if !t.Nodes[p].Field.Mutable {
			return false
		}
	}
	return true
}

// setBytes gives a message other bytes. Its fields are where they were if there are as many bytes, and derived ones that
// changed stay as they are; otherwise they are looked for again. It reports false, and changes nothing, if that would
// change what is fixed.
func (m *Mutator) setBytes(msg *Message, data []byte) bool {
	if m.fixed(msg) {
		return m.setBetween(msg, data)
	}
	if len(data) == len(msg.Data) {
		markBroken(&msg.Tree, 0, data)
		copy(msg.Data, data)
		return true
	}
	if m.Model != nil {
		if kind := m.Model.Message(msg.Name); kind != nil && kind.Parse(&msg.Tree, data) == nil {
			return true
		}
	}
	msg.SetRaw(data)
	return true
}

// setBetween gives a message with fixed fields other bytes, if all that differs lies in one part that may be changed.
func (m *Mutator) setBetween(msg *Message, data []byte) bool {
	old := msg.Data
	head := 0
	for head < min(len(old), len(data)) && old[head] == data[head] {
		head++
	}
	tail := 0
	for tail < min(len(old), len(data))-head && old[len(old)-1-tail] == data[len(data)-1-tail] {
		tail++
	}
	for _, s := range m.spans(&msg.Tree) {
		from, to := int(msg.Nodes[s.first].Start/8), int(msg.Nodes[s.last].End/8)
		if from <= head && len(old)-tail <= to {
			return m.putSpan(msg, s, data[from:len(data)-(len(old)-to)])
		}
	}
	return false
}

// markBroken notes which derived fields other bytes, from a byte on, make wrong.
func markBroken(t *model.Tree, from int, data []byte) {
	for i := range t.Nodes {
		n := &t.Nodes[i]
		a, b := int(n.Start/8), int(n.End+7)/8
		if a < from || b > from+len(data) || !t.Leaf(i) || bytes.Equal(data[a-from:b-from], t.Data[a:b]) {
			continue
		}
		if t.Derived(i) {
			n.Flags |= model.Broken
		}
	}
}

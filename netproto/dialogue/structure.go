package dialogue

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// maxFields is how many fields a message may have for more to be added.
const maxFields = 4096

// structural changes which fields a message has.
func (m *Mutator) structural(r *teasel.Rand, op Operator, d *Dialogue, t *model.Tree) bool {
	if op == OpOptional {
		return m.addField(r, t)
	}
	i := m.place(r, t, func(i int) bool { return t.Aligned(i) && t.Nodes[i].End > t.Nodes[i].Start && m.movable(t, i) })
	if i < 0 {
		return false
	}
	switch op {
	case OpDuplicate:
		return m.duplicate(r, t, i)
	case OpDrop:
		f, parent := t.Nodes[i].Field, int(t.Nodes[i].Parent)
		t.Remove(i)
		if f.Optional() && r.IntN(2) == 0 { // and the message says so
			t.Satisfy(parent, f.If, false)
		}
		return true
	}
	return m.swapFields(r, t, i)
}

// duplicate repeats a field, mostly once.
func (m *Mutator) duplicate(r *teasel.Rand, t *model.Tree, i int) bool {
	times := 1
	switch r.IntN(8) {
	case 0:
		times = 1 + r.IntN(16)
	case 1:
		times = 1 + r.IntN(1024)
	}
	size := len(t.Bytes(i))
	if room := (m.maxBytes() - len(t.Data)) / size; times > room {
		times = room
	}
	if room := (maxFields - len(t.Nodes)) / int(t.Nodes[i].Size); times > room {
		times = room
	}
	if times <= 0 {
		return false
	}
	t.Repeat(i, times)
	return true
}

// swapFields exchanges a node with one of the others of its structure.
func (m *Mutator) swapFields(r *teasel.Rand, t *model.Tree, i int) bool {
	parent := int(t.Nodes[i].Parent)
	m.nodes = m.nodes[:0]
	for j := parent + 1; j < t.After(parent); j = t.After(j) {
		if j != i && t.Aligned(j) && m.movable(t, j) {
			m.nodes = append(m.nodes, j)
		}
	}
	if len(m.nodes) == 0 {
		return false
	}
	j := m.nodes[r.IntN(len(m.nodes))]
	t.Swap(min(i, j), max(i, j), &m.scratch)
	return true
}

// addField adds an optional field or an item.
func (m *Mutator) addField(r *teasel.Rand, t *model.Tree) bool {
	var space [16]*model.Field
	var owners [16]int
	all := space[:0]
	for i := range t.Nodes {
		before := len(all)
		all = t.Absent(i, all)
		if len(all) > len(owners) {
			all = all[:before]
			break
		}
		for k := before; k < len(all); k++ {
			owners[k] = i
		}
	}
	if len(all) == 0 || len(t.Nodes) > maxFields {
		return false
	}
	k := r.IntN(len(all))
	return m.may(all[k]) && t.Add(owners[k], all[k], &m.scratch)
}

// bytes changes the bytes of a message; of one with fixed fields, those between them.
func (m *Mutator) bytes(r *teasel.Rand, op Operator, d *Dialogue, msg *Message) bool {
	if op == OpInvalid { // all are switched off
		return false
	}
	if op == OpSplice && len(d.Messages) > 1 {
		from := &d.Messages[r.IntN(len(d.Messages))]
		if from != msg {
			return m.spliceBytes(r, msg, from.Data)
		}
	}
	mutate := func(old []byte) bool {
		m.buf = m.Bytes.Mutate(r, m.buf, old)
		return true
	}
	if m.fixed(msg) {
		return m.changeSpan(r, msg, mutate)
	}
	return mutate(msg.Data) && m.setBytes(msg, m.buf)
}

// spliceBytes puts the head of a message and the tail of other bytes together.
func (m *Mutator) spliceBytes(r *teasel.Rand, msg *Message, other []byte) bool {
	splice := func(old []byte) bool {
		m.buf = append(m.buf[:0], old[:r.IntN(len(old)+1)]...)
		m.buf = append(m.buf, other[r.IntN(len(other)+1):]...)
		return len(m.buf) <= m.maxBytes()
	}
	if m.fixed(msg) {
		return m.changeSpan(r, msg, splice)
	}
	return splice(msg.Data) && m.setBytes(msg, m.buf)
}

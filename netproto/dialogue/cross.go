package dialogue

import (
	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// Cross makes one dialogue of two: both side by side, each with a client of its own, the first messages of a and the last ones of b, a message of b within a, or a with a
// field as b has it.
func (m *Mutator) Cross(r *teasel.Rand, dst, a, b *Dialogue) *Dialogue {
	m.prepare()
	if dst == nil {
		dst = &Dialogue{}
	}
	dst.CopyFrom(a)
	if len(a.Messages) == 0 || len(b.Messages) == 0 {
		dst.CopyFrom(b)
		return dst
	}
	from := &b.Messages[r.IntN(len(b.Messages))]
	switch r.IntN(5) {
	case 0:
		m.beside(r, dst, b)
	case 1:
		head := r.IntN(len(a.Messages) + 1)
		dst.resize(head)
		for i := r.IntN(len(b.Messages)); i < len(b.Messages) && len(dst.Messages) < m.maxMessages(); i++ {
			m.insert(dst, len(dst.Messages), &b.Messages[i])
		}
	case 2:
		if len(dst.Messages) < m.maxMessages() {
			m.insert(dst, r.IntN(len(dst.Messages)+1), from)
		}
	default:
		if !m.transplant(r, dst, from) {
			m.spliceBytes(r, &dst.Messages[r.IntN(len(dst.Messages))], from.Data)
		}
	}
	return dst
}

// transplant replaces a field in a message by the same field of another one.
func (m *Mutator) transplant(r *teasel.Rand, d *Dialogue, from *Message) bool {
	if len(from.Nodes) < 2 || m.Mode == ByteLevel {
		return false
	}
	j := 1 + r.IntN(len(from.Nodes)-1)
	if !from.Aligned(j) || !m.whole(&from.Tree, j) {
		return false
	}
	for range len(d.Messages) {
		msg := &d.Messages[r.IntN(len(d.Messages))]
		for i := 1; i < len(msg.Nodes); i++ {
			n := &msg.Nodes[i]
			if n.Field != from.Nodes[j].Field || n.Flags&model.Array != from.Nodes[j].Flags&model.Array || !msg.Aligned(i) || !m.whole(&msg.Tree, i) || !m.free(&msg.Tree, i) {
				continue
			}
			if len(msg.Data)+len(from.Bytes(j)) > m.maxBytes() {
				return false
			}
			msg.Insert(int(n.Parent), i, &from.Tree, j)
			msg.Remove(i + int(from.Nodes[j].Size))
			msg.Derive(nil)
			return true
		}
	}
	return false
}

// Join puts dialogues one after another, each on a connection of its own unless the model says that connections are kept.
func (m *Mutator) Join(ins []*Dialogue) *Dialogue {
	d := &Dialogue{}
	for _, in := range ins {
		for i := range in.Messages {
			m.insert(d, len(d.Messages), &in.Messages[i])
			if !in.used(in.Messages[i].Client, i) && len(d.Messages) > 1 && (m.Model == nil || !m.Model.Connection.Keep) {
				d.Messages[len(d.Messages)-1].Reconnect = true
			}
		}
	}
	return d
}

// Parts returns how many messages a dialogue has.
func (m *Mutator) Parts(in *Dialogue) int { return len(in.Messages) }

// Keep implements [teasel.Joiner]. Messages that were on two connections of a client still are, though those between them are left out.
func (m *Mutator) Keep(in *Dialogue, parts []int) *Dialogue {
	d := &Dialogue{}
	var closed [MaxClients]bool // since the last message that was kept
	next := 0
	for _, i := range parts {
		for ; next <= i; next++ {
			c := &in.Messages[next]
			closed[c.Client] = closed[c.Client] || c.Reconnect
		}
		m.insert(d, len(d.Messages), &in.Messages[i])
		client := in.Messages[i].Client
		d.Messages[len(d.Messages)-1].Reconnect = closed[client] && d.used(client, len(d.Messages)-1)
		closed[client] = false
	}
	d.compact()
	return d
}

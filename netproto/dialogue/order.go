package dialogue

import (
	"github.com/teaselfuzz/teasel"
)

// reorder applies an operator on the order of messages.
func (m *Mutator) reorder(r *teasel.Rand, op Operator, d *Dialogue) bool {
	n := len(d.Messages)
	if n == 0 && op != OpMessageInsert {
		return false
	}
	switch op {
	case OpMessageDrop:
		if n > 1 {
			d.remove(r.IntN(n))
			return true
		}
	case OpMessageDouble:
		return m.double(r, d)
	case OpMessageSwap:
		if n > 1 {
			i, j := r.IntN(n), r.IntN(n)
			d.Messages[i], d.Messages[j] = d.Messages[j], d.Messages[i]
			return i != j
		}
	case OpMessageReplace, OpMessageInsert:
		from := m.foreign(r, d)
		if from == nil {
			return false
		}
		if op == OpMessageReplace {
			d.Messages[r.IntN(n)].copyFrom(from)
			return true
		}
		if n < m.maxMessages() {
			m.insert(d, r.IntN(n+1), from)
			return true
		}
	case OpMessageCut:
		if n > 1 {
			d.Messages = d.Messages[:1+r.IntN(n-1)]
			return true
		}
	case OpMessageNoWait:
		msg := &d.Messages[r.IntN(n)]
		msg.NoWait = !msg.NoWait
		return true
	case OpReconnect:
		if n > 1 {
			msg := &d.Messages[1+r.IntN(n-1)]
			msg.Reconnect = !msg.Reconnect
			return true
		}
	case OpClient:
		return reassign(r, d)
	case OpBeside:
		if 2*n <= m.maxMessages() && d.Clients() < MaxClients {
			twin := &Dialogue{}
			twin.CopyFrom(d)
			m.beside(r, d, twin)
			return true
		}
	}
	return false
}

// foreign draws a message that belongs elsewhere: mostly one of the model's, also one of the dialogue.
func (m *Mutator) foreign(r *teasel.Rand, d *Dialogue) *Message {
	if len(m.samples) > 0 && (len(d.Messages) == 0 || r.IntN(4) > 0) {
		return &m.samples[r.IntN(len(m.samples))].Messages[0]
	}
	if len(d.Messages) == 0 {
		return nil
	}
	copied := Message{} // the one that is drawn moves when it is put elsewhere
	copied.copyFrom(&d.Messages[r.IntN(len(d.Messages))])
	return &copied
}

// double sends a message again right behind it, mostly once.
func (m *Mutator) double(r *teasel.Rand, d *Dialogue) bool {
	times := 1
	if r.IntN(8) == 0 {
		times = 1 + r.IntN(32)
	}
	i := r.IntN(len(d.Messages))
	copied := Message{}
	copied.copyFrom(&d.Messages[i])
	for k := range times {
		if len(d.Messages) >= m.maxMessages() {
			return k > 0
		}
		m.insert(d, i+1, &copied)
	}
	return true
}

// remove takes a message out and keeps its memory for later.
func (d *Dialogue) remove(i int) {
	gone := d.Messages[i]
	last := len(d.Messages) - 1
	copy(d.Messages[i:], d.Messages[i+1:])
	d.Messages[last] = gone
	d.Messages = d.Messages[:last]
}

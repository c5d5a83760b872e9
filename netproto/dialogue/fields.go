package dialogue

import (
	"strings"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/model"
)

// allow works out which fields may be changed when the settings name some. A named field stands for all that is in it.
func (m *Mutator) allow() {
	if len(m.Fields) == 0 || m.Model == nil {
		return
	}
	m.allowed = map[*model.Field]bool{}
	for _, name := range m.Fields {
		message, path, _ := strings.Cut(name, ".")
		found := false
		for _, kind := range m.Model.Messages {
			if message != "*" && kind.Name != message {
				continue
			}
			var t model.Tree
			if s := m.Model.Sample(kind.Name); s != nil {
				t.CopyFrom(&s.Tree)
			}
			for i := range t.Nodes {
				if p := t.Path(i); path == "" || p == path || strings.HasPrefix(p, path+".") || strings.HasPrefix(p, path+"[") {
					m.allowed[t.Nodes[i].Field], found = true, true
				}
			}
		}
		if !found {
			m.missing = append(m.missing, name)
		}
	}
}

// places collects the nodes that an operator may change: want says of each whether it fits.
func (m *Mutator) places(t *model.Tree, want func(i int) bool) []int {
	m.nodes = m.nodes[:0]
	for i := 1; i < len(t.Nodes); i++ {
		f := t.Nodes[i].Field
		if !f.Mutable {
			i = t.After(i) - 1
			continue
		}
		if m.may(f) && want(i) {
			m.nodes = append(m.nodes, i)
		}
	}
	return m.nodes
}

// place draws one of the nodes that fit, -1 if there is none.
func (m *Mutator) place(r *teasel.Rand, t *model.Tree, want func(i int) bool) int {
	all := m.places(t, want)
	if len(all) == 0 {
		return -1
	}
	i := all[r.IntN(len(all))]
	for range 3 {
		if n := &t.Nodes[i]; n.Field.Kind != model.Bits || r.IntN(8) < int(n.End-n.Start) {
			break
		}
		i = all[r.IntN(len(all))] // a flag has one other value, so it is drawn less often
	}
	return i
}

// isBytes reports whether a node is bytes or text that may have any length.
func isBytes(t *model.Tree, i int) bool {
	return t.Leaf(i) && !t.Nodes[i].Field.Fixed() && !t.Nodes[i].Field.Kind.Number() && t.Aligned(i)
}

// field applies an operator on fields to a message. It reports whether the operator fitted.
func (m *Mutator) field(r *teasel.Rand, op Operator, d *Dialogue, msg *Message) bool {
	t := &msg.Tree
	ok := false
	switch op {
	case OpInvalid: // all are switched off
		return false
	case OpDuplicate, OpDrop, OpReorder, OpOptional:
		ok = m.structural(r, op, d, t)
	case OpLie:
		ok = m.lie(r, t)
	case OpStale:
		ok = m.stale(r, t)
	case OpMend:
		ok = mend(t)
	case OpFieldCopy:
		ok = m.copyField(r, d, t)
	case OpExpand, OpShrink, OpRepeat:
		if i := m.place(r, t, func(i int) bool { return isBytes(t, i) }); i >= 0 {
			ok = m.resizeField(r, op, t, i)
		}
	default:
		if i := m.place(r, t, t.Leaf); i >= 0 {
			ok = m.leaf(r, op, t, i)
		}
	}
	if ok {
		t.Derive(nil)
	}
	return ok
}

// leaf changes the value of one field. A derived one does not become right again.
func (m *Mutator) leaf(r *teasel.Rand, op Operator, t *model.Tree, i int) bool {
	derived := t.Derived(i)
	ok := false
	switch {
	case op == OpBitFlip:
		ok = m.flip(r, t, i)
	case op == OpFieldBytes:
		ok = m.mutateField(r, t, i)
	case t.Nodes[i].Field.Kind.Number():
		ok = m.changeNumber(r, op, t, i)
	case isBytes(t, i):
		ok = m.changeBytes(r, op, t, i)
	default: // contents and floats
		ok = m.mutateField(r, t, i)
	}
	if ok && derived {
		t.Nodes[i].Flags |= model.Broken
	}
	return ok
}

// flip inverts a share of a field's bits, at least one.
func (m *Mutator) flip(r *teasel.Rand, t *model.Tree, i int) bool {
	n := &t.Nodes[i]
	bits := int(n.End - n.Start)
	if bits == 0 {
		return false
	}
	ratio := m.Bytes.BitRatio
	if ratio <= 0 {
		ratio = 0.01
	}
	for range max(1+r.IntN(4), int(float64(bits)*ratio)) {
		t.FlipBit(i, r.IntN(bits))
	}
	return true
}

// mutateField changes the bytes of a field as if they were an input of their own.
func (m *Mutator) mutateField(r *teasel.Rand, t *model.Tree, i int) bool {
	if !t.Aligned(i) {
		return m.flip(r, t, i)
	}
	m.buf = m.Bytes.Mutate(r, m.buf, t.Bytes(i))
	return m.put(t, i, m.buf)
}

// put replaces a field's bytes, if the message does not become too long. A field of a certain width keeps it.
func (m *Mutator) put(t *model.Tree, i int, data []byte) bool {
	old := t.Bytes(i)
	if f := t.Nodes[i].Field; f.Fixed() && f.Kind != model.Literal {
		copy(old, data)
		return true
	}
	if len(t.Data)-len(old)+len(data) > m.maxBytes() {
		return false
	}
	t.Replace(i, data)
	return true
}

// lie breaks a derived field.
func (m *Mutator) lie(r *teasel.Rand, t *model.Tree) bool {
	i := m.place(r, t, func(i int) bool { return t.Leaf(i) && t.Derived(i) })
	if i < 0 {
		return false
	}
	n := &t.Nodes[i]
	n.Flags |= model.Broken
	v, ok := t.Number(i)
	if !ok {
		return m.mutateField(r, t, i)
	}
	top := limitOf(t, i)
	switch r.IntN(9) {
	case 0:
		v++
	case 1:
		v--
	case 2:
		v = 0
	case 3:
		v = int64(top)
	case 4:
		v = int64(top / 2) // the largest signed one
	case 5:
		v = int64(top/2 + 1)
	case 6:
		v += int64(1 + r.IntN(255))
	case 7:
		v *= 2
	default:
		v = int64(r.Uint64() & top)
	}
	return t.SetNumber(i, v)
}

// stale leaves a derived field as it is while another field changes.
func (m *Mutator) stale(r *teasel.Rand, t *model.Tree) bool {
	i := m.place(r, t, func(i int) bool { return t.Leaf(i) && t.Derived(i) })
	if i < 0 {
		return false
	}
	j := m.place(r, t, func(j int) bool { return j != i && isBytes(t, j) })
	if j < 0 {
		return false
	}
	t.Nodes[i].Flags |= model.Broken
	op := OpExpand
	if r.IntN(2) == 0 && len(t.Bytes(j)) > 0 {
		op = OpShrink
	}
	return m.resizeField(r, op, t, j)
}

// mend makes all broken fields right.
func mend(t *model.Tree) (any bool) {
	for i := range t.Nodes {
		if t.Nodes[i].Flags&model.Broken != 0 {
			t.Nodes[i].Flags &^= model.Broken
			any = true
		}
	}
	return any && t.Derive(nil)
}

// copyField writes the value of another field of the dialogue.
func (m *Mutator) copyField(r *teasel.Rand, d *Dialogue, t *model.Tree) bool {
	i := m.place(r, t, t.Leaf)
	from := &d.Messages[r.IntN(len(d.Messages))].Tree
	if i < 0 || len(from.Nodes) < 2 {
		return false
	}
	start := r.IntN(len(from.Nodes))
	for k := range from.Nodes {
		j := (start + k) % len(from.Nodes)
		if j == 0 || from == t && j == i || !from.Leaf(j) {
			continue
		}
		if v, ok := from.Number(j); ok {
			if t.SetNumber(i, v) {
				return m.breakIfDerived(t, i)
			}
			continue
		}
		if isBytes(t, i) && isBytes(from, j) && string(t.Bytes(i)) != string(from.Bytes(j)) {
			m.buf = append(m.buf[:0], from.Bytes(j)...)
			return m.put(t, i, m.buf)
		}
	}
	return false
}

func (m *Mutator) breakIfDerived(t *model.Tree, i int) bool {
	if t.Derived(i) {
		t.Nodes[i].Flags |= model.Broken
	}
	return true
}

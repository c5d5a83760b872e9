package dialogue

import (
	"github.com/teaselfuzz/teasel/netproto/model"
)

// Step returns the k-th ordered change of src. First the order of messages: each is left out, sent twice, sent without the
// one before it having been answered, and followed by each kind of message that the model has. Then each field of each
// message: its limits and the values that the model knows; every derived one broken in each way; no bytes, and each popular
// size; left out, written twice. All fields have their first step before any has its second: a dialogue has more steps than
// there is time for, where a server is slow. With a negative OrderShare the order of messages has no steps. A step that would leave src as it is inverts a bit of the field.
func (m *Mutator) Step(k uint64, dst, src *Dialogue) (*Dialogue, bool) {
	m.prepare()
	if dst == nil {
		dst = &Dialogue{}
	}
	for i := range src.Messages {
		if m.OrderShare < 0 {
			break
		}
		n := uint64(3 + len(m.samples))
		if k < n {
			dst.CopyFrom(src)
			m.stepOrder(dst, i, int(k))
			return dst, true
		}
		k -= n
	}
	if m.Mode == ByteLevel {
		return m.stepBytes(k, dst, src)
	}
	at, k, found := m.fieldStep(k, src)
	if !found {
		return m.stepBytes(k, dst, src)
	}
	dst.CopyFrom(src)
	t := &dst.Messages[at.message].Tree
	m.stepField(t, at.node, int(k))
	if equal(dst, src) {
		dst.CopyFrom(src)
		invert(t, at.node)
	}
	return dst, true
}

// steppable is a field of a dialogue and how many steps it has.
type steppable struct{ message, node, steps int }

// fieldStep returns the field that has the k-th step of all fields, and which of its own that is; or that there are fewer, and
// how many are left of k.
func (m *Mutator) fieldStep(k uint64, src *Dialogue) (at steppable, own uint64, found bool) {
	m.fields = m.fields[:0]
	most := 0
	for i := range src.Messages {
		t := &src.Messages[i].Tree
		if len(t.Nodes) == 0 {
			continue
		}
		for _, node := range m.places(t, func(int) bool { return true }) {
			s := steppable{i, node, m.stepsOf(t, node)}
			m.fields = append(m.fields, s)
			most = max(most, s.steps)
		}
	}
	for own = range uint64(most) {
		for _, at = range m.fields {
			if at.steps <= int(own) {
				continue
			}
			if k == 0 {
				return at, own, true
			}
			k--
		}
	}
	return at, k, false
}

// stepBytes takes the steps of the bytes of messages that have no fields.
func (m *Mutator) stepBytes(k uint64, dst, src *Dialogue) (*Dialogue, bool) {
	for i := range src.Messages {
		msg := &src.Messages[i]
		if len(msg.Nodes) > 0 && m.Mode != ByteLevel {
			continue
		}
		if !m.fixed(msg) {
			n := m.byteSteps(msg.Data)
			if k < n {
				dst.CopyFrom(src)
				out, ok := m.Bytes.Step(k, m.buf[:0], msg.Data)
				m.buf = out
				return dst, ok && m.setBytes(&dst.Messages[i], out)
			}
			k -= n
			continue
		}
		for _, s := range m.spans(&msg.Tree) {
			part := msg.Data[msg.Nodes[s.first].Start/8 : msg.Nodes[s.last].End/8]
			n := m.byteSteps(part)
			if k < n {
				dst.CopyFrom(src)
				out, ok := m.Bytes.Step(k, m.buf[:0], part)
				m.buf = out
				return dst, ok && m.putSpan(&dst.Messages[i], s, out)
			}
			k -= n
		}
	}
	return dst, false
}

// byteSteps is how many steps bytes have. It is found by halving, since the number of steps is not known otherwise.
func (m *Mutator) byteSteps(data []byte) uint64 {
	low, high := uint64(0), uint64(1)
	has := func(k uint64) bool {
		_, ok := m.Bytes.Step(k, m.buf[:0], data)
		return ok
	}
	for has(high - 1) {
		low, high = high, 2*high
	}
	for low < high {
		if mid := (low + high) / 2; has(mid) {
			low = mid + 1
		} else {
			high = mid
		}
	}
	return low
}

func (m *Mutator) stepOrder(d *Dialogue, i, k int) {
	switch k {
	case 0:
		d.remove(i)
		return
	case 1:
		copied := Message{}
		copied.copyFrom(&d.Messages[i])
		m.insert(d, i, &copied)
		return
	case 2:
		d.Messages[i].NoWait = !d.Messages[i].NoWait
		return
	}
	m.insert(d, i+1, &m.samples[k-3].Messages[0])
}

// lies are the ways in which a derived field is broken by steps.
const lies = 6

// stepsOf is how many steps a field has: one for each value, and two that leave it out and write it twice.
func (m *Mutator) stepsOf(t *model.Tree, i int) int {
	n := m.valuesOf(t, i)
	if t.Aligned(i) && m.movable(t, i) {
		n += 2
	}
	return n
}

// valuesOf is how many values steps give a field.
func (m *Mutator) valuesOf(t *model.Tree, i int) (n int) {
	f := t.Nodes[i].Field
	switch {
	case !t.Leaf(i):
	case f.Kind.Number():
		n = boundaries + 3*len(m.known(f))
		if t.Derived(i) {
			n += lies
		}
		if f.Kind == model.Digits {
			n += len(badDigits)
		}
	case isBytes(t, i):
		n = 1 + len(sizes) + len(badTexts)
	default:
		n = 1
	}
	return n
}

func (m *Mutator) stepField(t *model.Tree, i, k int) {
	if values := m.valuesOf(t, i); k >= values {
		if k == values {
			t.Remove(i)
		} else {
			t.Repeat(i, 1)
		}
		t.Derive(nil)
		return
	}
	f := t.Nodes[i].Field
	switch {
	case f.Kind.Number():
		if t.Derived(i) {
			t.Nodes[i].Flags |= model.Broken
		}
		m.stepNumber(t, i, k)
	case isBytes(t, i):
		m.stepText(t, i, k)
	default:
		invert(t, i)
	}
	t.Derive(nil)
}

func (m *Mutator) stepNumber(t *model.Tree, i, k int) {
	if k < boundaries {
		t.SetNumber(i, boundary(limitOf(t, i), k))
		return
	}
	k -= boundaries
	known := m.known(t.Nodes[i].Field)
	if k < 3*len(known) {
		t.SetNumber(i, known[k/3].Value+int64(k%3)-1)
		return
	}
	k -= 3 * len(known)
	if t.Derived(i) {
		if k < lies {
			v, _ := t.Number(i)
			t.SetNumber(i, [lies]int64{v + 1, v - 1, v + 2, 2 * v, v / 2, v + 255}[k])
			return
		}
		k -= lies
	}
	m.put(t, i, []byte(badDigits[k]))
}

func (m *Mutator) stepText(t *model.Tree, i, k int) {
	if k == 0 {
		m.put(t, i, nil)
		return
	}
	if k--; k >= len(sizes) {
		m.put(t, i, []byte(badTexts[k-len(sizes)]))
		return
	}
	m.buf = append(m.buf[:0], t.Bytes(i)...)
	for len(m.buf) < sizes[k] {
		m.buf = append(m.buf, 'A')
	}
	m.put(t, i, m.buf[:sizes[k]])
}

// invert flips a bit of a field, or gives it a byte if it has none.
func invert(t *model.Tree, i int) {
	if n := &t.Nodes[i]; n.End > n.Start {
		t.FlipBit(i, int(n.End-n.Start)-1)
		n.Flags |= model.Broken
		return
	}
	t.Replace(i, []byte{0})
}

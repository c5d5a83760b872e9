package dialogue

import (
	"bytes"

	"github.com/teaselfuzz/teasel/netproto/model"
)

// Simplify returns the k-th simpler candidate of src: without some of its messages, halves first and then single ones; with the messages
// of one client sent by the first one; each message waited for and on the same connection as the one before; and then field by field: broken fields right again,
// parts of repeated fields and optional fields left out, bytes shorter, values plain. A message without fields becomes
// shorter as bytes do.
func (m *Mutator) Simplify(k uint64, dst, src *Dialogue) (*Dialogue, bool) {
	m.prepare()
	if dst == nil {
		dst = &Dialogue{}
	}
	n := len(src.Messages)
	for size := (n + 1) / 2; size > 0 && n > 1; size /= 2 {
		count := uint64((n + size - 1) / size)
		if k < count {
			to := n - int(k)*size
			without(dst, src, max(0, to-size), to)
			return dst, true
		}
		k -= count
	}
	if clients := uint64(src.Clients()); clients > 1 {
		if k < clients-1 {
			dst.CopyFrom(src)
			dst.renumber(func(c uint8) uint8 {
				if uint64(c) == k+1 {
					return 0
				}
				return c
			})
			return dst, true
		}
		if k -= clients - 1; k == 0 {
			dst.CopyFrom(src)
			dst.compact()
			return dst, true
		}
		k--
	}
	for i := range src.Messages {
		if k < 2 {
			dst.CopyFrom(src)
			if k == 0 {
				dst.Messages[i].NoWait = false
			} else {
				dst.Messages[i].Reconnect = false
			}
			return dst, true
		}
		k -= 2
	}
	for i := range src.Messages {
		c, left := m.simpler(k, &src.Messages[i])
		if c != nil {
			dst.CopyFrom(src)
			c(&dst.Messages[i])
			return dst, true
		}
		k = left
	}
	return dst, false
}

func without(dst, src *Dialogue, from, to int) {
	dst.resize(len(src.Messages) - (to - from))
	for i := range dst.Messages {
		j := i
		if i >= from {
			j += to - from
		}
		dst.Messages[i].copyFrom(&src.Messages[j])
	}
}

// simpler finds change k of one message; nil, and how many are left to go, if it has not so many.
func (m *Mutator) simpler(k uint64, msg *Message) (func(*Message), uint64) {
	if len(msg.Nodes) == 0 || !inStep(&msg.Tree) {
		n := byteCandidates(len(msg.Data))
		if k >= n {
			return nil, k - n
		}
		return func(msg *Message) {
			out, ok := m.Bytes.Simplify(k, m.buf[:0], msg.Data)
			m.buf = out
			if ok {
				msg.SetRaw(out)
			}
		}, 0
	}
	t := &msg.Tree
	broken := false
	for i := range t.Nodes {
		broken = broken || t.Nodes[i].Flags&model.Broken != 0
	}
	if broken {
		if k == 0 {
			return func(msg *Message) { mend(&msg.Tree) }, 0
		}
		k--
	}
	for i := 1; i < len(t.Nodes); i++ {
		if !t.Nodes[i].Field.Mutable {
			i = t.After(i) - 1
			continue
		}
		n := m.fieldCandidates(t, i)
		if k < n {
			return func(msg *Message) {
				m.simplerField(&msg.Tree, i, k)
				msg.Derive(nil)
			}, 0
		}
		k -= n
	}
	return nil, k
}

// inStep reports whether all bytes belong to the outermost field.
func inStep(t *model.Tree) bool { return int(t.Nodes[0].End) == 8*len(t.Data) }

// byteCandidates is how many candidates [mutate.Bytes.Simplify] has for n bytes.
func byteCandidates(n int) uint64 {
	if n == 0 {
		return 0
	}
	count := uint64(1)
	for size := (n + 1) / 2; ; size = (size + 1) / 2 {
		count += 2 * uint64((n+size-1)/size)
		if size == 1 {
			return count
		}
	}
}

// fieldCandidates is how many ways there are to make a field simpler.
func (m *Mutator) fieldCandidates(t *model.Tree, i int) uint64 {
	n := &t.Nodes[i]
	count := uint64(0)
	if n.Flags&model.Broken != 0 {
		count++
	}
	if m.removable(t, i) {
		count++
	}
	switch {
	case n.Flags&model.Array != 0:
		count += halvings(t.Items(i))
	case isBytes(t, i):
		count += 3 + halvings(len(t.Bytes(i)))
	case t.Leaf(i) && n.Field.Kind.Number():
		count += 2
	}
	return count
}

// halvings is how many cuts of n things there are: their second half, quarter and so on, and their first one.
func halvings(n int) (count uint64) {
	for ; n > 0; n /= 2 {
		count += 2
	}
	return count
}

// removable reports whether a field may be left out: it is optional, or an item, or there is another one of it.
func (m *Mutator) removable(t *model.Tree, i int) bool {
	n := &t.Nodes[i]
	if !t.Aligned(i) || !m.movable(t, i) {
		return false
	}
	if n.Field.Optional() || t.Nodes[n.Parent].Flags&model.Array != 0 {
		return true
	}
	for j := int(n.Parent) + 1; j < t.After(int(n.Parent)); j = t.After(j) {
		if j != i && t.Nodes[j].Field == n.Field {
			return true
		}
	}
	return false
}

func (m *Mutator) simplerField(t *model.Tree, i int, k uint64) {
	n := &t.Nodes[i]
	if n.Flags&model.Broken != 0 {
		if k == 0 {
			n.Flags &^= model.Broken
			return
		}
		k--
	}
	if m.removable(t, i) {
		if k == 0 {
			f, parent := n.Field, int(n.Parent)
			t.Remove(i)
			t.Satisfy(parent, f.If, false)
			return
		}
		k--
	}
	switch {
	case n.Flags&model.Array != 0:
		dropItems(t, i, k)
	case isBytes(t, i):
		simplerBytes(t, i, k)
	case k == 0:
		t.SetNumber(i, 0)
	default:
		if v, ok := t.Number(i); ok {
			t.SetNumber(i, v/2)
		}
	}
}

// dropItems leaves out a run of items: half of them, a quarter and so on, from the end or from the beginning.
func dropItems(t *model.Tree, i int, k uint64) {
	from, to := cutOf(t.Items(i), k)
	at := i + 1
	for range from {
		at = t.After(at)
	}
	for range to - from {
		if !t.Aligned(at) {
			return
		}
		t.Remove(at)
	}
}

// cutOf is the k-th cut of n things.
func cutOf(n int, k uint64) (from, to int) {
	size := (n + 1) / 2
	for range k / 2 {
		size = max(1, size/2)
	}
	if k%2 == 0 {
		return n - size, n
	}
	return 0, min(size, n)
}

func simplerBytes(t *model.Tree, i int, k uint64) {
	old := t.Bytes(i)
	switch k {
	case 0:
		t.Replace(i, nil)
		return
	case 1:
		t.Replace(i, bytes.Repeat([]byte{'0'}, len(old)))
		return
	case 2: // one byte
		t.Replace(i, []byte("0"))
		return
	}
	from, to := cutOf(len(old), k-3)
	t.Replace(i, append(bytes.Clone(old[:from]), old[to:]...))
}

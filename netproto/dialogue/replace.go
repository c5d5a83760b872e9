package dialogue

import "github.com/teaselfuzz/teasel/netproto/model"

// Replace makes dst a copy of src in which text stands for the length bytes from at on, counted over the bytes of all messages.
// Within one field that is a new value, and what follows from it, such as a length or a checksum, is computed anew. False: these
// bytes are not of one message, or are not to be changed.
func (m *Mutator) Replace(dst, src *Dialogue, at, length int, text string) (*Dialogue, bool) {
	m.prepare()
	if dst == nil {
		dst = &Dialogue{}
	}
	dst.CopyFrom(src)
	for i := range dst.Messages {
		msg := &dst.Messages[i]
		if at >= len(msg.Data) {
			at -= len(msg.Data)
			continue
		}
		if at+length > len(msg.Data) || len(msg.Data)-length+len(text) > m.maxBytes() {
			return dst, false
		}
		if !m.replaceInField(&msg.Tree, at, length, text) {
			m.buf = append(append(append(m.buf[:0], msg.Data[:at]...), text...), msg.Data[at+length:]...)
			return dst, m.setBytes(msg, m.buf)
		}
		return dst, true
	}
	return dst, false
}

// replaceInField reports whether the bytes are of one field, and that can hold the text.
func (m *Mutator) replaceInField(t *model.Tree, at, length int, text string) bool {
	node := -1
	for i := 1; i < len(t.Nodes); i++ {
		if n := &t.Nodes[i]; t.Leaf(i) && t.Aligned(i) && int(n.Start) <= 8*at && 8*(at+length) <= int(n.End) {
			node = i
			break
		}
	}
	if node < 0 || !m.free(t, node) || t.Nodes[node].Field.Fixed() && len(text) != length {
		return false
	}
	at -= int(t.Nodes[node].Start / 8)
	old := t.Bytes(node)
	m.buf = append(append(append(m.buf[:0], old[:at]...), text...), old[at+length:]...)
	derived := t.Derived(node)
	if !m.put(t, node, m.buf) {
		return false
	}
	if derived {
		t.Nodes[node].Flags |= model.Broken
	}
	t.Derive(nil)
	return true
}

package model

// Number returns the integer of a leaf; false if it has none.
func (t *Tree) Number(i int) (int64, bool) {
	n := &t.Nodes[i]
	if !t.Leaf(i) || !n.Field.Kind.Number() {
		return 0, false
	}
	f := n.Field
	width := int(n.End - n.Start)
	switch f.Kind {
	case Bits:
		return int64(readBits(t.Data, int(n.Start), width, f.Little)), true
	case Varint:
		return f.Varint.read(t.Bytes(i)), true
	case Digits:
		return readDigits(t.Bytes(i), f.Base), true
	}
	if width == 0 || width > 64 {
		return 0, false
	}
	v := readInt(t.Bytes(i), f.Little)
	if f.Kind == Signed {
		return signExtend(v, width), true
	}
	return int64(v), true
}

// SetNumber changes the integer of a leaf. What does not fit loses its high bits. It reports whether the bytes changed.
func (t *Tree) SetNumber(i int, v int64) bool {
	n := &t.Nodes[i]
	f := n.Field
	if old, ok := t.Number(i); !ok || old == v {
		return false
	}
	var buf [72]byte
	switch f.Kind {
	case Varint:
		return t.set(i, f.Varint.write(buf[:0], v))
	case Digits:
		return t.set(i, writeDigits(buf[:0], v, f.Base, f.Pad))
	case Bits:
		width := int(n.End - n.Start)
		if width < 64 {
			v &= 1<<width - 1
		}
		if readBits(t.Data, int(n.Start), width, f.Little) == uint64(v) {
			return false
		}
		writeBits(t.Data, int(n.Start), width, f.Little, uint64(v))
		return true
	}
	out := buf[:(n.End-n.Start)/8]
	writeInt(out, f.Little, uint64(v))
	return t.set(i, out)
}

// set replaces the bytes of a leaf and reports whether that changed anything.
func (t *Tree) set(i int, data []byte) bool {
	old := t.Bytes(i)
	if string(old) == string(data) {
		return false
	}
	if len(old) == len(data) {
		copy(old, data)
		return true
	}
	t.Data = splice(t.Data, int(t.Nodes[i].Start/8), int(t.Nodes[i].End/8), data)
	t.shift(i, int32(len(data)-int(t.Nodes[i].End-t.Nodes[i].Start)/8)*8)
	return true
}

// value returns what an expression sees of a node.
func (t *Tree) value(i int) value {
	if n, ok := t.Number(i); ok {
		return value{number: n}
	}
	n := &t.Nodes[i]
	if !t.Aligned(i) || n.End < n.Start { // a structure that is still being read has no end
		return value{}
	}
	return value{bytes: t.Bytes(i), text: true}
}

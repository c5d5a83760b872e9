package model

// Serialize appends the message as the values of its fields give it, each written in the plain form of its kind, and
// nothing else. For a message whose every byte is understood that is t.Data again.
func (t *Tree) Serialize(dst []byte) []byte {
	start := len(dst)
	for i := range t.Nodes {
		if !t.Leaf(i) {
			continue
		}
		n := &t.Nodes[i]
		f := n.Field
		if f.Kind == Bits {
			for len(dst) < start+int(n.End+7)/8 {
				dst = append(dst, 0)
			}
			v, _ := t.Number(i)
			writeBits(dst[start:], int(n.Start), f.Width, f.Little, uint64(v))
			continue
		}
		v, ok := t.Number(i)
		switch {
		case !ok:
			dst = append(dst, t.Bytes(i)...)
		case f.Kind == Varint:
			dst = f.Varint.write(dst, v)
		case f.Kind == Digits:
			dst = writeDigits(dst, v, f.Base, f.Pad)
		default:
			var buf [8]byte
			writeInt(buf[:f.Width/8], f.Little, uint64(v))
			dst = append(dst, buf[:f.Width/8]...)
		}
	}
	return dst
}

package dialogue

import (
	"bytes"
	"encoding/binary"
)

// Flags of a packed message.
const (
	packedReconnect = 1 << iota
	packedNoWait
	packedFields // there is a layout
	packedClient // it is not the first client's
)

// AppendPacked appends a dialogue in the form that [Codec.Unpack] reads. It takes less time than [Codec.Encode], and is not for files.
func AppendPacked(b []byte, in *Dialogue) []byte {
	b = binary.AppendUvarint(b, uint64(len(in.Messages)))
	for i := range in.Messages {
		m := &in.Messages[i]
		flags := byte(0)
		if m.Reconnect {
			flags |= packedReconnect
		}
		if m.NoWait {
			flags |= packedNoWait
		}
		if len(m.Nodes) > 0 {
			flags |= packedFields
		}
		if m.Client != 0 {
			flags |= packedClient
		}
		if b = append(b, flags); m.Client != 0 {
			b = append(b, m.Client)
		}
		b = appendText(b, m.Name)
		b = appendText(b, m.Data)
		if len(m.Nodes) > 0 {
			b = append(m.AppendLayout(b), '\n')
		}
	}
	return b
}

func appendText[T string | []byte](b []byte, s T) []byte {
	return append(binary.AppendUvarint(b, uint64(len(s))), s...)
}

// Unpack reads what AppendPacked wrote.
func (c Codec) Unpack(b []byte) *Dialogue {
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return n
	}
	part := func(n uint64) []byte {
		p := b[:n]
		b = b[n:]
		return p
	}
	d := &Dialogue{Messages: make([]Message, number())}
	for i := range d.Messages {
		m := &d.Messages[i]
		flags := part(1)[0]
		m.Reconnect, m.NoWait = flags&packedReconnect != 0, flags&packedNoWait != 0
		if flags&packedClient != 0 {
			m.Client = part(1)[0]
		}
		m.Name = string(part(number()))
		m.SetRaw(part(number()))
		if flags&packedFields == 0 {
			continue
		}
		var layout []byte
		layout, b, _ = bytes.Cut(b, []byte("\n"))
		if c.Model == nil {
			continue
		}
		if kind := c.Model.Message(m.Name); kind != nil {
			_ = kind.SetLayout(&m.Tree, m.Data, string(layout)) // what does not fit stays bytes
		}
	}
	return d
}

package script

import "encoding/binary"

// AppendPacked appends a script in a form that only [Unpack] reads.
func AppendPacked(b []byte, in *Script) []byte {
	b = append(b, byte(in.Start))
	b = appendPackedBytes(b, []byte(in.Check))
	b = binary.AppendUvarint(b, uint64(len(in.Steps)))
	for i := range in.Steps {
		s := &in.Steps[i]
		b = append(b, s.flags())
		b = binary.AppendUvarint(b, uint64(s.Times))
		b = appendPackedBytes(b, s.Line)
		b = appendPackedBytes(b, []byte(s.Head))
		b = appendPackedBytes(b, []byte(s.Asked))
	}
	return b
}

func appendPackedBytes(b, data []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

// Unpack returns the script that AppendPacked wrote.
func Unpack(b []byte) (out Script) {
	number := func() uint64 {
		n, size := binary.Uvarint(b)
		b = b[size:]
		return n
	}
	text := func() []byte {
		n := number()
		data := append([]byte(nil), b[:n]...)
		b = b[n:]
		return data
	}
	out.Start, b = Start(b[0]), b[1:]
	out.Check = string(text())
	out.Steps = make([]Step, number())
	for i := range out.Steps {
		flags := b[0]
		b = b[1:]
		out.Steps[i] = Step{
			NoWait: flags&1 != 0, NoNewline: flags&2 != 0, Close: flags&4 != 0,
			Times: int(number()), Line: text(), Head: string(text()), Asked: string(text()),
		}
	}
	return out
}

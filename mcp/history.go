package mcp

import "encoding/binary"

// How much of its past is kept of a server process.
const (
	historyScripts = 1024
	historyBytes   = 1 << 20
)

// history is a ring of the last scripts that a process has run, each as bytes in memory that is used again. Those that
// have kept it waiting are remembered as such and not told: with a few of them in it, a history takes too long to show.
type history struct {
	ring  [][]byte
	slow  []bool
	first int // index of the oldest
	count int
	bytes int
	added int // scripts that it was ever told of
}

// add remembers a script.
func (h *history) add(in *Script) {
	if h.ring == nil {
		h.ring, h.slow = make([][]byte, historyScripts), make([]bool, historyScripts)
	}
	if h.count == historyScripts {
		h.drop()
	}
	at := (h.first + h.count) % historyScripts
	b := appendPacked(h.ring[at][:0], in)
	h.ring[at], h.slow[at] = b, false
	h.count++
	h.added++
	h.bytes += len(b)
	for h.bytes > historyBytes && h.count > 1 {
		h.drop()
	}
}

// wait notes that the script which was added after so many has kept the process waiting.
func (h *history) wait(place int) {
	if i := h.count - (h.added - place); i >= 0 && i < h.count {
		h.slow[(h.first+i)%historyScripts] = true
	}
}

// drop forgets the oldest.
func (h *history) drop() {
	b := &h.ring[h.first]
	h.bytes -= len(*b)
	if cap(*b) > 16<<10 {
		*b = nil
	} else {
		*b = (*b)[:0]
	}
	h.first = (h.first + 1) % historyScripts
	h.count--
}

// before returns copies of what was run before the script that was added after so many, as far as it is still known.
func (h *history) before(place int) []Script { return h.scripts(h.added - place) }

// scripts returns copies of all but the last few and the slow ones, oldest first.
func (h *history) scripts(but int) []Script {
	n := h.count - but
	if n <= 0 {
		return nil
	}
	out := make([]Script, 0, n)
	for i := range n {
		if at := (h.first + i) % historyScripts; !h.slow[at] {
			out = append(out, unpack(h.ring[at]))
		}
	}
	return out
}

// appendPacked appends a script in a form that only unpack reads.
func appendPacked(b []byte, in *Script) []byte {
	b = append(b, byte(in.Start))
	b = appendPackedBytes(b, []byte(in.Check))
	b = binary.AppendUvarint(b, uint64(len(in.Steps)))
	for i := range in.Steps {
		s := &in.Steps[i]
		b = append(b, s.flags())
		b = binary.AppendUvarint(b, uint64(s.Times))
		b = appendPackedBytes(b, s.Line)
	}
	return b
}

func appendPackedBytes(b, data []byte) []byte {
	return append(binary.AppendUvarint(b, uint64(len(data))), data...)
}

func unpack(b []byte) (out Script) {
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
			Times: int(number()), Line: text(),
		}
	}
	return out
}

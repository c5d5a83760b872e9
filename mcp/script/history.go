package script

import "encoding/binary"

// How much of its past is kept of a server process.
const (
	historyScripts = 1024
	historyBytes   = 1 << 20
	historySpace   = 4 << 20 // of memory, beyond which it is not used again
)

// History is the last scripts that a process has run, as bytes one behind the other in memory that is used again. Those
// that have kept it waiting are remembered as such and not told: with a few of them in it, a history takes too long to
// show.
type History struct {
	ring   []ran // as many as may be known
	first  int   // index of the oldest
	count  int
	packed []byte // the scripts, behind some that are forgotten
	gone   int    // bytes of those
	Added  int    // scripts that it was ever told of
}

// ran is a script that a process has run.
type ran struct {
	size int // in bytes
	slow bool
}

// Add remembers a script.
func (h *History) Add(in *Script) {
	if h.ring == nil {
		h.ring = make([]ran, historyScripts)
	}
	if h.count == historyScripts {
		h.drop()
	}
	if h.gone > historyBytes {
		h.tidy()
	}
	before := len(h.packed)
	h.packed = AppendPacked(h.packed, in)
	h.ring[(h.first+h.count)%historyScripts] = ran{size: len(h.packed) - before}
	h.count++
	h.Added++
	for h.bytes() > historyBytes && h.count > 1 {
		h.drop()
	}
}

// bytes returns how many the scripts are.
func (h *History) bytes() int { return len(h.packed) - h.gone }

// drop forgets the oldest.
func (h *History) drop() {
	h.gone += h.ring[h.first].size
	h.first = (h.first + 1) % historyScripts
	h.count--
}

// tidy makes room of what is forgotten.
func (h *History) tidy() {
	to := h.packed[:0]
	if cap(to) > historySpace {
		to = nil
	}
	h.packed, h.gone = append(to, h.packed[h.gone:]...), 0
}

// Wait notes that the script which was added after so many has kept the process waiting.
func (h *History) Wait(place int) {
	if i := h.count - (h.Added - place); i >= 0 && i < h.count {
		h.ring[(h.first+i)%historyScripts].slow = true
	}
}

// Before returns copies of what was run before the script that was added after so many, as far as it is still known.
func (h *History) Before(place int) []Script { return h.Scripts(h.Added - place) }

// Scripts returns copies of all but the last few and the slow ones, oldest first.
func (h *History) Scripts(but int) []Script {
	n := h.count - but
	if n <= 0 {
		return nil
	}
	out, at := make([]Script, 0, n), h.gone
	for i := range n {
		k := h.ring[(h.first+i)%historyScripts]
		if !k.slow {
			out = append(out, Unpack(h.packed[at:at+k.size]))
		}
		at += k.size
	}
	return out
}

// AppendPacked appends a script in a form that only unpack reads.
func AppendPacked(b []byte, in *Script) []byte {
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
			Times: int(number()), Line: text(),
		}
	}
	return out
}

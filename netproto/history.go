package netproto

import "github.com/teaselfuzz/teasel/netproto/dialogue"

// How much of its past is kept of a server process: the last dialogues.
const (
	mostHistory  = 1024
	historyBytes = 1 << 20 // of their messages
)

// history has copies of the dialogues that the server has had since it was started.
type history struct {
	ring  []*dialogue.Dialogue
	next  int
	held  int
	bytes int
}

func (h *history) forget() { h.next, h.held, h.bytes = 0, 0, 0 }

func (h *history) add(d *dialogue.Dialogue) {
	if h.ring == nil {
		h.ring = make([]*dialogue.Dialogue, mostHistory)
	}
	if h.held == mostHistory {
		h.drop()
	}
	if h.ring[h.next] == nil {
		h.ring[h.next] = &dialogue.Dialogue{}
	}
	h.ring[h.next].CopyFrom(d)
	h.next = (h.next + 1) % mostHistory
	h.held++
	for h.bytes += d.Bytes(); h.bytes > historyBytes && h.held > 1; {
		i := h.drop()
		h.ring[i] = nil // it may be large
	}
}

// drop forgets the oldest dialogue and returns its place in the ring.
func (h *history) drop() int {
	i := h.place(h.held)
	h.bytes -= h.ring[i].Bytes()
	h.held--
	return i
}

// place returns where the last dialogue but n-1 is in the ring.
func (h *history) place(n int) int { return (h.next - n + mostHistory) % mostHistory }

// before returns copies of all but the last, oldest first.
func (h *history) before() (past []*dialogue.Dialogue) {
	for n := h.held; n > 1; n-- {
		d := &dialogue.Dialogue{}
		d.CopyFrom(h.ring[h.place(n)])
		past = append(past, d)
	}
	return past
}

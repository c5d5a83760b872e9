package netproto

import "github.com/teaselfuzz/teasel/netproto/dialogue"

// mostHistory is how many dialogues are remembered, the last ones.
const mostHistory = 1024

// history has copies of the dialogues that the server has had since it was started.
type history struct {
	ring []*dialogue.Dialogue
	next int
	held int
}

func (h *history) forget() { h.next, h.held = 0, 0 }

func (h *history) add(d *dialogue.Dialogue) {
	if h.ring == nil {
		h.ring = make([]*dialogue.Dialogue, mostHistory)
	}
	if h.ring[h.next] == nil {
		h.ring[h.next] = &dialogue.Dialogue{}
	}
	h.ring[h.next].CopyFrom(d)
	h.next = (h.next + 1) % mostHistory
	h.held = min(h.held+1, mostHistory)
}

// before returns copies of all but the last, oldest first.
func (h *history) before() (past []*dialogue.Dialogue) {
	for i := h.held; i > 1; i-- {
		d := &dialogue.Dialogue{}
		d.CopyFrom(h.ring[(h.next-i+2*mostHistory)%mostHistory])
		past = append(past, d)
	}
	return past
}

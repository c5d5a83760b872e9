package dialogue

import (
	"math"

	"github.com/teaselfuzz/teasel/netproto/model"
)

const (
	messageComplexity = 16
	brokenComplexity  = 4
	connectComplexity = 8
)

// Complexity counts bytes; a message, a broken field, a connection of its own, another client weigh some more. Of dialogues of one length
// those with more zeros and fewer bits are a little simpler.
func (m *Mutator) Complexity(in *Dialogue) float64 {
	if in == nil {
		return 0
	}
	var sum, small int
	for i := range in.Messages {
		msg := &in.Messages[i]
		sum += messageComplexity + len(msg.Data)
		if msg.NoWait {
			sum++
		}
		if msg.Reconnect {
			sum += connectComplexity
		}
		if msg.Client > 0 && !in.used(msg.Client, i) {
			sum += connectComplexity
		}
		for j := range msg.Nodes {
			if msg.Nodes[j].Flags&model.Broken != 0 {
				sum += brokenComplexity
			}
		}
		for _, b := range msg.Data {
			small += plainness(b)
		}
	}
	return float64(sum) + float64(small)/math.MaxInt32
}

// plainness is 0 for the plainest byte and at most 24.
func plainness(b byte) int {
	switch b {
	case 0:
		return 0
	case '0':
		return 1
	}
	n := 8
	for ; b != 0; b &= b - 1 {
		n += 2
	}
	return n
}

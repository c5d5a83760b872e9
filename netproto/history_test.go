package netproto

import (
	"testing"

	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// What is remembered are the last dialogues, so many and so many bytes of them.
func TestHistoryIsBounded(t *testing.T) {
	for _, tt := range []struct {
		name            string
		dialogues, size int
		want            int // that are remembered, but for the last
	}{{"few", 3, 10, 2}, {"many", 3000, 10, mostHistory - 1}, {"large", 3000, 1 << 16, historyBytes>>16 - 1}, {"one that is too large", 3, historyBytes + 1, 0}} {
		t.Run(tt.name, func(t *testing.T) {
			var h history
			for i := range tt.dialogues {
				d := dialogue.Dialogue{Messages: make([]dialogue.Message, 1)}
				d.Messages[0].Data = make([]byte, tt.size)
				d.Messages[0].Data[0] = byte(i)
				h.add(&d)
			}
			past := h.before()
			if len(past) != tt.want {
				t.Fatalf("%d dialogues, want %d", len(past), tt.want)
			}
			for i, d := range past {
				if want := byte(tt.dialogues - 1 - len(past) + i); d.Messages[0].Data[0] != want {
					t.Fatalf("dialogue %d is number %d, want %d", i, d.Messages[0].Data[0], want)
				}
			}
			h.forget()
			if past := h.before(); len(past) > 0 {
				t.Errorf("%d dialogues after a new start", len(past))
			}
		})
	}
}

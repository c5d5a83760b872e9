package netproto

import (
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// Messages are counted beside dialogues, and a long dialogue costs the scheduler energy, as a long input of a program does, whether the server
// counts edges or not.
func TestMessages(t *testing.T) {
	e := open(t, Target{Address: "stdio", Command: []string{"cat"}, Timeout: 10 * time.Second})
	s := teasel.NewScheduler()
	lengths := []int{1, 8, 48}
	for id, n := range lengths {
		in := dialogue.Raw(slices.Repeat([][]byte{[]byte("hello\n")}, n)...)
		o := teasel.Observation{Ask: teasel.Ask{Features: true, Trace: true}}
		if err := e.Exec(t.Context(), in, &o); err != nil {
			t.Fatal(err)
		}
		if int(o.Messages) != n {
			t.Errorf("%d messages are counted, want %d", o.Messages, n)
		}
		s.Add(teasel.Rating{ID: teasel.ID(id), Parent: teasel.Orphan, Complexity: 1, Work: o.Work})
	}
	r, energy := rand.New(rand.NewPCG(1, 2)), make([]float64, len(lengths))
	for range 10_000 {
		p, ok := s.Next(r)
		if !ok {
			t.Fatal("nothing to pick")
		}
		energy[p.ID] += p.Energy
	}
	if energy[0] < energy[1] || energy[1] < 2*energy[2] {
		t.Errorf("dialogues of %v messages get the energies %.0f", lengths, energy)
	}
}

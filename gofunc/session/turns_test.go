package session

import (
	"fmt"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// clocked are turns for one executor, with a clock of the test's. Every share has an executor that always wants to run, and
// step lets the one that runs do so for a slice.
type clocked struct {
	*Turns
	time  time.Time
	turns []*turn
	ran   []int // slices, by share
}

func newClocked() *clocked {
	c := &clocked{Turns: NewTurns(1, time.Second)}
	c.now = func() time.Time { return c.time }
	return c
}

func (c *clocked) join() *Share {
	w := &turn{share: c.Share()}
	c.turns, c.ran = append(c.turns, w), append(c.ran, 0)
	c.wait(w)
	return w.share
}

// wait is what enter does before it blocks.
func (c *clocked) wait(w *turn) {
	w.granted = make(chan struct{})
	c.waiting = append(c.waiting, w)
	c.grant()
}

func (c *clocked) step() {
	for i, w := range c.turns {
		if w.holds {
			c.ran[i]++
			c.time = c.time.Add(c.slice)
			c.release(w)
			c.wait(w)
			return
		}
	}
}

// Those that find nothing share the time equally. One that keeps finding testcases gets more of it, and when it finds no more,
// as much as the others.
func TestShares(t *testing.T) {
	c := newClocked()
	finds := c.join()
	c.join()
	c.join()
	for range 300 {
		c.step()
	}
	if got := fmt.Sprint(c.ran); got != "[100 100 100]" {
		t.Fatalf("slices %s, want equal ones", got)
	}
	for range 300 {
		if c.turns[0].holds {
			if err := finds.Report(teasel.Event{Kind: teasel.EventAdded}); err != nil {
				t.Fatal(err)
			}
		}
		c.step()
	}
	// A slice in which a testcase is found counts a third in the long run: recent tends to 1 + 1/2 + 1/4 and so on. That is 3 of 5
	// slices in one half of the time, and a third of the other.
	if n := c.ran[0] - 100; n < 130 || n > 150 {
		t.Errorf("%d of 300 slices for the one that finds something, want 140", n)
	}
	before := c.ran[0]
	for range 300 {
		c.step()
	}
	if n := c.ran[0] - before; n < 95 || n > 105 {
		t.Errorf("%d of 300 slices for one that finds nothing any more, want a third", n)
	}
}

// A campaign that joins late does not get all the time that the others have had before.
func TestLateShare(t *testing.T) {
	c := newClocked()
	c.join()
	for range 100 {
		c.step()
	}
	c.join()
	for range 100 {
		c.step()
	}
	if late := c.ran[1]; late < 49 || late > 51 {
		t.Errorf("%d of 100 slices for the late one, want half", late)
	}
}

// Nobody waits for a turn that lasts long, as that of an input that hangs, but there is one more turn for it only.
func TestLongTurn(t *testing.T) {
	all := NewTurns(1, time.Millisecond)
	hangs, quick, third := &turn{share: all.Share()}, &turn{share: all.Share()}, &turn{share: all.Share()}
	for _, w := range []*turn{hangs, quick} { // the first one does not come back
		if err := w.enter(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if all.free != 0 || !hangs.lapsed || quick.lapsed {
		t.Errorf("%d places are free; lapsed: %v, %v", all.free, hangs.lapsed, quick.lapsed)
	}
	hangs.leave()
	quick.leave()
	if err := third.enter(t.Context()); err != nil {
		t.Fatal(err)
	}
	if third.leave(); all.free != 1 || len(all.holding) != 0 {
		t.Errorf("%d places are free when nobody runs, and %d hold one", all.free, len(all.holding))
	}
}

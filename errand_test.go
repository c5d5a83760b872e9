package teasel_test

import (
	"testing"

	"github.com/teaselfuzz/teasel"
)

func takes() teasel.News { return teasel.News{Errands: true} }

func fatal(group string) teasel.Errand {
	return teasel.Errand{Worker: 1,
		Finding: teasel.Finding{History: [][]byte{[]byte("before")}, Rule: "exit", Severity: teasel.High, Group: group, Input: []byte("deadly " + group), Occurrences: 1}}
}

// errandHub has workers 0 and 1, and an errand on which worker 1 died.
func errandHub(t *testing.T) (h *teasel.Hub, l *events, zero, one teasel.Exchange) {
	l = &events{}
	h = &teasel.Hub{Reporters: []teasel.Reporter{l}}
	zero, one = h.Join(), h.Join()
	publish(t, zero, teasel.News{Worker: teasel.WorkerState{Number: 0}})
	publish(t, one, teasel.News{Worker: teasel.WorkerState{Number: 1}})
	if err := h.Errand(fatal("a")); err != nil {
		t.Fatal(err)
	}
	return h, l, zero, one
}

// An errand goes to one worker that takes errands, not to the one that died, and ends when that worker says so.
func TestErrand(t *testing.T) {
	h, l, zero, one := errandHub(t)
	news := takes()
	news.Worker.Number = 1
	if got := publish(t, one, news).Errands; len(got) != 0 {
		t.Errorf("the worker that died gets %v", got)
	}
	if got := publish(t, zero, teasel.News{}).Errands; len(got) != 0 {
		t.Errorf("a worker that takes none gets %v", got)
	}
	got := publish(t, zero, takes()).Errands
	if len(got) != 1 || string(got[0].Finding.Input) != "deadly a" || len(got[0].Finding.History) != 1 || got[0].ID == 0 {
		t.Fatalf("got %+v", got)
	}
	if err := h.Errand(fatal("b")); err != nil {
		t.Fatal(err)
	}
	if more := publish(t, zero, takes()).Errands; len(more) != 0 {
		t.Errorf("a worker with an errand gets %v", more)
	}
	f := got[0].Finding
	f.Stable, f.Tries = 3, 3
	more := publish(t, zero, teasel.News{Errands: true, Finished: []uint64{got[0].ID}, Findings: []teasel.Finding{f}}).Errands
	if len(more) != 1 || more[0].Finding.Group != "b" || more[0].ID == got[0].ID {
		t.Errorf("the next errand is %+v", more)
	}
	if err := h.Errand(fatal("a")); err != nil { // confirmed meanwhile
		t.Fatal(err)
	}
	if s := h.Summary(); len(s.Findings) != 1 || s.Findings[0].Occurrences != 2 || len(l.of(teasel.EventFound)) != 1 {
		t.Errorf("findings %+v", s.Findings)
	}
}

// An errand on which workers die goes to others a few times, then its finding is unconfirmed.
func TestErrandThatKills(t *testing.T) {
	h, l, zero, _ := errandHub(t)
	for deaths := range 3 {
		got := publish(t, zero, takes()).Errands
		if len(got) != 1 || got[0].Deaths != deaths {
			t.Fatalf("after %d deaths got %+v", deaths, got)
		}
		publish(t, zero, teasel.News{Died: true})
		zero = h.Join()
	}
	if got := publish(t, zero, takes()).Errands; len(got) != 0 {
		t.Errorf("after 3 deaths got %+v", got)
	}
	if u := l.of(teasel.EventUnconfirmed); len(u) != 1 || u[0].Finding.Group != "a" {
		t.Errorf("unconfirmed: %v", u)
	}
}

// The worker that died takes its own errand when it has been started again: there may be no other.
func TestErrandOfALoneWorker(t *testing.T) {
	h, _, zero, one := errandHub(t)
	publish(t, zero, teasel.News{Leaving: true})
	publish(t, one, teasel.News{Died: true})
	again := h.Join()
	news := takes()
	news.Worker.Number = 1
	if got := publish(t, again, news).Errands; len(got) != 1 {
		t.Errorf("got %v", got)
	}
}

// When the campaign is over, each errand is answered or its finding is reported as unconfirmed.
func TestErrandsAtTheEnd(t *testing.T) {
	h, l, zero, one := errandHub(t)
	publish(t, zero, takes())
	for range 2 {
		if err := h.Errand(fatal("b")); err != nil {
			t.Fatal(err)
		}
	}
	h.Stop("duration")
	publish(t, zero, teasel.News{Leaving: true})
	publish(t, one, teasel.News{Leaving: true})
	if err := h.Errand(fatal("c")); err != nil {
		t.Fatal(err)
	}
	if err := h.Progress(0); err != nil {
		t.Fatal(err)
	}
	groups := ""
	for _, e := range l.of(teasel.EventUnconfirmed) {
		groups += e.Finding.Group
	}
	if groups != "bac" {
		t.Errorf("unconfirmed: %q, want b, a and c once each", groups)
	}
}

// An errand that cannot be decoded is answered: its finding is unconfirmed, and the worker gets the next one.
func TestUndecodableErrand(t *testing.T) {
	leaks(t)
	h := &teasel.Hub{}
	for _, e := range []struct{ group, input, history string }{{"a", "bad input", "good"}, {"b", "good", "bad history"}} {
		if err := h.Errand(teasel.Errand{Worker: 1,
			Finding: teasel.Finding{History: [][]byte{[]byte(e.history)}, Rule: "exit", Severity: teasel.High, Group: e.group, Input: []byte(e.input)}}); err != nil {
			t.Fatal(err)
		}
	}
	h.Seed([]byte("seed"))
	c := bytesCampaign(newTrouble(0, 0))
	c.Codec, c.Errands, c.Runs = picky{}, true, 100_000
	if err := c.Work(t.Context(), h.Join(), 0); err != nil {
		t.Fatal(err)
	}
	if u := h.Summary().Unconfirmed; len(u) != 2 || u[0].Tries != 0 {
		t.Errorf("unconfirmed: %v", u)
	}
}

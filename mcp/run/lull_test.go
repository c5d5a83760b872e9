package run

import (
	"runtime"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// TestLull: time in which a server has work to do counts as far as it had a processor, and time in which it has none counts.
func TestLull(t *testing.T) {
	const second = time.Second
	for _, tt := range []struct {
		what  string
		looks []time.Duration // of the processor, used in each second
		busy  []bool
		want  time.Duration
	}{
		{"it works", []time.Duration{second, second}, []bool{true, true}, 0},
		{"on two processors", []time.Duration{2 * second, second}, []bool{true, true}, 0},
		{"it waits for something", []time.Duration{0, second / 100}, []bool{false, false}, 0},
		{"it gets a tenth", []time.Duration{second / 10, second / 10}, []bool{true, true}, 2 * second * 9 / 10},
		{"it waits, and then gets half", []time.Duration{0, second / 2}, []bool{false, true}, second / 2},
	} {
		at := time.Now()
		u := lull{looked: at, spent: second, used: second}
		used := u.used
		for i, d := range tt.looks {
			at, used = at.Add(second), used+d
			u.look(at, used, tt.busy[i])
		}
		if u.starved != tt.want {
			t.Errorf("%s: it was without a processor for %v, want %v", tt.what, u.starved, tt.want)
		}
	}
}

// TestStarved: of an answer that took long because others had the processors most of that time is not the server's, and of
// one for which it slept all is.
func TestStarved(t *testing.T) {
	e := open(t, lateTarget().aside(niceness))
	for range 2 * runtime.NumCPU() {
		p, err := proc.Start(proc.Command{Args: []string{"sh", "-c", "while :; do :; done"}})
		if err != nil {
			t.Fatal(err)
		}
		defer p.Close()
	}
	for _, message := range []string{"work", "block"} {
		tr, _ := execute(t, e, call("echo", `{"message":"`+message+`"}`))
		if len(tr.Received) != 1 {
			t.Fatalf("%s: %d answers came", message, len(tr.Received))
		}
		took, starved := tr.Received[0].At-tr.Sent[0].At, tr.Received[0].Starved
		switch {
		case message == "work" && starved < (took-lateWork-2*graceTime)/2:
			t.Errorf("an answer that took %v instead of %v had no processor for %v only", took, lateWork, starved)
		case message == "block" && starved > took/4:
			t.Errorf("a server that slept was without a processor for %v of %v", starved, took)
		}
		t.Logf("%s: %v, without a processor for %v", message, took, starved)
	}
}

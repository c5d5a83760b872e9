package proc

import (
	"os/exec"
	"testing"
	"time"
)

// A program that spins is given up as soon as it has used its limit. Looking only at each 64th pause, of which each takes as long as a busy
// machine makes it, it used many times of a small one.
func TestSpinsNoLonger(t *testing.T) {
	c := exec.Command("sh", "-c", "while :; do :; done")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = c.Process.Kill(); _ = c.Wait() }()
	q := NewQuiet(c.Process.Pid)
	defer q.Close()
	for range 16 { // it may get no processor while we pause
		w := wait{q: q, fd: -1, limit: time.Nanosecond, sleepLimit: time.Second}
		for {
			q.Look()
			a, err := w.pause(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if a == Spinning {
				break
			}
		}
		if w.pauses < 64 {
			return
		}
	}
	t.Error("it is always given up at a 64th pause")
}

package proc

import (
	"errors"
	"os/exec"
	"testing"
	"time"

	"golang.org/x/sys/unix"
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

// A program that gets a hundredth of a busy processor is given its limit all the same.
func TestStarvedIsNotStuck(t *testing.T) {
	spin := func(nice int) *exec.Cmd {
		t.Helper()
		c := exec.Command("sh", "-c", "while :; do :; done")
		if err := c.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			_ = c.Process.Kill()
			_ = c.Wait()
		})
		var first unix.CPUSet
		if err := unix.SchedGetaffinity(0, &first); err != nil {
			t.Fatal(err)
		}
		for cpu, found := 0, false; cpu < 1024; cpu++ { // the first of those that we may use
			if found {
				first.Clear(cpu)
			}
			found = found || first.IsSet(cpu)
		}
		if err := errors.Join(unix.SchedSetaffinity(c.Process.Pid, &first), unix.Setpriority(unix.PRIO_PROCESS, c.Process.Pid, nice)); err != nil {
			t.Fatal(err)
		}
		return c
	}
	spin(0)
	q := NewQuiet(spin(19).Process.Pid)
	defer q.Close()
	if a, err := q.Settle(t.Context(), -1, 10*time.Millisecond, 10*time.Millisecond); a != Spinning || err != nil {
		t.Errorf("it is %v, %v, want spinning", a, err)
	}
}

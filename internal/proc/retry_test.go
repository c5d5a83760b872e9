package proc

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// A program that cannot be started for a few seconds is started then; one that never can is given up, and what retrying does not help is not
// tried again.
func TestRestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		began, locked := time.Now(), errors.New("locked")
		for _, c := range []struct {
			blocked time.Duration
			retry   bool
			fails   bool
		}{{0, true, false}, {5 * time.Second, true, false}, {time.Minute, true, true}, {time.Second, false, true}} {
			began = time.Now()
			err := Restart(t.Context(), func() error {
				if time.Since(began) < c.blocked {
					return locked
				}
				return nil
			}, func(error) bool { return c.retry })
			if errors.Is(err, locked) != c.fails {
				t.Errorf("blocked for %v, retry %t: %v", c.blocked, c.retry, err)
			}
		}
		var pauses []time.Duration
		last := time.Now()
		_ = Restart(t.Context(), func() error {
			pauses = append(pauses, time.Since(last))
			last = time.Now()
			return locked
		}, func(error) bool { return true })
		if len(pauses) < 4 {
			t.Fatalf("pauses %v", pauses)
		}
		for i, p := range pauses[2:] {
			if p != 2*pauses[1+i] {
				t.Errorf("the pauses do not grow: %v", pauses)
			}
		}
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began = time.Now()
		if err := Restart(ctx, func() error { return locked }, func(error) bool { return true }); err == nil || time.Since(began) > time.Second {
			t.Errorf("%v after the end of the context: %v", time.Since(began)-time.Second, err)
		}
	})
}

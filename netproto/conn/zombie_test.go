package conn

import (
	"context"
	"testing"
	"time"
)

// A server that does not wait for the processes that it has forked sleeps all the same. Each of them ends once.
func TestZombies(t *testing.T) {
	s, err := open(t, "lines", "127.0.0.1:{port}")
	if err != nil {
		t.Fatal(err)
	}
	c, err := s.Connect(context.Background(), time.Second)
	if err != nil {
		t.Fatal(err)
	}
	const dialogues = 20
	for range dialogues {
		ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
		if _, err := s.Settle(ctx, nil, time.Second, time.Second); err != nil {
			t.Fatal(err)
		}
		cancel()
		if answer, state := talk(t, s, c, "zombie\n"); answer != "ZOMBIE\n" || state != Asleep {
			t.Fatalf("the answer is %q, the server %v", answer, state)
		}
	}
	// The last of them may still be ending.
	for deadline := time.Now().Add(time.Minute); s.Unreaped() < dialogues && time.Now().Before(deadline); {
		if _, err := s.Settle(context.Background(), nil, time.Second, time.Second); err != nil {
			t.Fatal(err)
		}
	}
	// Package os of the server forks once more, to see what the kernel has.
	if s.Unreaped() != dialogues || s.quiet.EndedCount() < dialogues {
		t.Errorf("%d processes are not waited for, %d have ended; want %d", s.Unreaped(), s.quiet.EndedCount(), dialogues)
	}
	if err := c.Close(); err != nil {
		t.Error(err)
	}
}

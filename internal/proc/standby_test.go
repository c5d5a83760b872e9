package proc

import (
	"context"
	"errors"
	"runtime"
	"sync/atomic"
	"testing"
)

// sleepers returns a Standby of programs that do nothing, the number of its starts, and checks that nothing is left of them.
func sleepers(t *testing.T) (*Standby[*Process], *atomic.Int64) {
	before := runtime.NumGoroutine()
	var starts atomic.Int64
	s := NewStandby(func(context.Context) (*Process, error) {
		starts.Add(1)
		return Start(Command{Args: []string{"sleep", "1000"}})
	})
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
		eventually(t, "all goroutines have ended", func() bool { return runtime.NumGoroutine() <= before })
	})
	return s, &starts
}

func take(t *testing.T, s *Standby[*Process]) *Process {
	t.Helper()
	p, err := s.Take(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.Close() })
	return p
}

func TestStandby(t *testing.T) {
	s, starts := sleepers(t)
	first := take(t, s) // none is ready
	if starts.Load() != 1 || s.Ready() != 0 {
		t.Errorf("after the first Take: %d starts, %d ready", starts.Load(), s.Ready())
	}
	s.Fill(3)
	eventually(t, "three are ready", func() bool { return s.Ready() == 3 })
	s.Fill(2) // there are enough
	oldest := s.ready[0]
	if p := take(t, s); p != oldest || p == first {
		t.Error("Take does not hand out the oldest one")
	}
	dead := s.ready[0]
	dead.Close()
	if n := s.Ready(); n != 1 {
		t.Errorf("%d are ready, want 1", n)
	}
	if p := take(t, s); p == dead || !p.Running() {
		t.Error("Take hands out one that has ended")
	}
	if starts.Load() != 4 {
		t.Errorf("%d starts, want 4", starts.Load())
	}
	left := []*Process{}
	s.Fill(2)
	eventually(t, "two are ready", func() bool { return s.Ready() == 2 })
	left = append(left, s.ready...)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, p := range left {
		if p.Running() || alive(p.PID()) {
			t.Errorf("process %d runs after Close", p.PID())
		}
	}
	s.Fill(2)
	if s.Ready() != 0 || starts.Load() != 6 {
		t.Errorf("Fill after Close starts something: %d ready, %d starts", s.Ready(), starts.Load())
	}
}

// Take waits for a start that is under way, and Close for one that it interrupts.
func TestStandbyUnderWay(t *testing.T) {
	errCut := errors.New("cut off")
	began, proceed := make(chan bool), make(chan bool)
	s := NewStandby(func(ctx context.Context) (*Process, error) {
		began <- true
		select {
		case <-proceed:
			return Start(Command{Args: []string{"sleep", "1000"}})
		case <-ctx.Done():
			return nil, errCut
		}
	})
	s.Fill(1)
	<-began
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := s.Take(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Take with a context that is done: %v", err)
	}
	taken := make(chan *Process)
	go func() {
		p, err := s.Take(context.Background())
		if err != nil {
			t.Error(err)
		}
		taken <- p
	}()
	proceed <- true // and no second start, which would wait for somebody to receive from began
	if err := (<-taken).Close(); err != nil {
		t.Error(err)
	}
	s.Fill(1)
	<-began
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// A start that fails is Take's own error, and is tried once for each call.
func TestStandbyFails(t *testing.T) {
	s := NewStandby(func(context.Context) (*Process, error) { return Start(Command{Args: []string{"/nowhere"}}) })
	s.Fill(2)
	if _, err := s.Take(context.Background()); err == nil {
		t.Error("no error from a command that does not exist")
	}
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

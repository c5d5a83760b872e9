package proc

import (
	"context"
	"errors"
	"slices"
	"sync"
)

// Member is what a Standby keeps: a [Process], or what the caller has put around one.
type Member interface {
	Running() bool
	Close() error // it must not return before nothing is left
}

// Standby starts members before they are needed, one after the other in the background, since most programs take longer to
// start than to be used. The start function decides how far one has got when it is handed out, such as that it has answered a
// first message. All methods may be called concurrently.
type Standby[M Member] struct {
	start func(context.Context) (M, error)

	mu       sync.Mutex
	ready    []M // the oldest first
	wanted   int
	started  chan struct{} // closed when the member being started in the background is ready, or has failed; nil: none is
	cancel   context.CancelFunc
	closed   bool
	starting sync.WaitGroup
}

// NewStandby returns a Standby that has started nothing yet. The context of start is done when the member is not needed any
// more, and start has to clean up after an error. The caller must call Close.
func NewStandby[M Member](start func(ctx context.Context) (M, error)) *Standby[M] {
	return &Standby[M]{start: start}
}

// Fill starts the members that are missing to have n ready, and does not wait for that. A smaller n than before ends none. A
// start that fails is not repeated before the next call.
func (s *Standby[M]) Fill(n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.wanted = n
	if s.closed || s.started != nil || len(s.ready) >= n {
		return
	}
	ctx, cancel := context.WithCancel(context.Background())
	s.started, s.cancel = make(chan struct{}), cancel
	s.starting.Go(func() {
		defer cancel()
		for s.startOne(ctx) {
		}
	})
}

// startOne starts a member in the background, and reports whether another one is wanted.
func (s *Standby[M]) startOne(ctx context.Context) (more bool) {
	m, err := s.start(ctx)
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.ready = append(s.ready, m) // Close waits for us, and finds it
	}
	close(s.started)
	if s.started = nil; err != nil || s.closed || len(s.ready) >= s.wanted {
		return false
	}
	s.started = make(chan struct{})
	return true
}

// Take hands out the oldest member that is ready and runs, which is the caller's from then on. If there is none it waits for
// the one that is being started, and otherwise starts one itself. The error is that of the start, or the context's.
func (s *Standby[M]) Take(ctx context.Context) (m M, err error) {
	for {
		m, ok, started := s.oldest()
		switch {
		case ok && m.Running():
			return m, nil
		case ok:
			_ = m.Close() // it has ended on its own, and nobody has used it
			continue
		case started == nil:
			return s.start(ctx)
		}
		select {
		case <-started:
		case <-ctx.Done():
			return m, ctx.Err()
		}
	}
}

// oldest removes the oldest member. If there is none, started is closed when the one that is being started may be ready; nil:
// none is.
func (s *Standby[M]) oldest() (m M, ok bool, started <-chan struct{}) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.ready) == 0 {
		return m, false, s.started
	}
	m = s.ready[0]
	s.ready = slices.Delete(s.ready, 0, 1)
	return m, true, nil
}

// Close ends the members that were not taken and those being started, and returns when they are gone. Take starts one itself
// afterwards, and Fill does nothing.
func (s *Standby[M]) Close() error {
	s.mu.Lock()
	s.closed = true
	if s.cancel != nil {
		s.cancel()
	}
	s.mu.Unlock()
	s.starting.Wait()
	var err error
	for m, ok, _ := s.oldest(); ok; m, ok, _ = s.oldest() {
		err = errors.Join(err, m.Close())
	}
	return err
}

// Ready returns how many members are ready and run.
func (s *Standby[M]) Ready() (n int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, m := range s.ready {
		if m.Running() {
			n++
		}
	}
	return n
}

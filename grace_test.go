package teasel_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// stoppingTarget stops its campaign in the middle of the tenth execution. That one crashes a moment later or, if stuck, never ends.
type stoppingTarget struct {
	stop  func()
	stuck bool
	calls int
}

func (s *stoppingTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return s, nil
}

func (s *stoppingTarget) Exec(ctx context.Context, _ []byte, obs *teasel.Observation) error {
	obs.Exit = teasel.ExitOK
	if s.calls++; s.calls != 10 {
		return nil
	}
	s.stop()
	ends := time.After(20 * time.Millisecond)
	if s.stuck {
		ends = nil
	}
	select {
	case <-ends:
		obs.Exit = teasel.ExitCrash
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (s *stoppingTarget) Close() error { return nil }

// What is in flight when a campaign is stopped is not lost, if it ends soon. If it does not, the campaign ends all the same.
func TestGrace(t *testing.T) {
	for _, stuck := range []bool{false, true} {
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		c := bytesCampaign(&stoppingTarget{stop: cancel, stuck: stuck})
		sum, err := c.Run(ctx)
		if err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if seen := len(sum.Findings) + len(sum.Unconfirmed); (seen == 1) == stuck {
			t.Errorf("stuck %v: %d findings", stuck, seen)
		}
	}
}

package teasel_test

import (
	"bytes"
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// staller is a target that hangs on an eighth of all inputs. The instance that is opened first says so at once; on any
// other one a hang lasts until the first has gone on.
type staller struct {
	crash   bool // instead, an eighth of all inputs kills it at once, and a fresh target has to be waited for
	refuses bool // there is only one instance at a time
	warm    bool // then: only before the first crash
	stops   bool // the campaign is broken off while a hang is shown again
	cancel  context.CancelFunc

	opened, closed atomic.Int32
	executions     atomic.Uint64 // of the first instance
	rests, looks   atomic.Int32
	stopped        atomic.Bool
}

type stalled struct {
	t     *staller
	first bool
}

var (
	_ teasel.Readier = (*stalled)(nil)
	_ teasel.Rester  = (*stalled)(nil)
)

func (t *staller) Open(_ context.Context, role teasel.Role) (teasel.Executor[[]byte], error) {
	t.opened.Add(1)
	if !role.Background {
		return &stalled{t, true}, nil
	}
	if t.refuses {
		return nil, errors.New("there is one already")
	}
	return &stalled{t, false}, nil
}

func (s *stalled) Rest() { s.t.rests.Add(1) }

func (s *stalled) Ready() bool {
	return !s.t.crash || !s.first || s.t.looks.Add(1) > 1 && s.t.warm
}

func (s *stalled) Close() error {
	s.t.closed.Add(1)
	return nil
}

func (s *stalled) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	if s.first {
		s.t.executions.Add(1)
	}
	if len(in) == 0 || in[0]%8 != 3 {
		return nil
	}
	o.Exit, o.Detail = teasel.ExitHang, "three"
	if s.t.crash {
		o.Exit = teasel.ExitCrash
	}
	if s.t.warm && in[0]%16 > 8 {
		o.Detail = "eleven"
	}
	if s.first {
		return nil
	}
	o.Evidence = "beside"
	if s.t.stops && s.t.stopped.CompareAndSwap(false, true) {
		s.t.cancel()
		<-ctx.Done()
		return ctx.Err()
	}
	for until := s.t.executions.Load() + 500; s.t.executions.Load() < until && !s.t.stopped.Load(); time.Sleep(time.Millisecond) {
		if ctx.Err() != nil {
			return ctx.Err()
		}
	}
	return nil
}

// What takes long to show again is shown beside the campaign, which goes on.
func TestConfirmer(t *testing.T) {
	for _, tt := range []struct {
		name     string
		target   *staller
		runs     uint64
		opened   int32
		findings int
	}{
		{"beside", &staller{}, 0, 2, 2},
		{"no fresh target", &staller{crash: true}, 0, 2, 2},
		{"there was none once", &staller{crash: true, warm: true}, 0, 2, 4},
		{"no other instance", &staller{refuses: true}, 0, 2, 1},
		{"broken off", &staller{stops: true}, 0, 2, 2},
		{"runs are counted", &staller{}, 4000, 1, 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			leaks(t)
			ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
			defer cancel()
			tt.target.cancel = cancel
			c := bytesCampaign(tt.target)
			c.Background, c.Runs, c.StopAfter = true, tt.runs, tt.findings
			hangs := teasel.DetectorFunc(func(o *teasel.Observation) (fs []teasel.Finding) {
				if o.Exit > teasel.ExitRejected {
					fs = append(fs, teasel.Finding{Rule: "hang", Subject: o.Detail, Severity: teasel.High})
				}
				if o.Evidence == "beside" { // is seen by the way
					fs = append(fs, teasel.Finding{Rule: "by the way", Subject: o.Detail, Severity: teasel.Medium})
				}
				return fs
			})
			c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{hangs} }
			s, err := c.Run(ctx)
			if err != nil || len(s.Findings) != tt.findings {
				t.Fatalf("findings %v, %v", s.Findings, err)
			}
			for _, f := range s.Findings {
				if f.Stable != f.Tries || f.Stable == 0 {
					t.Errorf("%s is shown again %d of %d times", f.Rule, f.Stable, f.Tries)
				}
			}
			if o := tt.target.opened.Load(); o != tt.opened {
				t.Errorf("%d instances were opened, want %d", o, tt.opened)
			}
			if beside := tt.opened == 2 && !tt.target.refuses; (tt.target.rests.Load() > 0) != beside {
				t.Errorf("it rested %d times", tt.target.rests.Load())
			}
			open := tt.target.opened.Load() - tt.target.closed.Load()
			if tt.target.refuses {
				open--
			}
			if open != 0 {
				t.Errorf("%d instances are left", open)
			}
		})
	}
}

// laggard is a target of which an execution seems to take no time, but one that has shown something takes a second and more
// when it is run again at once.
type laggard struct {
	seen  []byte // the input that showed it first
	gone  bool   // the campaign has gone on
	shows int    // times that it had not
}

type laggardExecutor struct {
	t     *laggard
	first bool
}

func (t *laggard) Open(_ context.Context, role teasel.Role) (teasel.Executor[[]byte], error) {
	return &laggardExecutor{t, !role.Background}, nil
}

func (e *laggardExecutor) Close() error { return nil }

func (e *laggardExecutor) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	if len(in) > 0 && in[0]%8 == 3 {
		o.Exit = teasel.ExitCrash
	}
	switch t := e.t; {
	case !e.first:
	case t.seen == nil && o.Exit == teasel.ExitCrash:
		t.seen = bytes.Clone(in)
	case t.seen != nil && !t.gone && bytes.Equal(in, t.seen):
		t.shows++
		time.Sleep(1100 * time.Millisecond)
	default:
		t.gone = t.seen != nil
	}
	return nil
}

// What turns out to take long to show is handed over to the confirmer after one try, whatever the executions say of themselves.
func TestHandOver(t *testing.T) {
	leaks(t)
	target := &laggard{}
	c := bytesCampaign(target)
	c.Background, c.StopAfter = true, 1
	c.NewDetectors = func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) (fs []teasel.Finding) {
			if o.Exit == teasel.ExitCrash {
				fs = append(fs, teasel.Finding{Rule: "crash", Subject: "it", Severity: teasel.High})
			}
			return fs
		})}
	}
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 1 {
		t.Fatalf("findings %v, %v", s.Findings, err)
	}
	if f := s.Findings[0]; !f.Confirmed() || f.Execution == 0 || target.shows != 1 {
		t.Errorf("the campaign waited %d times for %+v", target.shows, f)
	}
}

package teasel_test

import (
	"bytes"
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/teaselfuzz/teasel"
)

// hangingTarget is a target that hangs on an eighth of all inputs. The worker's instance says so at once; on the background one a
// hang lasts until the worker's has gone on.
type hangingTarget struct {
	crash   bool // instead, an eighth of all inputs kills it at once
	refuses bool // there is only one instance at a time
	fails   bool // the background instance has a failure that is ours
	stops   bool // the campaign is interrupted while a hang is reproduced
	cancel  context.CancelFunc

	opened, closed atomic.Int32
	executions     atomic.Uint64 // of the worker's instance
	stopped        atomic.Bool
}

type hangingExecutor struct {
	t          *hangingTarget
	background bool
}

func (t *hangingTarget) Open(_ context.Context, role teasel.Role) (teasel.Executor[[]byte], error) {
	if role.Background && t.refuses {
		return nil, errors.New("there is one already")
	}
	t.opened.Add(1)
	return &hangingExecutor{t, role.Background}, nil
}

func (s *hangingExecutor) Close() error {
	s.t.closed.Add(1)
	return nil
}

func (s *hangingExecutor) Exec(ctx context.Context, in []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	if !s.background {
		s.t.executions.Add(1)
	}
	if len(in) == 0 || in[0]%8 != 3 {
		return nil
	}
	o.Exit, o.Detail = teasel.ExitHang, "three"
	if s.t.crash {
		o.Exit = teasel.ExitCrash
	}
	if !s.background {
		return nil
	}
	if s.t.fails {
		return errors.New("lost the pipe")
	}
	o.Evidence = "background"
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

// hangs finds a hang, and something else that only shows on the background instance.
func hangs(o *teasel.Observation) (fs []teasel.Finding) {
	if o.Exit > teasel.ExitRejected {
		fs = append(fs, teasel.Finding{Rule: "hang", Subject: o.Detail, Severity: teasel.High})
	}
	if o.Evidence == "background" {
		fs = append(fs, teasel.Finding{Rule: "aside", Subject: o.Detail, Severity: teasel.Medium})
	}
	return fs
}

// With a background executor a finding is reproduced there, and the worker goes on fuzzing.
func TestBackground(t *testing.T) {
	for _, tt := range []struct {
		name     string
		target   *hangingTarget
		runs     uint64
		opened   int32
		findings int
		fails    bool
	}{
		{"hangs", &hangingTarget{}, 0, 2, 2, false},
		{"crashes", &hangingTarget{crash: true}, 0, 2, 2, false},
		{"no second instance", &hangingTarget{refuses: true}, 0, 1, 1, false},
		{"our failure", &hangingTarget{fails: true}, 0, 2, 0, true},
		{"runs are counted", &hangingTarget{}, 4000, 1, 1, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			leaks(t)
			c := bytesCampaign(tt.target)
			c.Background, c.Runs, c.StopAfter = true, tt.runs, tt.findings
			c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(hangs)} }
			var unconfirmed []teasel.Finding
			var notes []string
			c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
				switch e.Kind {
				case teasel.EventUnconfirmed:
					unconfirmed = append(unconfirmed, e.Finding)
				case teasel.EventNote:
					notes = append(notes, e.Text)
				}
				return nil
			})}
			s, err := c.Run(t.Context())
			if (err != nil) != tt.fails || len(s.Findings) != tt.findings {
				t.Fatalf("findings %v, %v", s.Findings, err)
			}
			for _, f := range s.Findings {
				if !f.Confirmed() {
					t.Errorf("%s is reproduced %d of %d times", f.Rule, f.Stable, f.Tries)
				}
			}
			if tt.fails && len(unconfirmed) == 0 {
				t.Error("the hang was seen, and is not reported as unconfirmed")
			}
			if (len(notes) > 0) != tt.target.refuses {
				t.Errorf("notes %q", notes)
			}
			if opened, closed := tt.target.opened.Load(), tt.target.closed.Load(); opened != tt.opened || closed != opened {
				t.Errorf("%d instances were opened, %d closed, want %d", opened, closed, tt.opened)
			}
		})
	}
}

// A campaign that is interrupted while a finding is reproduced in the background reports it all the same.
func TestBackgroundInterrupted(t *testing.T) {
	leaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	target := &hangingTarget{stops: true, cancel: cancel}
	c := bytesCampaign(target)
	c.Background = true
	c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{teasel.DetectorFunc(hangs)} }
	seen := map[string]bool{}
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventFound || e.Kind == teasel.EventUnconfirmed {
			seen[e.Finding.Rule] = true
		}
		return nil
	})}
	if s, err := c.Run(ctx); err != nil || s.Stopped != "interrupted" || !seen["hang"] {
		t.Errorf("stopped by %q, reported %v, %v", s.Stopped, seen, err)
	}
}

// queued is a target of which two inputs in three are slow to reproduce in the background, in different ways.
type queued struct {
	slow     atomic.Int32 // executions of slow ones in the background
	reported atomic.Bool  // the quick finding
}

type queuedExecutor struct {
	t          *queued
	background bool
}

func (q *queued) Open(_ context.Context, role teasel.Role) (teasel.Executor[[]byte], error) {
	return &queuedExecutor{q, role.Background}, nil
}

func (e *queuedExecutor) Close() error { return nil }

func (e *queuedExecutor) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	if len(in) == 0 || in[0] > 'h' || in[0] < 'a' {
		return nil
	}
	o.Exit, o.Detail = teasel.ExitCrash, string(in[:1])
	if in[0] != 'h' && e.background && !e.t.reported.Load() {
		e.t.slow.Add(1)
		time.Sleep(20 * time.Millisecond)
	}
	return nil
}

// A finding that is quick to reproduce does not wait for those that are not, whichever came first.
func TestBackgroundConfirmsQuickFindingsFirst(t *testing.T) {
	target := &queued{}
	c := bytesCampaign(target)
	c.Seeds = nil
	for _, first := range "abcdefgh" {
		c.Seeds = append(c.Seeds, append([]byte(string(first)), bytes.Repeat([]byte("x"), 40)...))
	}
	c.Background, c.StopAfter = true, 8
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventFound && e.Finding.Group == "h" {
			target.reported.Store(true)
		}
		return nil
	})}
	s, err := c.Run(t.Context())
	if err != nil || len(s.Findings) != 8 {
		t.Fatalf("findings %v, %v", s.Findings, err)
	}
	if n := target.slow.Load(); n > 60 { // one finding alone takes more to be minimised
		t.Errorf("the quick finding has waited for %d slow executions", n)
	}
	slices.SortFunc(s.Findings, func(a, b teasel.Finding) int { return bytes.Compare(a.Input, b.Input) })
	for i, f := range s.Findings {
		if want := string(rune('a' + i)); !f.Confirmed() || f.Group != want {
			t.Errorf("finding %s is reproduced %d of %d times", f.Group, f.Stable, f.Tries)
		}
	}
}

// noticing is a target that shows ever new findings for information, each of which takes a millisecond to reproduce in the background,
// and a critical one that takes thirty.
type noticing struct {
	*queued
	background bool
}

func (n noticing) Open(_ context.Context, role teasel.Role) (teasel.Executor[[]byte], error) {
	return noticing{n.queued, role.Background}, nil
}
func (noticing) Close() error { return nil }

func (n noticing) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Evidence = teasel.ExitOK, string(in)
	took := time.Millisecond
	if len(in) > 0 && in[0] == 'c' {
		took, o.Exit = 30*took, teasel.ExitCrash
	}
	switch {
	case !n.background:
		time.Sleep(time.Millisecond / 10)
	case !n.reported.Load():
		n.slow.Add(1)
		time.Sleep(took)
	}
	return nil
}

// A severe finding that is slow to reproduce does not wait for what is known to be harmless, however much of it there is.
func TestBackgroundPrefersSevereFindings(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		target := noticing{queued: &queued{}}
		c := bytesCampaign(target)
		c.Seeds = [][]byte{[]byte("a"), append([]byte("c"), bytes.Repeat([]byte("x"), 40)...)}
		c.Background, c.StopAfter, c.Duration = true, 1, time.Minute
		c.NewDetectors = func() []teasel.Detector {
			return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
				if o.Exit == teasel.ExitCrash {
					return []teasel.Finding{{Rule: "crash", Severity: teasel.Critical}}
				}
				return []teasel.Finding{{Rule: "note", Severity: teasel.Info, Group: o.Evidence.(string)}}
			})}
		}
		c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
			if e.Kind == teasel.EventFound && e.Finding.Rule == "crash" {
				target.reported.Store(true)
			}
			return nil
		})}
		s, err := c.Run(t.Context())
		if err != nil || len(s.Findings) == 0 || s.Findings[0].Rule != "crash" {
			t.Fatalf("findings %v, %v", s.Findings[:min(len(s.Findings), 3)], err)
		}
		if n := target.slow.Load(); n > 150 {
			t.Errorf("the crash has waited for %d executions in the background", n)
		}
	})
}

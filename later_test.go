package teasel_test

import (
	"context"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// tardy is a target, and the only instance of it, that dies of an eighth of all inputs and takes some executions to have
// another instance ready.
type tardy struct {
	ready      uint64 // executions
	end        uint64 // executions after which cancel is called; 0: never
	cancel     context.CancelFunc
	executions uint64
	told       uint64 // executions that had been made when the finding was told
}

func (t *tardy) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return t, nil }
func (t *tardy) Close() error                                                       { return nil }
func (t *tardy) Reset(context.Context) error                                        { return nil }
func (t *tardy) Ready() bool                                                        { return t.executions >= t.ready }
func (t *tardy) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if t.executions++; t.executions == t.end {
		t.cancel()
	}
	if o.Exit = teasel.ExitOK; len(in) > 0 && in[0]%8 == 3 {
		o.Exit, o.Detail = teasel.ExitCrash, "three"
	}
	return nil
}

func (t *tardy) Report(e teasel.Event) error {
	if e.Kind == teasel.EventFound && t.told == 0 {
		t.told = t.executions
	}
	return nil
}

var (
	_ teasel.Resetter = (*tardy)(nil)
	_ teasel.Readier  = (*tardy)(nil)
)

// A finding waits for a fresh target while the campaign goes on, and is told in any case.
func TestFindingsWaitForATarget(t *testing.T) {
	const runs, never = 40_000, 1 << 40
	for _, tt := range []struct {
		name        string
		target      tardy
		least, most uint64 // executions before it is told
	}{
		{"at once", tardy{ready: 0}, 1, 10_000},
		{"later", tardy{ready: 20_000}, 20_000, 30_000},
		{"at the last", tardy{ready: never}, runs, runs + 1000},
		{"at the end", tardy{ready: never, end: 20_000}, 20_000, 21_000},
	} {
		t.Run(tt.name, func(t *testing.T) {
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			target := &tt.target
			target.cancel = cancel
			c := bytesCampaign(target)
			c.Runs, c.Reporters = runs, []teasel.Reporter{target}
			s, err := c.Run(ctx)
			if err != nil || len(s.Findings) != 1 {
				t.Fatalf("findings %v, %v", s.Findings, err)
			}
			if f := s.Findings[0]; f.Stable != f.Tries || f.Execution > 10_000 || f.Occurrences < 1000 {
				t.Errorf("shown again %d of %d times, seen %d times, first in execution %d", f.Stable, f.Tries, f.Occurrences, f.Execution)
			}
			if target.told < tt.least || target.told > tt.most {
				t.Errorf("told after %d executions", target.told)
			}
		})
	}
}

// sluggish is a target that takes some time over three of its inputs, and says that it took long.
type sluggish struct {
	tardy
	untried []teasel.Finding
}

func (s *sluggish) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) { return s, nil }

func (s *sluggish) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	s.executions++
	if o.Exit = teasel.ExitOK; len(in) > 0 && in[0] >= 'x' && in[0] <= 'z' {
		time.Sleep(20 * time.Millisecond)
		o.Elapsed, o.Evidence = 2*time.Second, string(in[:1])
	}
	return nil
}

func (s *sluggish) Report(e teasel.Event) error {
	if e.Kind == teasel.EventUnconfirmed {
		s.untried = append(s.untried, e.Finding)
	}
	return nil
}

// What matters little and takes long to show again gets a small part of the time only, and what is left over of it is
// told for what it is.
func TestDearTriflesGetAPartOfTheTime(t *testing.T) {
	for _, tt := range []struct {
		severity       teasel.Severity
		found, untried int
	}{
		{teasel.Low, 1, 2},
		{teasel.Medium, 3, 0},
	} {
		target := &sluggish{}
		c := bytesCampaign(target)
		c.Runs, c.Reporters = 3000, []teasel.Reporter{target}
		slow := teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
			if letter, ok := o.Evidence.(string); ok {
				return []teasel.Finding{{Rule: "slow", Subject: letter, Severity: tt.severity}}
			}
			return nil
		})
		c.NewDetectors = func() []teasel.Detector { return []teasel.Detector{slow} }
		s, err := c.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(s.Findings) != tt.found || len(target.untried) != tt.untried {
			t.Errorf("%v: found %d, not tried %d, want %d and %d", tt.severity, len(s.Findings), len(target.untried), tt.found, tt.untried)
		}
		for _, f := range target.untried {
			if f.Tries != 0 {
				t.Errorf("%v: %s was tried %d times", tt.severity, f.Subject, f.Tries)
			}
		}
	}
}

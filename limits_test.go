package teasel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// noisyTarget shows a new finding for information with every execution, and crashes of an A in the end.
type noisyTarget struct{ runs int }

func (n *noisyTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return n, nil
}
func (*noisyTarget) Close() error { return nil }

func (n *noisyTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	n.runs++
	if o.Exit, o.Evidence = teasel.ExitOK, n.runs; n.runs > 8000 && len(in) > 0 && in[0] == 'A' {
		o.Exit = teasel.ExitCrash
	}
	return nil
}

// Findings that never repeat fill the room for their own severity only.
func TestDistinctFindingsBySeverity(t *testing.T) {
	c := bytesCampaign(&noisyTarget{})
	c.Runs, c.MinimizeRuns, c.Tries = 40_000, -1, 1
	c.NewDetectors = func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(teasel.Crashes), teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
			return []teasel.Finding{{Rule: "note", Severity: teasel.Info, Subject: "target", Group: fmt.Sprint(o.Evidence)}}
		})}
	}
	var notes []string
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		if e.Kind == teasel.EventNote {
			notes = append(notes, e.Text)
		}
		return nil
	})}
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) == 0 || s.Findings[0].Severity != teasel.Critical {
		t.Errorf("%d findings, the first %v, want a crash", len(s.Findings), s.Findings[:min(len(s.Findings), 1)])
	}
	if len(notes) != 1 || !strings.Contains(notes[0], "severity info") {
		t.Errorf("notes %q, want one on severity info", notes)
	}
}

// lostTarget dies of every batch, and does not say of which input.
type lostTarget struct{}

func (lostTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return lostTarget{}, nil
}
func (lostTarget) Close() error   { return nil }
func (lostTarget) BatchSize() int { return 8 }

func (lostTarget) Exec(_ context.Context, _ []byte, o *teasel.Observation) error {
	o.Exit = teasel.ExitOK
	return nil
}

func (lostTarget) ExecBatch(_ context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	for i := range ins {
		obs[i].Exit = teasel.ExitLost
	}
	return len(ins), nil
}

// That there were more deaths than there is time to look into is reported.
func TestManyDeathsAreReported(t *testing.T) {
	c := bytesCampaign(lostTarget{})
	c.Runs = 20_000
	s, err := c.Run(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if len(s.Findings) > 0 || len(s.Unconfirmed) != 1 || !strings.Contains(s.Unconfirmed[0].Message, "so often") {
		t.Errorf("findings %v, unconfirmed %v, want the deaths among the unconfirmed", s.Findings, s.Unconfirmed)
	}
}

// endlessSimplifier proposes what is no simpler, for ever.
type endlessSimplifier struct{ byteMutator }

func (endlessSimplifier) Simplify(_ uint64, dst, src []byte) ([]byte, bool) {
	return append(dst[:0], src...), true
}

// A mutator whose proposals do not end does not keep a campaign.
func TestEndlessSimplify(t *testing.T) {
	in, err := teasel.Minimize(t.Context(), endlessSimplifier{}, []byte("abc"), func(_ context.Context, in []byte) ([]byte, bool, error) { return in, true, nil })
	if err != nil || string(in) != "abc" {
		t.Errorf("%q, %v", in, err)
	}
}

// blockedTarget crashes for worker 0. For the other workers an execution lasts as long as its context.
type blockedTarget struct {
	execFunc
	blocked chan struct{} // closed when an execution lasts
}

func (b blockedTarget) Open(_ context.Context, r teasel.Role) (teasel.Executor[[]byte], error) {
	if r.Worker == 0 {
		return b.execFunc, nil
	}
	return b, nil
}

func (b blockedTarget) Exec(ctx context.Context, _ []byte, _ *teasel.Observation) error {
	close(b.blocked)
	<-ctx.Done()
	return ctx.Err()
}

// A campaign that is over does not wait for a target that does not come to an end.
func TestEndWhileATargetIsBlocked(t *testing.T) {
	leaks(t)
	blocked := make(chan struct{})
	c := bytesCampaign(blockedTarget{execFunc(func(in []byte, o *teasel.Observation) {
		<-blocked
		crash(in, o)
	}), blocked})
	c.Workers, c.StopAfter = 2, 1
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	s, err := c.Run(ctx)
	if err != nil || s.Stopped != "findings" || len(s.Findings) != 1 || ctx.Err() != nil {
		t.Errorf("stopped by %q with findings %v, %v, %v", s.Stopped, s.Findings, err, ctx.Err())
	}
}

// lateTarget is a pipelined target with a crash that shows while what is left at the end is executed.
type lateTarget struct {
	pipeline[[]byte]
	batchTarget
	ctx  context.Context // of the campaign
	late *bool           // the crash has shown and was not asked for yet
}

var _ teasel.Pipeliner[[]byte] = (*lateTarget)(nil)

func (l lateTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	l.run = l.batchTarget.ExecBatch
	return &l, nil
}

func (l lateTarget) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	*l.late = l.ctx.Err() != nil
	return l.batchTarget.ExecBatch(ctx, ins, obs)
}

func (l lateTarget) Late(_ context.Context, o *teasel.Observation) ([]byte, bool) {
	late := *l.late
	*l.late, o.Exit = false, teasel.ExitCrash
	return []byte("late"), late
}

// What a target answers while what is left at the end is executed is reported.
func TestLateAtTheEnd(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	runs := 0
	c := bytesCampaign(lateTarget{ctx: ctx, late: new(bool), batchTarget: batchTarget{func(in []byte, o *teasel.Observation) {
		accept(in, o)
		if runs++; runs == 100 {
			cancel()
			o.Features = append(o.Features[:0], 500) // to be calibrated
		}
	}}})
	c.Calibrate = 2
	s, err := c.Run(ctx)
	if err != nil || len(s.Unconfirmed) != 1 || string(s.Unconfirmed[0].Original) != "late" {
		t.Errorf("unconfirmed %v, findings %v, %v", s.Unconfirmed, s.Findings, err)
	}
}

// pastTarget has a new finding in each of its first executions, none of which reproduces, and has run 100 inputs before.
type pastTarget struct {
	execFunc
}

func (p pastTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return p, nil
}

func (pastTarget) History(*teasel.Observation) [][]byte {
	past := make([][]byte, 100)
	for i := range past {
		past[i] = []byte{1}
	}
	return past
}

var _ teasel.Historian[[]byte] = pastTarget{}

// joiner counts the sequences that it joins, by whether they are long.
type joiner struct {
	lettersMutator
	long, short *int
}

func (j joiner) Join(ins [][]byte) []byte {
	if len(ins) > 20 {
		*j.long++
	} else {
		*j.short++
	}
	return j.lettersMutator.Join(ins)
}

// While very many findings wait to be confirmed, not all of them keep what the target had run before.
func TestHistoriesAreBounded(t *testing.T) {
	runs, long, short := 0, 0, 0
	c := bytesCampaign(pastTarget{execFunc: func(in []byte, o *teasel.Observation) {
		accept(in, o)
		if runs++; runs < 3000 {
			o.Evidence = fmt.Sprint(runs)
		}
	}})
	c.Mutator, c.Runs = joiner{long: &long, short: &short}, 10_000
	c.NewDetectors = func() []teasel.Detector {
		return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
			if o.Evidence == nil {
				return nil
			}
			return []teasel.Finding{{Rule: "note", Severity: teasel.Low, Group: o.Evidence.(string)}}
		})}
	}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if short < 2000 || long == 0 || long > 600 {
		t.Errorf("%d short sequences and %d long ones were tried, want at most 600 long ones", short, long)
	}
}

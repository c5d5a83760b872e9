package teasel_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

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

package teasel_test

import (
	"context"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// A finding whose group is uncertain matches one of the same rule, subject and signal, any other one that of the same ID.
func TestMatches(t *testing.T) {
	f := teasel.Finding{Rule: "r", Subject: "s", Group: "a", Signal: 11}
	for _, test := range []struct {
		change func(f, g *teasel.Finding)
		want   bool
	}{
		{func(f, g *teasel.Finding) {}, true},
		{func(f, g *teasel.Finding) { g.Signal = 6 }, true},
		{func(f, g *teasel.Finding) { g.Group = "b" }, false},
		{func(f, g *teasel.Finding) { g.Group, g.Uncertain = "b", true }, true},
		{func(f, g *teasel.Finding) { g.Group, f.Uncertain = "b", true }, true},
		{func(f, g *teasel.Finding) { g.Group, g.Uncertain, g.Signal = "b", true, 6 }, false},
		{func(f, g *teasel.Finding) { g.Uncertain, g.Rule = true, "q" }, false},
		{func(f, g *teasel.Finding) { g.Uncertain, g.Subject = true, "q" }, false},
	} {
		f, g := f, f
		test.change(&f, &g)
		if got := f.Matches(&g); got != test.want {
			t.Errorf("%+v, %+v: %v, want %v", f, g, got, test.want)
		}
	}
}

// renamer is a target whose crashes have another name on each executor, which it is uncertain about.
type renamer struct{ opened atomic.Int32 }

type renaming struct{ name string }

func (t *renamer) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return renaming{string('a' + t.opened.Add(1))}, nil
}

func (renaming) Close() error   { return nil }
func (renaming) BatchSize() int { return 1 }

// Exec crashes where ExecBatch does, and has a name of its own for that. What is shorter crashes elsewhere.
func (r renaming) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	if o.Exit = teasel.ExitOK; len(in) > 0 && in[0] == 'x' {
		o.Exit, o.Detail = teasel.ExitCrash, r.name+" alone"
		if len(in) < 4 {
			o.Detail = r.name + " elsewhere"
		}
	}
	return nil
}

func (r renaming) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	err := r.Exec(ctx, ins[0], &obs[0])
	if obs[0].Exit == teasel.ExitCrash {
		obs[0].Detail = r.name
	}
	return 1, err
}

// A finding whose group is uncertain is confirmed under another name, which its input then has to keep while it is minimised.
// The other names are no findings of their own.
func TestUncertain(t *testing.T) {
	for _, background := range []bool{false, true} {
		c := bytesCampaign(&renamer{})
		c.Seeds, c.Background, c.Runs = [][]byte{[]byte("xyzuvw")}, background, 2000
		if background {
			c.Runs, c.StopAfter, c.Duration = 0, 1, time.Minute
		}
		c.NewDetectors = func() []teasel.Detector {
			return []teasel.Detector{teasel.DetectorFunc(func(o *teasel.Observation) []teasel.Finding {
				if o.Exit != teasel.ExitCrash {
					return nil
				}
				return []teasel.Finding{{Rule: "crash", Severity: teasel.High, Group: o.Detail, Uncertain: true}}
			})}
		}
		s, err := c.Run(t.Context())
		if err != nil || len(s.Findings) != 1 {
			t.Fatalf("background %v: %+v, %v", background, s.Findings, err)
		}
		if f := s.Findings[0]; !f.Confirmed() || f.Group != "b" || !background && len(f.Input) != 4 {
			t.Errorf("background %v: group %q, input %q, reproduced %d of %d times", background, f.Group, f.Input, f.Stable, f.Tries)
		}
	}
}

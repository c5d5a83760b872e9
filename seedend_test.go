package teasel_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// faultTarget crashes of inputs that begin with '!', in the way that the next byte says, and of "?" at every second run.
type faultTarget struct{ odd bool }

func (t *faultTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return t, nil
}
func (*faultTarget) Close() error { return nil }

func (t *faultTarget) Exec(_ context.Context, in []byte, o *teasel.Observation) error {
	o.Exit, o.Features = teasel.ExitOK, append(o.Features, teasel.Feature(1+len(in)))
	switch {
	case len(in) > 1 && in[0] == '!':
		o.Exit, o.Detail = teasel.ExitCrash, string(in[1:2])
	case string(in) == "?":
		if t.odd = !t.odd; !t.odd {
			o.Exit, o.Detail = teasel.ExitCrash, "sometimes"
		}
	}
	return nil
}

// A campaign of seeds alone runs each of them, confirms and minimises what they show, tells what each came to, and ends.
func TestSeedsOnly(t *testing.T) {
	ends := map[string]teasel.SeedEnd{}
	c := nativeCampaign(1)
	c.Target, c.NewDetectors, c.SeedsOnly, c.Runs, c.StopAfter = &faultTarget{}, nil, true, 0, 0
	c.Seeds = [][]byte{[]byte("fine"), []byte("?")}
	for i := range 300 {
		c.Seeds = append(c.Seeds, fmt.Appendf(nil, "!%c and %d", 'a'+i%3, i))
	}
	c.Reporters = []teasel.Reporter{reportFunc(func(e teasel.Event) error {
		for _, s := range e.Seeds {
			ends[s.Key] = s
		}
		return nil
	})}
	sum, err := c.Run(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if sum.Stopped != "seeds" || sum.SeedsRun != len(c.Seeds) || len(ends) != len(c.Seeds) {
		t.Errorf("stopped by %q after %d of %d seeds, %d of which are reported", sum.Stopped, sum.SeedsRun, len(c.Seeds), len(ends))
	}
	stable := 0
	for _, f := range sum.Findings {
		if f.Confirmed() {
			stable++
			if len(f.Input) != 2 || !f.Minimal {
				t.Errorf("finding %s has input %q, minimal %v: want two bytes", f.Group, f.Input, f.Minimal)
			}
		}
	}
	if stable != 3 {
		t.Errorf("%d findings that reproduce every time, want 3", stable)
	}
	for key, want := range map[string]teasel.SeedEnd{
		"fine":     {Exit: teasel.ExitOK},
		"?":        {Exit: teasel.ExitCrash, Try: 2},
		"!a and 0": {Exit: teasel.ExitCrash, Try: 1},
	} {
		got := ends[teasel.Key([]byte(key))]
		if got.Exit != want.Exit || got.Try != want.Try || len(got.Findings) != min(want.Try, 1) {
			t.Errorf("%q: %v at try %d with %d findings, want %v at try %d", key, got.Exit, got.Try, len(got.Findings), want.Exit, want.Try)
		}
	}
}

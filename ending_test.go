package teasel_test

import (
	"context"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// waitedTarget is a target for which its campaign has to wait at one place, until that is noted: it crashes from the tenth execution on,
// the last one that the campaign may make, and what makes the input simpler waits.
type waitedTarget struct {
	at    string
	noted chan struct{}
	calls int
}

func (w *waitedTarget) Open(context.Context, teasel.Role) (teasel.Executor[[]byte], error) {
	return w, nil
}

func (w *waitedTarget) Exec(_ context.Context, _ []byte, obs *teasel.Observation) error {
	obs.Exit = teasel.ExitOK
	if w.calls++; w.calls >= 10 {
		obs.Exit = teasel.ExitCrash
	}
	if w.calls > 13 && w.at == "jobs" {
		<-w.noted
	}
	return nil
}

func (w *waitedTarget) Close() error {
	if w.at == "close" {
		<-w.noted
	}
	return nil
}

type notes struct {
	find  string
	found chan struct{}
	times int
}

func (n *notes) Report(e teasel.Event) error {
	if e.Kind == teasel.EventNote && strings.Contains(e.Text, n.find) {
		if n.times++; n.times == 1 {
			close(n.found)
		}
	}
	return nil
}

// A campaign that is over and has not ended says, once, what it waits for.
func TestEndingNoted(t *testing.T) {
	for at, want := range map[string]string{
		"jobs":  "the campaign is ending: reproducing and minimising what was seen last, to the end",
		"close": "the campaign is ending: waiting for the target to end",
	} {
		t.Run(at, func(t *testing.T) {
			t.Parallel()
			w := &waitedTarget{at: at, noted: make(chan struct{})}
			n := &notes{find: want, found: w.noted}
			c := bytesCampaign(w)
			c.Runs, c.Calibrate, c.TrimRuns, c.Reporters = 10, 0, -1, []teasel.Reporter{n}
			if _, err := c.Run(t.Context()); err != nil || n.times != 1 {
				t.Errorf("noted %d times, %v", n.times, err)
			}
		})
	}
}

// An execution that does not mind that its context has ended is waited for as well.
func TestEndingInFlight(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	n := &notes{find: "the campaign is ending: waiting for executions in flight", found: make(chan struct{})}
	c := bytesCampaign(execFunc(func(_ []byte, obs *teasel.Observation) {
		obs.Exit = teasel.ExitOK
		cancel()
		<-n.found
	}))
	c.Reporters = []teasel.Reporter{n}
	if _, err := c.Run(ctx); err != nil || n.times != 1 {
		t.Errorf("noted %d times, %v", n.times, err)
	}
}

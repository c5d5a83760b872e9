package gotest

import (
	"cmp"
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/campaign"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/exit"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/gofunc/process"
	"github.com/teaselfuzz/teasel/gofunc/session"
)

// typedMemory is what the process of a typed test may hold if the user has not said.
const typedMemory = 2 << 30

// typedTest returns the typed test of a target that was described, and its seeds as text; nil: its inputs are bytes.
func typedTest(ctx context.Context, t *fuzztest.Target) (test *process.Test, seeds [][]byte, err error) {
	if t.Typed == "" {
		return nil, nil, nil
	}
	test = &process.Test{Tested: t.Tested, Binary: t.Binary, Name: t.Name, Package: t.Package, Dir: t.Dir, Race: t.Race, Timeout: t.Timeout, Memory: cmp.Or(t.Memory, typedMemory),
		Scratch: t.Scratch, Sandbox: t.Sandbox, Allow: t.Allow}
	d, err := test.Describe(ctx)
	if err != nil {
		return nil, nil, &fuzztest.StartError{Test: t.Name, Reason: err.Error(), Hint: "the module that the test is in and teasel have to be of versions that fit: go get github.com/teaselfuzz/teasel@v" + campaign.Version}
	}
	for _, s := range d.Seeds {
		text, err := link.Input(s)
		if err != nil {
			return nil, nil, exit.Failure(err)
		}
		seeds = append(seeds, text)
	}
	return test, seeds, nil
}

// fuzzTyped runs the campaign of a typed test, with the limits, reporters and seeds of t.campaign.
func (t *fuzzTest) fuzzTyped(ctx context.Context, share *session.Share, severity map[string]string, stages []string) (teasel.Summary, error) {
	test := *t.typed
	test.Statistics = t.out
	test.Seed, test.Runs, test.Constants = t.campaign.Seed, t.campaign.Runs, t.pkg.Constants
	test.Stages, test.MinimizeRuns = stages, t.campaign.MinimizeRuns
	c := process.Campaign{Test: &test, Workers: t.campaign.Workers, Duration: t.campaign.Duration, Pause: t.campaign.Pause, Reporters: t.campaign.Reporters, Source: t.campaign.Source}
	for _, s := range t.campaign.Seeds {
		c.Seeds = append(c.Seeds, link.File(s))
	}
	c.Exchange = func(x teasel.Exchange) (teasel.Exchange, func()) {
		x, end := share.Exchange(x)
		if len(severity) > 0 {
			x = &severityExchange{x, severity}
		}
		return x, end
	}
	return c.Run(ctx)
}

// severityExchange gives the findings of a worker process the severity that the configuration says.
type severityExchange struct {
	teasel.Exchange
	severity map[string]string // by rule
}

// Sync implements [teasel.Exchange].
func (g *severityExchange) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	n.Findings, n.Unconfirmed = campaign.AdjustSeverity(n.Findings, g.severity), campaign.AdjustSeverity(n.Unconfirmed, g.severity)
	return g.Exchange.Sync(ctx, n)
}

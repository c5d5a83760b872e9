package main

import (
	"cmp"
	"context"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/fuzztest"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/gofunc/process"
	"github.com/teaselfuzz/teasel/gofunc/session"
)

// typedMemory is what the process of a typed test may hold if the user has not said.
const typedMemory = 2 << 30

// typedTest returns the typed test that a described target is, and its seeds as text; nil: its inputs are bytes.
func typedTest(ctx context.Context, t *fuzztest.Target) (test *process.Test, seeds [][]byte, err error) {
	if t.Typed == "" {
		return nil, nil, nil
	}
	test = &process.Test{Binary: t.Binary, Name: t.Name, Package: t.Package, Dir: t.Dir, Race: t.Race, Timeout: t.Timeout, Memory: cmp.Or(t.Memory, typedMemory)}
	d, err := test.Describe(ctx)
	if err != nil {
		return nil, nil, &fuzztest.StartError{Test: t.Name, Reason: err.Error(), Hint: "the module that the test is in and teasel have to be of versions that fit: go get github.com/teaselfuzz/teasel@v" + version}
	}
	for _, s := range d.Seeds {
		text, err := link.Input(s)
		if err != nil {
			return nil, nil, failure(err)
		}
		seeds = append(seeds, text)
	}
	return test, seeds, nil
}

// fuzzTyped runs the campaign of a typed test. Its limits, reporters and seeds are those of the campaign over bytes that there
// would be otherwise.
func (t *goTest) fuzzTyped(ctx context.Context, share *session.Share, severity map[string]string) (teasel.Summary, error) {
	test := *t.typed
	test.Statistics = t.out
	test.Seed, test.Runs, test.Constants = t.campaign.Seed, t.campaign.Runs, t.pkg.Constants
	c := process.Campaign{Test: &test, Workers: t.campaign.Workers, Duration: t.campaign.Duration, Reporters: t.campaign.Reporters}
	for _, s := range t.campaign.Seeds {
		c.Seeds = append(c.Seeds, link.File(s))
	}
	c.Exchange = func(x teasel.Exchange) (teasel.Exchange, func()) {
		x, end := share.Exchange(x)
		if len(severity) > 0 {
			x = &gradedExchange{x, severity}
		}
		return x, end
	}
	return c.Run(ctx)
}

// gradedExchange gives the findings of a worker in another process the severity that the user wants.
type gradedExchange struct {
	teasel.Exchange
	severity map[string]string // by rule
}

func (g *gradedExchange) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	n.Findings, n.Unconfirmed = grade(n.Findings, g.severity), grade(n.Unconfirmed, g.severity)
	return g.Exchange.Sync(ctx, n)
}

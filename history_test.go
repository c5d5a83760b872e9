package teasel_test

import (
	"context"
	"errors"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// lastingTarget is a chainTarget that cannot be reset.
type lastingTarget struct{ chainTarget }

type lastingExecutor struct{ teasel.Executor[script] }

func (t lastingTarget) Open(ctx context.Context, role teasel.Role) (teasel.Executor[script], error) {
	ex, err := t.chainTarget.Open(ctx, role)
	return lastingExecutor{ex}, err
}

func (e lastingExecutor) History(o *teasel.Observation) []script {
	return e.Executor.(teasel.Historian[script]).History(o)
}

func (lastingExecutor) Reset(context.Context) error { return errors.New("there is no other") }

// A finding that nobody could confirm has what the target had run before, and is confirmed with that when the campaign goes on.
func TestUnconfirmedHasHistory(t *testing.T) {
	longest := 0
	l := &events{}
	run := func(target teasel.Target[script], resume *teasel.Snapshot) (teasel.Summary, error) {
		c := teasel.Campaign[script]{Target: target, Mutator: scriptMutator{[]string{"arm", "fire", "list"}}, Codec: jsonCodec[script]{},
			NewDetectors: chains, Generate: 1, Runs: 2000, Seed: 3, Resume: resume, Reporters: []teasel.Reporter{l}}
		return c.Run(t.Context())
	}
	if _, err := run(lastingTarget{chainTarget{&longest}}, nil); err == nil {
		t.Fatal("the target was reset")
	}
	seen := l.of(teasel.EventUnconfirmed)
	if len(seen) != 1 || len(seen[0].Finding.History) < 2 {
		t.Fatalf("unconfirmed: %+v", seen)
	}
	s, err := run(chainTarget{&longest}, &teasel.Snapshot{Untried: []teasel.Finding{seen[0].Finding}})
	if got := inputs(s); err != nil || len(got) != 1 || got[0] != `chain [{"Tool":"arm","N":0},{"Tool":"fire","N":0}]` {
		t.Errorf("found %v, %v", got, err)
	}
}

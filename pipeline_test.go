package teasel_test

import (
	"context"

	"github.com/teaselfuzz/teasel"
)

// pipeline makes a Pipeliner of a function that runs a batch.
type pipeline[T any] struct {
	run func(ctx context.Context, ins []T, obs []teasel.Observation) (int, error)

	done int
	err  error
	back chan struct{}
}

func (p *pipeline[T]) Submit(ctx context.Context, ins []T, obs []teasel.Observation) error {
	p.back = make(chan struct{})
	go func() {
		defer close(p.back)
		p.done, p.err = p.run(ctx, ins, obs)
	}()
	return nil
}

func (p *pipeline[T]) Collect(context.Context) (int, error) {
	<-p.back
	return p.done, p.err
}

func (p *pipeline[T]) Late(context.Context, *teasel.Observation) (in T, ok bool) { return in, false }

package session

import (
	"context"
	"errors"

	"github.com/teaselfuzz/teasel"
)

// full is what an executor of a fuzz test can do.
type full interface {
	teasel.Executor[[]byte]
	teasel.BatchExecutor[[]byte]
	teasel.Learner
	teasel.Resetter
}

// Target is a target whose executors take turns with those of others.
type Target struct {
	Target teasel.Target[[]byte]
	Share  *Share
}

var _ teasel.Target[[]byte] = Target{}

// Open opens the target, which has to give executors that run batches, judge novelty and can be reset.
func (t Target) Open(ctx context.Context, role teasel.Role) (teasel.Executor[[]byte], error) {
	ex, err := t.Target.Open(ctx, role)
	if err != nil {
		return nil, err
	}
	f, ok := ex.(full)
	if !ok {
		return nil, errors.Join(errors.New("the executor cannot take turns"), ex.Close())
	}
	return &executor{f, &turn{share: t.Share}}, nil
}

// executor waits for its turn before it runs anything.
type executor struct {
	full
	turn *turn
}

func (e *executor) Exec(ctx context.Context, in []byte, obs *teasel.Observation) error {
	if err := e.turn.enter(ctx); err != nil {
		return err
	}
	return e.full.Exec(ctx, in, obs)
}

func (e *executor) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	if err := e.turn.enter(ctx); err != nil {
		return 0, err
	}
	return e.full.ExecBatch(ctx, ins, obs)
}

func (e *executor) Close() error {
	e.turn.leave()
	return e.full.Close()
}

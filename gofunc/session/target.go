package session

import (
	"context"
	"errors"
	"time"

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
	return &executor{full: f, turn: &turn{share: t.Share}}, nil
}

// Starter is an executor that knows how long it has waited for its processes to start, in all. The first start of an executor
// is not charged to its campaign: it is as long for one that gets little time as for one that gets much.
type Starter interface{ Starting() time.Duration }

// executor waits for its turn before it runs anything.
type executor struct {
	full
	turn    *turn
	started bool
}

// start waives the first start of a process.
func (e *executor) start() {
	s, ok := e.full.(Starter)
	if !ok || e.started {
		return
	}
	if d := s.Starting(); d > 0 {
		e.started = true
		e.turn.waive(d)
	}
}

func (e *executor) Exec(ctx context.Context, in []byte, obs *teasel.Observation) error {
	if err := e.turn.enter(ctx); err != nil {
		return err
	}
	defer e.start()
	return e.full.Exec(ctx, in, obs)
}

func (e *executor) ExecBatch(ctx context.Context, ins [][]byte, obs []teasel.Observation) (int, error) {
	if err := e.turn.enter(ctx); err != nil {
		return 0, err
	}
	defer e.start()
	return e.full.ExecBatch(ctx, ins, obs)
}

func (e *executor) Close() error {
	e.turn.leave()
	return e.full.Close()
}

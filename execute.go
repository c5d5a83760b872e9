package teasel

import (
	"context"
	"fmt"
	"time"
)

// run runs inputs and judges them.
func (w *Worker[T]) run(ctx context.Context, ins []T, obs []Observation, a Ask) error {
	if err := w.land(ctx); err != nil {
		return err
	}
	if w.over || w.spent() {
		return ErrStop
	}
	if err := w.exec(ctx, ins, obs, a, judgeAll); err != nil {
		return err
	}
	return w.assess(ctx, ins, obs)
}

// assess judges a batch.
func (w *Worker[T]) assess(ctx context.Context, ins []T, obs []Observation) error {
	odd := false
	for i := range obs {
		odd = odd || !obs[i].boring()
	}
	if odd || w.straggler != nil || len(w.queue) > 0 { // what waits from an earlier batch is in slots that are used again
		for i := range obs {
			w.suspect(ins[i], &obs[i])
		}
		if w.flying == nil {
			w.stragglers()
		}
		if w.flying == nil || w.accused() {
			if err := w.settle(ctx); err != nil {
				return err
			}
		}
	}
	if err := w.catchUp(ctx); err != nil {
		return err
	}
	w.credit()
	if len(w.news.Findings) > 0 || w.due() {
		return w.publish(ctx)
	}
	return nil
}

// credit puts the executions made since it was last called down to the stage that is at work.
func (w *Worker[T]) credit() {
	w.stages[w.stage].Executions += w.state.Executions - w.credited
	w.credited = w.state.Executions
}

// due reports whether it is time to look at the hub, by count or, for slow targets, by the clock.
func (w *Worker[T]) due() bool {
	if w.state.Executions-w.told >= syncRuns {
		return true
	}
	if w.batch == nil && w.state.Draws%clockEvery != 0 && !w.slow && len(w.queue) == 0 {
		return false
	}
	return time.Since(w.synced) >= syncTime
}

// judging says which executions are judged before the next one spoils their evidence.
type judging uint8

const (
	judgeNone judging = iota
	judgeBad          // those that do not end well, but for hangs that had not all the time that there is
	judgeAll
)

// judge looks at executions whose evidence the next one would spoil.
func (w *Worker[T]) judge(ins []T, obs []Observation, j judging) {
	if j == judgeNone {
		return
	}
	for i := range obs {
		if obs[i].Exit != ExitLost && (j == judgeAll || endsBadly(obs[i]) && !hasty(obs[i])) {
			w.suspect(ins[i], &obs[i])
		}
	}
}

// exec runs inputs and counts them. When it returns, nothing is ExitLost any more. What j says is judged, but for the last
// that are executed: those are left to the caller.
func (w *Worker[T]) exec(ctx context.Context, ins []T, obs []Observation, a Ask, j judging) error {
	if w.state.Draws%clockEvery < uint64(len(ins)) && ctx.Err() != nil {
		return ctx.Err()
	}
	for i := range obs {
		obs[i].reset(a)
	}
	w.clean = false
	if w.batch == nil {
		for i := range ins {
			if err := w.ex.Exec(ctx, ins[i], &obs[i]); err != nil {
				return fmt.Errorf("executing: %w", err)
			}
			w.state.Executions += uint64(obs[i].Runs)
			w.slow = obs[i].Elapsed >= slowExec
			if i+1 < len(ins) {
				w.judge(ins[i:i+1], obs[i:i+1], j)
			}
		}
		return nil
	}
	lost := false
	for at := 0; at < len(ins); {
		end := min(len(ins), at+len(w.slots))
		n, err := w.batch.ExecBatch(ctx, ins[at:end], obs[at:end])
		if err != nil {
			return fmt.Errorf("executing: %w", err)
		}
		if n < 1 {
			return errNothing
		}
		for i := at; i < at+n; i++ {
			w.state.Executions += uint64(obs[i].Runs)
			lost = lost || obs[i].Exit == ExitLost
		}
		if lost || at+n < len(ins) {
			w.judge(ins[at:at+n], obs[at:at+n], j)
		}
		at += n
	}
	if lost {
		return w.bisect(ctx, ins, obs, a, j)
	}
	return nil
}

// fresh makes the target as it was in the beginning.
func (w *Worker[T]) fresh(ctx context.Context) error {
	if w.reset == nil || w.clean {
		return nil
	}
	if err := w.reset.Reset(ctx); err != nil {
		return fmt.Errorf("resetting: %w", err)
	}
	w.clean = true
	return nil
}

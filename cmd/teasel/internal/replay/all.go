package replay

import (
	"context"
	"errors"
	"fmt"
	"io"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/cmd/teasel/internal/progress"
	"github.com/teaselfuzz/teasel/corpus"
)

// Results are what came of running inputs once each.
type Results struct {
	Entries  []teasel.Entry   // inputs without a fault, with what they reach
	Findings []teasel.Finding // of the others
	Runs     int
}

// All runs each input once, and shows how far that is on w. It stops when ctx is done, which is not an error.
func All(ctx context.Context, w io.Writer, target teasel.Target[[]byte], detect teasel.DetectorFunc, seeds []corpus.Seed) (r Results, err error) {
	ex, err := target.Open(ctx, teasel.Role{})
	if ctx.Err() != nil && err != nil {
		return r, nil
	}
	if err != nil {
		return r, err
	}
	defer func() { err = errors.Join(err, ex.Close()) }()
	line := progress.New(w, "inputs", len(seeds))
	defer line.Clear()
	for _, s := range seeds {
		line.Show(r.Runs, "")
		o, err := runInput(ctx, ex, s.Data)
		if ctx.Err() != nil {
			break
		}
		if err != nil {
			return r, fmt.Errorf("running %s: %w", s.Name, err)
		}
		r.Runs++
		for _, f := range detect(&o) {
			f.Input = s.Data
			r.Findings = append(r.Findings, f)
		}
		if o.Exit <= teasel.ExitRejected {
			r.Entries = append(r.Entries, teasel.Entry{Key: teasel.Key(s.Data), Data: s.Data, Complexity: float64(len(s.Data)), Runs: 1, Features: teasel.NewFeatureSet(o.Features...)})
		}
	}
	return r, nil
}

// runInput runs an input for no longer than its time limit. A batch of one does that; Exec gives
// it more time, to confirm a hang.
func runInput(ctx context.Context, ex teasel.Executor[[]byte], in []byte) (o teasel.Observation, err error) {
	obs := [1]teasel.Observation{{Ask: teasel.Ask{Features: true}, Runs: 1}}
	if b, ok := ex.(teasel.BatchExecutor[[]byte]); ok {
		_, err = b.ExecBatch(ctx, [][]byte{in}, obs[:])
	} else {
		err = ex.Exec(ctx, in, &obs[0])
	}
	return obs[0], err
}

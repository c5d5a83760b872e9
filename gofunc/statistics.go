package gofunc

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/policy"
)

// statistics is the exchange of a worker that writes what the worker's pools have come to, about once a second, in the
// worker's goroutine, which owns the pools, and says so in the end, with what the sensors of the test have come to.
type statistics struct {
	teasel.Exchange
	file       *os.File
	csv        *policy.Statistics
	began      time.Time
	written    time.Time
	executions uint64
	of         string // the test, and the worker if it is not the first
	pool       *policy.Combined
	novelty    *novelty // set when the executor is open
}

// statisticsEvery is the time between two rows.
const statisticsEvery = time.Second

// newStatistics opens the file of the settings. An earlier process of the worker may have begun it.
func newStatistics(x teasel.Exchange, s *link.Settings, pool *policy.Combined) (*statistics, error) {
	f, err := os.OpenFile(s.Statistics, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("opening the statistics of the pools: %w", err)
	}
	i, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the statistics of the pools: %w", err), f.Close())
	}
	now := time.Now() // a process that dies at once writes no row
	w := &statistics{Exchange: x, pool: pool, file: f, csv: policy.NewStatistics(f, pool), began: now.Add(-s.Elapsed), written: now, executions: s.Draws}
	w.csv.Headed = i.Size() > 0
	return w, nil
}

// Sync implements teasel.Exchange.
func (w *statistics) Sync(ctx context.Context, n teasel.News) (teasel.Reply, error) {
	if n.Leaving {
		n.Notes = append(n.Notes, w.summary()...)
	}
	r, err := w.Exchange.Sync(ctx, n)
	w.executions += n.Executions
	if now := time.Now(); n.Leaving || now.Sub(w.written) >= statisticsEvery {
		w.written = now
		err = errors.Join(err, w.csv.Write(now.Sub(w.began), w.executions))
	}
	return r, err
}

// summary says what the pools and the sensors have come to.
func (w *statistics) summary() (lines []string) {
	for _, p := range w.pool.Stats() {
		if p.Added > 0 {
			lines = append(lines, fmt.Sprintf("%s: pool %s: %d inputs, score %g, %d added, %d evicted", w.of, p.Name, p.Size, p.Score, p.Added, p.Evicted))
		}
	}
	if w.novelty == nil {
		return lines
	}
	if n := len(w.novelty.states); n > 0 {
		lines = append(lines, fmt.Sprintf("%s: sensor Observe: %d states", w.of, n))
	}
	for _, name := range slices.Sorted(maps.Keys(w.novelty.names)) {
		lines = append(lines, fmt.Sprintf("%s: sensor Maximize %s: greatest value %g", w.of, name, w.novelty.measures[w.novelty.names[name]]))
	}
	return lines
}

func (w *statistics) Close() error { return w.file.Close() }

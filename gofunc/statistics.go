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

// statistics is the exchange of a worker that writes what the worker's pools and sensors have come to, about once a second, in the
// worker's goroutine, which owns them, and says so in the end.
type statistics struct {
	teasel.Exchange
	settings   *link.Settings
	file       *os.File
	csv        *policy.Statistics
	began      time.Time
	written    time.Time
	executions uint64
	test       string
	pool       *policy.Combined
	figures    func() []policy.Figure // of the test's own sensors; nil: there are none
	novelty    *novelty               // set when the executor is open
}

// statisticsEvery is the time between two rows.
const statisticsEvery = time.Second

// newStatistics opens the file of the settings. An earlier process of the worker may have begun it.
func newStatistics(x teasel.Exchange, test string, s *link.Settings, pool *policy.Combined, figures func() []policy.Figure) (*statistics, error) {
	f, err := os.OpenFile(s.Statistics, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, fmt.Errorf("opening the statistics of the pools: %w", err)
	}
	i, err := f.Stat()
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening the statistics of the pools: %w", err), f.Close())
	}
	now := time.Now() // a process that dies at once writes no row
	w := &statistics{Exchange: x, test: test, settings: s, pool: pool, figures: figures, file: f, csv: policy.NewStatistics(f, pool), began: now.Add(-s.Elapsed), written: now, executions: s.Draws}
	w.csv.Headed, w.csv.Figures = i.Size() > 0, figures
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
		state := w.state()
		err = errors.Join(err, w.csv.Write(now.Sub(w.began), w.executions), link.WriteStatistics(w.settings, &state))
	}
	return r, err
}

// state returns what the pools and the sensors have come to.
func (w *statistics) state() link.Statistics {
	s := link.Statistics{Test: w.test, Worker: w.settings.Worker, Pools: w.pool.Stats()}
	if w.novelty != nil {
		if n := len(w.novelty.states); n > 0 {
			s.Sensors = append(s.Sensors, link.Sensor{Name: "Observe", What: "states", Value: float64(n)})
		}
		for _, name := range slices.Sorted(maps.Keys(w.novelty.names)) {
			s.Sensors = append(s.Sensors, link.Sensor{Name: "Maximize " + name, What: "greatest value", Value: w.novelty.measures[w.novelty.names[name]]})
		}
	}
	if w.figures != nil {
		for _, f := range w.figures() {
			s.Sensors = append(s.Sensors, link.Sensor{Name: f.Name, What: "figure", Value: f.Value})
		}
	}
	return s
}

// summary says what the pools and the sensors have come to.
func (w *statistics) summary() (lines []string) {
	s, of := w.state(), w.test
	if s.Worker > 0 {
		of = fmt.Sprintf("%s, worker %d", of, s.Worker)
	}
	for _, p := range s.Pools {
		if p.Added > 0 {
			lines = append(lines, fmt.Sprintf("%s: pool %s: %d inputs, score %g, %d added, %d evicted", of, p.Name, p.Size, p.Score, p.Added, p.Evicted))
		}
	}
	for _, x := range s.Sensors {
		if x.What == "states" {
			lines = append(lines, fmt.Sprintf("%s: sensor %s: %g states", of, x.Name, x.Value))
		} else {
			lines = append(lines, fmt.Sprintf("%s: sensor %s: %s %g", of, x.Name, x.What, x.Value))
		}
	}
	return lines
}

func (w *statistics) Close() error { return w.file.Close() }

package policy

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"

	"github.com/teaselfuzz/teasel"
)

// Statistics writes what a campaign and the pools of its hub have come to as CSV: a header, and a row for every
// EventProgress. It is a teasel.Reporter of the same hub, which calls it while nothing else uses the pool.
type Statistics struct {
	w      *csv.Writer
	pool   *Combined
	headed bool
}

var _ teasel.Reporter = (*Statistics)(nil)

// NewStatistics returns a reporter that writes to w. pool is the hub's.
func NewStatistics(w io.Writer, pool *Combined) *Statistics {
	return &Statistics{w: csv.NewWriter(w), pool: pool}
}

// Headers returns the names of the columns.
func (s *Statistics) Headers() []string {
	row := []string{"seconds", "executions", "features", "corpus", "findings"}
	for _, p := range s.pool.Stats() {
		row = append(row, p.Name+" size", p.Name+" score", p.Name+" added", p.Name+" evicted")
	}
	return row
}

// Record returns a row, in the order of the headers.
func (s *Statistics) Record(t teasel.Stats) []string {
	row := []string{strconv.FormatFloat(t.Elapsed.Seconds(), 'f', 1, 64), strconv.FormatUint(t.Executions, 10), strconv.Itoa(t.Features),
		strconv.Itoa(t.Corpus), strconv.Itoa(t.Findings)}
	for _, p := range s.pool.Stats() {
		row = append(row, strconv.Itoa(p.Size), strconv.FormatFloat(p.Score, 'g', -1, 64), strconv.FormatUint(p.Added, 10), strconv.FormatUint(p.Evicted, 10))
	}
	return row
}

// Report implements teasel.Reporter.
func (s *Statistics) Report(e teasel.Event) error {
	if e.Kind != teasel.EventProgress {
		return nil
	}
	rows := [][]string{s.Record(e.Stats)}
	if !s.headed {
		rows, s.headed = [][]string{s.Headers(), rows[0]}, true
	}
	if err := s.w.WriteAll(rows); err != nil {
		return fmt.Errorf("writing statistics of the pools: %w", err)
	}
	return nil
}

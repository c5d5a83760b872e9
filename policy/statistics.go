package policy

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"time"
)

// Statistics writes the statistics of the pools of a portfolio as CSV: a row for each call of Write.
type Statistics struct {
	Headed  bool            // the headers are in the file already, which is continued
	Figures func() []Figure // further columns, of the same names each time; nil: none

	w    *csv.Writer
	pool *Combined
}

// Figure is a number that something beside the pools has come to, such as a sensor.
type Figure struct {
	Name  string
	Value float64
}

// NewStatistics returns a Statistics that writes to w.
func NewStatistics(w io.Writer, pool *Combined) *Statistics {
	return &Statistics{w: csv.NewWriter(w), pool: pool}
}

// Headers returns the names of the columns.
func (s *Statistics) Headers() []string {
	row := []string{"seconds", "executions"}
	for _, p := range s.pool.Stats() {
		row = append(row, p.Name+" size", p.Name+" score", p.Name+" added", p.Name+" evicted")
	}
	for _, f := range s.figures() {
		row = append(row, f.Name)
	}
	return row
}

// Record returns a row with the current statistics, in the order of the headers.
func (s *Statistics) Record(elapsed time.Duration, executions uint64) []string {
	row := []string{strconv.FormatFloat(elapsed.Seconds(), 'f', 1, 64), strconv.FormatUint(executions, 10)}
	for _, p := range s.pool.Stats() {
		row = append(row, strconv.Itoa(p.Size), strconv.FormatFloat(p.Score, 'g', -1, 64), strconv.FormatUint(p.Added, 10), strconv.FormatUint(p.Evicted, 10))
	}
	for _, f := range s.figures() {
		row = append(row, strconv.FormatFloat(f.Value, 'g', -1, 64))
	}
	return row
}

func (s *Statistics) figures() []Figure {
	if s.Figures == nil {
		return nil
	}
	return s.Figures()
}

// Write writes a row with the current statistics, and the headers before the first row.
func (s *Statistics) Write(elapsed time.Duration, executions uint64) error {
	rows := [][]string{s.Record(elapsed, executions)}
	if !s.Headed {
		rows, s.Headed = [][]string{s.Headers(), rows[0]}, true
	}
	if err := s.w.WriteAll(rows); err != nil {
		return fmt.Errorf("writing statistics of the pools: %w", err)
	}
	return nil
}

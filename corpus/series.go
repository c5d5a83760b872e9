package corpus

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/teaselfuzz/teasel"
)

// SeriesFile is the file of the figures over time: a line about every second, the first of which names the columns.
const SeriesFile = "stats.csv"

const (
	statsName = SeriesFile
	plotName  = "plot_data"
	aflName   = "fuzzer_stats"

	statsHead = "elapsed_seconds,unix_time,executions,executions_per_second,corpus,evicted,features,findings,workers," +
		"last_kept_seconds,last_found_seconds,memory_bytes,crashes,hangs,last_crash_seconds,last_hang_seconds,stability\n"
	plotEvery = 5 * time.Second // as AFL++ does
)

// series writes the figures of a campaign over time: stats.csv, and AFL++'s files.
type series struct {
	stats, plot *os.File
	samples     []sample // of the last minute, oldest first
	plotted     time.Time
	crashes     int
	hangs       int
	lastCrash   uint64 // executions when the last crash was found
	executions  uint64 // at the last line
}

// sample is a point of the series.
type sample struct {
	elapsed    time.Duration
	executions uint64
}

func (s *series) open(dir string) (err error) {
	if s.stats, err = openTable(filepath.Join(dir, statsName), statsHead); err != nil {
		return err
	}
	if s.plot, err = openTable(filepath.Join(dir, plotName), plotHead); err != nil {
		return errors.Join(err, s.stats.Close())
	}
	return nil
}

// openTable opens a table to append lines to. An incomplete last line, of a process that was killed, is removed.
func openTable(path, head string) (*os.File, error) {
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_APPEND, 0o644)
	if err != nil {
		return nil, fmt.Errorf("opening a table: %w", err)
	}
	data, err := os.ReadFile(path)
	if err == nil {
		whole := bytes.LastIndexByte(data, '\n') + 1
		if whole < len(data) {
			err = f.Truncate(int64(whole))
		}
		if err == nil && whole == 0 {
			_, err = f.WriteString(head)
		}
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("opening a table: %w", err), f.Close())
	}
	return f, nil
}

func (s *series) close() error { return errors.Join(s.stats.Close(), s.plot.Close()) }

// countFinding counts a new finding, whose input is in folder.
func (s *series) countFinding(folder string) {
	switch folder {
	case Crashes:
		s.crashes, s.lastCrash = s.crashes+1, s.executions
	case Hangs:
		s.hangs++
	}
}

// add writes a line for the figures that d has now, and every few seconds what AFL++ would.
func (s *series) add(d *Dir) error {
	st, now := &d.state.stats, d.now()
	s.executions = st.Executions
	last := sample{}
	if len(s.samples) > 0 {
		last = s.samples[len(s.samples)-1]
	}
	if _, err := fmt.Fprintf(s.stats, "%.3f,%d,%d,%.1f,%d,%d,%d,%d,%d,%.3f,%.3f,%d,%d,%d,%.3f,%.3f,%.4f\n", st.Elapsed.Seconds(), now.Unix(),
		st.Executions, rate(st, last), st.Corpus, st.Evicted, st.Features, st.Findings, st.Workers,
		st.LastKept.Seconds(), st.LastFound.Seconds(), st.Memory, s.crashes, s.hangs, time.Duration(d.state.last[Crashes]).Seconds(),
		time.Duration(d.state.last[Hangs]).Seconds(), st.Stability); err != nil {
		return fmt.Errorf("writing %s: %w", statsName, err)
	}
	s.samples = append(s.samples, sample{st.Elapsed, st.Executions})
	for len(s.samples) > 2 && s.samples[1].elapsed <= st.Elapsed-time.Minute {
		s.samples = s.samples[1:]
	}
	if !s.plotted.IsZero() && now.Sub(s.plotted) < plotEvery {
		return nil
	}
	s.plotted = now
	return s.write(d)
}

// rate is executions a second since an earlier sample.
func rate(st *teasel.Stats, from sample) float64 {
	if st.Elapsed <= from.elapsed || st.Executions < from.executions {
		return 0
	}
	return float64(st.Executions-from.executions) / (st.Elapsed - from.elapsed).Seconds()
}

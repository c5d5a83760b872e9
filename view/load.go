package view

import (
	"cmp"
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
)

// FromDir returns the state of a campaign, from its directory. It may be that of an older version, and of a campaign that runs: then it is
// how the campaign stood a moment ago. Findings have no commands, and there are no panels.
func FromDir(dir *corpus.Dir) (State, error) {
	m, sum := dir.Meta(), dir.Summary()
	s := State{Blocked: m.Blocked, Teasel: m.Version, Kind: m.Kind, Target: m.Name, Dir: dir.Path(), Seed: m.Seed, Whole: true, Thinned: true, Workers: newWorkers(dir.Workers())}
	points, err := readSeries(filepath.Join(dir.Path(), corpus.SeriesFile))
	s.Series = points
	s.SetStats(&sum.Stats)
	s.Ended(sum.Stopped)
	if sum.Stopped == "" && dir.Running() {
		s.Status = "it runs: this is how it stood when it was read"
	}
	for _, k := range m.Skipped {
		s.Skipped = append(s.Skipped, Skip(k))
	}
	add := func(fs []teasel.Finding, unconfirmed bool) {
		for i := range fs {
			v := NewFinding(&fs[i])
			v.Unconfirmed = unconfirmed
			s.Findings = append(s.Findings, v)
		}
	}
	add(sum.Findings, false)
	add(sum.Unconfirmed, true)
	s.Log = logOf(s.Findings)
	s.Prepare()
	return s, err
}

// logOf returns when findings were first reported.
func logOf(fs []Finding) (lines []Line) {
	for _, f := range fs {
		if f.Found > 0 {
			lines = append(lines, Line{Elapsed: f.Found, Kind: "found", ID: f.ID, Text: f.Severity + "  " + f.Rule + "  " + f.Subject})
		}
	}
	slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.Elapsed, b.Elapsed) })
	return lines[max(0, len(lines)-mostLines):]
}

// readSeries reads stats.csv. Columns are found by name, since versions differ in what they have; a line that is damaged is left out, and
// a file that is missing is an empty series.
func readSeries(path string) ([]Point, error) {
	f, err := os.Open(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("reading the figures over time: %w", err)
	}
	defer f.Close()
	r := csv.NewReader(f)
	r.FieldsPerRecord, r.ReuseRecord, r.LazyQuotes = -1, true, true
	var s series
	at := map[string]int{}
	last := -1.0
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return s.points, nil
		}
		if err != nil {
			return s.points, fmt.Errorf("reading the figures over time: %w", err)
		}
		if len(at) == 0 {
			for i, name := range row {
				at[name] = i
			}
			continue
		}
		number := func(name string) (v float64) {
			if i, ok := at[name]; ok && i < len(row) {
				v, _ = strconv.ParseFloat(row[i], 64)
			}
			if !(v > 0 && v < 1<<52) { // also not a number at all
				return 0
			}
			return v
		}
		p := Point{Elapsed: number("elapsed_seconds"), Executions: uint64(number("executions")), Corpus: int(number("corpus")),
			Features: int(number("features")), Findings: int(number("findings")), Memory: uint64(number("memory_bytes"))}
		if p.Elapsed > last {
			s.add(p)
			last = p.Elapsed
		}
	}
}

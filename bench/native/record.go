package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"
)

// entry is one run in a record, a line of JSON each.
type entry struct {
	Library, Fuzzer       string
	Seed                  uint64
	Limit                 time.Duration // how long it was to run
	When                  time.Time
	Load                  string // of the machine when it had ended
	Version               string // of this repository
	Executions, CPU, Wall float64
	Edges, Lines, Regions float64
}

// record holds the runs of a comparison that takes longer than a machine has time at once. nil: nothing is kept.
type record struct {
	file    string
	entries []entry
}

func openRecord(file string) (*record, error) {
	if file == "" {
		return nil, nil
	}
	r := &record{file: file}
	text, err := os.ReadFile(file)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	n := 0
	for line := range bytes.Lines(text) {
		n++
		var e entry
		if err := json.Unmarshal(line, &e); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", file, n, err)
		}
		r.entries = append(r.entries, e)
	}
	return r, nil
}

// find returns what a run came to that was made before.
func (r *record) find(library, fuzzer string, seed uint64, limit time.Duration) (sample, bool) {
	if r == nil {
		return sample{}, false
	}
	for i := range r.entries {
		e := &r.entries[i]
		if e.Library == library && e.Fuzzer == fuzzer && e.Seed == seed && e.Limit == limit {
			return sample{executions: e.Executions, cpu: e.CPU, wall: e.Wall, edges: e.Edges, lines: e.Lines, regions: e.Regions, version: e.Version}, true
		}
	}
	return sample{}, false
}

// add keeps what a run came to.
func (r *record) add(library, fuzzer string, seed uint64, limit time.Duration, s sample) error {
	if r == nil {
		return nil
	}
	e := entry{library, fuzzer, seed, limit, time.Now().UTC().Truncate(time.Second), load(), s.version,
		s.executions, s.cpu, s.wall, s.edges, s.lines, s.regions}
	text, err := json.Marshal(e)
	if err != nil {
		return err
	}
	r.entries = append(r.entries, e)
	f, err := os.OpenFile(r.file, os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o644)
	if err != nil {
		return err
	}
	_, err = f.Write(append(text, '\n'))
	return errors.Join(err, f.Close())
}

package link

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"

	"github.com/teaselfuzz/teasel/policy"
)

// Statistics are what the pools and the sensors of a worker have come to.
type Statistics struct {
	Test    string
	Worker  int
	Pools   []policy.PoolStats
	Sensors []Sensor
}

// Sensor is a number that a sensor has come to.
type Sensor struct {
	Name  string // such as "Maximize depth"
	What  string // such as "greatest value"
	Value float64
}

// The names of the files of a worker in the directory of its statistics: the figures over time, and how they stand.
const (
	seriesFile = "pools-%d.csv"
	stateFile  = "pools-%d.json"
)

// SeriesFile returns the file to which a worker appends the figures of its pools.
func SeriesFile(dir string, worker int) string {
	return filepath.Join(dir, fmt.Sprintf(seriesFile, worker))
}

// WriteStatistics writes how the figures of a worker stand, to a file beside that of its [Settings]. Whoever reads it has all of it.
func WriteStatistics(s *Settings, v *Statistics) error {
	data, err := json.Marshal(v)
	file := filepath.Join(filepath.Dir(s.Statistics), fmt.Sprintf(stateFile, s.Worker))
	if err == nil {
		err = os.WriteFile(file+".new", data, 0o666)
	}
	if err == nil {
		err = os.Rename(file+".new", file)
	}
	if err != nil {
		return fmt.Errorf("writing the statistics of the pools: %w", err)
	}
	return nil
}

// ReadStatistics returns how the figures of the workers stand whose files are in a directory, by number. What cannot be read is left out.
func ReadStatistics(dir string) (all []Statistics) {
	files, _ := filepath.Glob(filepath.Join(dir, "pools-*.json")) // the pattern is right
	for _, f := range files {
		var s Statistics
		if data, err := os.ReadFile(f); err == nil && json.Unmarshal(data, &s) == nil {
			all = append(all, s)
		}
	}
	slices.SortFunc(all, func(a, b Statistics) int { return a.Worker - b.Worker })
	return all
}

package process_test

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/gofunc/process"
)

// What the pools of a test have come to is in a file for each worker, which several processes may write one after another.
func TestStatisticsOfPools(t *testing.T) {
	if testing.Short() {
		t.Skip("it starts hundreds of processes, each of which writes in one goroutine: not with -short")
	}
	p := target(t, "FuzzPools")
	p.Runs, p.Statistics, p.MinimizeRuns = 20_000, t.TempDir(), -1
	s := campaign(t, p, 0)
	campaign(t, p, 0) // carries on with the file
	f, err := os.Open(filepath.Join(p.Statistics, "pools-0.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	want := []string{"seconds", "executions", "coverage size", "coverage score", "coverage added", "coverage evicted", "longest size", "longest score", "longest added", "longest evicted"}
	if len(rows) < 3 || !slices.Equal(rows[0], want) {
		t.Fatalf("%d rows, the first is %q, want %q", len(rows), rows[0], want)
	}
	for _, row := range rows[1:] {
		if row[0] == "seconds" {
			t.Error("there are headers between the rows")
		}
	}
	last := rows[len(rows)-1]
	for i, least := range map[int]float64{1: 10_000, 2: 2, 3: 200, 4: 2, 6: 1, 7: 10, 8: 2} {
		if got, err := strconv.ParseFloat(last[i], 64); err != nil || got < least {
			t.Errorf("%s is %s in the end, want %v or more", want[i], last[i], least)
		}
	}
	if len(s.Findings) != 1 {
		t.Errorf("findings %v", s.Findings)
	}
}

// In the end a test says what its pools and sensors have come to.
func TestStatisticsAreSaid(t *testing.T) {
	p := target(t, "FuzzSensors")
	p.Runs, p.Statistics = 20_000, t.TempDir()
	var said notes
	c := process.Campaign{Test: p, Reporters: []teasel.Reporter{&said}}
	if _, err := c.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	text := strings.Join(said, "\n")
	for _, want := range []string{`(?m)^FuzzSensors: pool simplest: \d+ inputs, score \d+, \d+ added, \d+ evicted$`, `(?m)^FuzzSensors: sensor Observe: 4 states$`,
		`(?m)^FuzzSensors: sensor Maximize ones: greatest value 8$`, `(?m)^FuzzSensors: sensor odd numbers: figure \d\d+$`} {
		if !regexp.MustCompile(want).MatchString(text) {
			t.Errorf("said %s\nwant %s", text, want)
		}
	}
	all := link.ReadStatistics(p.Statistics)
	if len(all) != 1 || all[0].Test != "FuzzSensors" || len(all[0].Pools) != 2 || all[0].Pools[0].Added == 0 {
		t.Fatalf("statistics %+v", all)
	}
	if s := all[0].Sensors; len(s) != 3 || s[0] != (link.Sensor{Name: "Observe", What: "states", Value: 4}) || s[2].Name != "odd numbers" || s[2].Value < 10 {
		t.Errorf("sensors %+v", s)
	}
	if csv, err := os.ReadFile(filepath.Join(p.Statistics, "pools-0.csv")); err != nil || !strings.Contains(string(csv), ",odd numbers\n") {
		t.Errorf("%v\n%s", err, csv)
	}
}

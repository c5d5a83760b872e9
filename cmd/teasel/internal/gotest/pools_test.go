package gotest

import (
	"path/filepath"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel/gofunc/link"
	"github.com/teaselfuzz/teasel/policy"
)

// Tables show each worker's pools that have held anything, and its sensors; a campaign without statistics has no table.
func TestPoolPanel(t *testing.T) {
	dir := t.TempDir()
	if got := panels(nil, dir).Panels(nil); got != nil {
		t.Errorf("got %+v", got)
	}
	for worker := range 2 {
		s := &link.Statistics{Test: "FuzzX", Worker: worker, Pools: []policy.PoolStats{{Name: "simplest", Size: 3, Score: 2.5, Added: 9, Evicted: 6}, {Name: "idle"}}}
		if worker == 1 {
			s.Sensors = []link.Sensor{{Name: "Observe", What: "states", Value: 1 << 20}}
		}
		if err := link.WriteStatistics(&link.Settings{Worker: worker, Statistics: link.SeriesFile(dir, worker)}, s); err != nil {
			t.Fatal(err)
		}
	}
	if left, _ := filepath.Glob(filepath.Join(dir, "*.new")); left != nil {
		t.Errorf("left behind: %v", left)
	}
	got := panels(nil, dir).Panels(nil)
	want := [][][]string{
		{{"FuzzX", "simplest", "3", "2.5", "9", "6"}, {"FuzzX, worker 1", "simplest", "3", "2.5", "9", "6"}},
		{{"FuzzX, worker 1", "Observe", "states", "1048576"}},
	}
	if len(got) != 2 {
		t.Fatalf("got %+v", got)
	}
	for i := range want {
		if !slices.EqualFunc(got[i].Rows, want[i], slices.Equal) || len(got[i].Head) != len(want[i][0]) {
			t.Errorf("%s: got %v, want %v", got[i].Title, got[i].Rows, want[i])
		}
	}
}

package corpus

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// Where the directory of a campaign that runs is removed, or a part of it, the next event of any kind returns an error that says so.
func TestRemoved(t *testing.T) {
	for name, e := range map[string]teasel.Event{
		"a testcase":  added("one", 1),
		"a finding":   found("rule-crash", "subject", "input"),
		"no more":     {Kind: teasel.EventProgress},
		"its folders": added("two", 1),
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "out")
			d, err := Create(path, testMeta())
			if err != nil {
				t.Fatal(err)
			}
			defer d.Close()
			gone := path
			if name == "its folders" {
				gone = filepath.Join(path, Interesting)
			}
			if err := os.RemoveAll(gone); err != nil {
				t.Fatal(err)
			}
			var removed *RemovedError
			if err := d.Report(e); !errors.As(err, &removed) || removed.Dir != path {
				t.Errorf("error %v, want one that says that %s was removed", err, path)
			}
		})
	}
}

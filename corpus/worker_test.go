package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
)

// A worker with a number that no worker has is a problem and is dropped; the others keep their places.
func TestWorkerNumber(t *testing.T) {
	for _, bad := range []string{"-1", "65536", "70000"} {
		d := create(t)
		p := progress(time.Second, 9)
		p.Workers = []teasel.WorkerState{{Number: 0, Draws: 5}, {Number: 1, Draws: 6, Executions: 7}}
		report(t, d, p)
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		path := filepath.Join(d.Path(), campaignName)
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(strings.Replace(string(text), `"number":0`, `"number":`+bad, 1)), 0o644); err != nil {
			t.Fatal(err)
		}
		if d, err = Open(d.Path()); err != nil {
			t.Fatal(err)
		}
		s, problems := snapshot(t, d)
		if want := []teasel.WorkerState{{Number: 0}, {Number: 1, Draws: 6, Executions: 7}}; !slices.Equal(s.Workers, want) {
			t.Errorf("number %s: workers %v, want %v", bad, s.Workers, want)
		}
		if want := fmt.Sprintf("worker %s: expected a number from 0 to 65535", bad); len(problems) != 1 || !strings.HasSuffix(problems[0].Error(), want) {
			t.Errorf("number %s: problems %v, want %s", bad, problems, want)
		}
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
	}
}

// The same holds for a worker in the journal.
func TestWorkerNumberInJournal(t *testing.T) {
	d := create(t)
	p := progress(time.Second, 9)
	p.Workers = []teasel.WorkerState{{Number: -1, Draws: 5}, {Number: 0, Draws: 6}}
	report(t, d, p)
	r, err := OpenReadOnly(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	s, problems := snapshot(t, r)
	if want := []teasel.WorkerState{{Number: 0, Draws: 6}}; !slices.Equal(s.Workers, want) || len(problems) != 1 {
		t.Errorf("workers %v, problems %v, want %v and one problem", s.Workers, problems, want)
	}
}

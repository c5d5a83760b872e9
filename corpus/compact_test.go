package corpus

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/teaselfuzz/teasel"
)

// compacting returns a campaign in the middle of a compaction, which goes on when the function is called.
func compacting(t *testing.T) (d *Dir, proceed func()) {
	t.Helper()
	d = create(t)
	gate, begun := make(chan bool), make(chan bool)
	d.beforeWrite = func() {
		begun <- true
		<-gate
	}
	many := make([]teasel.Feature, 1000)
	for i := range many {
		many[i] = teasel.Feature(i+1) << 40
	}
	for i := range 200 {
		report(t, d, added(strconv.Itoa(i), many...))
		select {
		case <-begun:
			d.beforeWrite = nil
			return d, func() { close(gate) }
		default:
			if d.compacting != nil {
				<-begun
				d.beforeWrite = nil
				return d, func() { close(gate) }
			}
		}
	}
	t.Fatal("the journal has not grown enough for a compaction")
	return nil, nil
}

// While campaign.json is written anew, reports go on, a reader sees all of them, and so does whoever opens the directory
// after a kill.
func TestReportsDuringCompaction(t *testing.T) {
	d, proceed := compacting(t)
	before := len(d.state.at)
	first := d.state.list[0].Key
	for i := range 50 {
		report(t, d, added(fmt.Sprint("more ", i), teasel.Feature(i+1)))
	}
	report(t, d, teasel.Event{Kind: teasel.EventEvicted, Entry: teasel.Entry{Key: first}}, found("r", "s", "x"))
	p := progress(1, 2)
	p.Advances = []teasel.Advance{{Key: d.state.list[1].Key, Step: 7, Picked: 9}}
	report(t, d, p)

	check := func(when string, d *Dir) {
		t.Helper()
		s, problems := snapshot(t, d)
		if len(s.Entries) != before+49 || len(s.Findings) != 1 || len(problems) != 0 || s.Executions != 2 {
			t.Fatalf("%s: %d testcases of %d, %d findings, %v", when, len(s.Entries), before+49, len(s.Findings), problems)
		}
		if e := s.Entries[0]; e.Step != 7 || e.Picked != 9 || e.Features.Len() != 1000 {
			t.Errorf("%s: the first testcase has %+v", when, e)
		}
	}
	view, err := OpenReadOnly(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	check("during", view)

	killed := filepath.Join(t.TempDir(), "killed")
	if err := os.CopyFS(killed, os.DirFS(d.Path())); err != nil {
		t.Fatal(err)
	}
	if err := os.Remove(filepath.Join(killed, lockName)); err != nil {
		t.Fatal(err)
	}
	again, err := Open(killed)
	if err != nil {
		t.Fatal(err)
	}
	check("after a kill", again)
	if _, err := os.Stat(filepath.Join(killed, previousName)); err == nil {
		t.Error("the previous journal is left")
	}
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}

	proceed()
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	if view, err = OpenReadOnly(d.Path()); err != nil {
		t.Fatal(err)
	}
	check("after", view)
}

// A kill between the two journals, or after campaign.json was written, loses nothing and plays nothing twice.
func TestKillDuringCompaction(t *testing.T) {
	for _, journal := range []bool{false, true} {
		d, proceed := compacting(t)
		want := len(d.state.at)
		killed := filepath.Join(t.TempDir(), "killed")
		if err := os.CopyFS(killed, os.DirFS(d.Path())); err != nil {
			t.Fatal(err)
		}
		proceed()
		if err := d.Close(); err != nil {
			t.Fatal(err)
		}
		if journal { // campaign.json is there, and the previous journal too
			data, err := os.ReadFile(filepath.Join(d.Path(), campaignName))
			if err == nil {
				err = os.WriteFile(filepath.Join(killed, campaignName), data, 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
		} else if err := os.Remove(filepath.Join(killed, journalName)); err != nil {
			t.Fatal(err)
		}
		view, err := OpenReadOnly(killed)
		if err != nil {
			t.Fatal(err)
		}
		if s, problems := snapshot(t, view); len(s.Entries) != want || len(problems) != 0 {
			t.Errorf("campaign.json written %v: %d testcases of %d, %v", journal, len(s.Entries), want, problems)
		}
	}
}

// A compaction that fails is reported, and loses nothing.
func TestFailedCompaction(t *testing.T) {
	d, proceed := compacting(t)
	want := len(d.state.at)
	obstacle := temporary(filepath.Join(d.Path(), campaignName))
	if err := os.Mkdir(obstacle, 0o755); err != nil {
		t.Fatal(err)
	}
	proceed()
	<-d.compacting.done
	if err := d.Report(added("late", 1)); err == nil {
		t.Error("a failed compaction is not reported")
	}
	if err := os.Remove(obstacle); err != nil {
		t.Fatal(err)
	}
	if err := d.Close(); err != nil {
		t.Fatal(err)
	}
	view, err := OpenReadOnly(d.Path())
	if err != nil {
		t.Fatal(err)
	}
	if s, problems := snapshot(t, view); len(s.Entries) != want+1 || len(problems) != 0 {
		t.Errorf("%d testcases of %d, %v", len(s.Entries), want+1, problems)
	}
}

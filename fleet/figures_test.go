package fleet_test

import (
	"fmt"
	"slices"
	"syscall"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/fleet"
)

// How often a finding has occurred is the sum of what the machines say, whoever's input the hub has.
func TestOccurrences(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	f := find("a", 3, 5).Finding
	f.Occurrences = 2
	m1 := join(t, dial(t, config(s, "m1")), fleet.Options{})
	m1.report(teasel.Event{Kind: teasel.EventFound, Finding: f})
	m2 := join(t, dial(t, config(s, "m2")), fleet.Options{Existing: &teasel.Snapshot{Findings: []teasel.Finding{f}}})
	m1.report(teasel.Event{Kind: teasel.EventProgress, Sightings: []teasel.Sighting{{ID: f.ID(), Times: 40}}})
	m1.close()
	m2.close()
	ms, err := dial(t, config(s, "watch")).Machines(t.Context(), "")
	if n := fleet.Occurrences(ms, f.ID()); err != nil || n != 42 {
		t.Errorf("it has occurred %d times, %v: %+v", n, err, ms)
	}
}

// A budget counts what machines have executed that ended before the hub was started again.
func TestBudgetOutlivesHub(t *testing.T) {
	t.Parallel()
	ctx := t.Context()
	farm := newFarm(t, 0)
	at := func(machine string) fleet.Config {
		return fleet.Config{URL: farm.url(), Campaign: "maze", Machine: machine}
	}
	var boss *fleet.Link
	until(t, "the hub answers", func() bool {
		l, err := fleet.Dial(at("boss"))
		if boss = l; err != nil && l != nil {
			l.Close()
		}
		return err == nil
	})
	if _, err := boss.Streams(ctx); err != nil {
		t.Fatal(err)
	}
	if err := boss.Give(ctx, fleet.Order{State: fleet.Running, Runs: 1000}); err != nil {
		t.Fatal(err)
	}
	boss.Close()
	early := join(t, dial(t, at("early")), fleet.Options{})
	early.report(teasel.Event{Kind: teasel.EventProgress, Stats: teasel.Stats{Executions: 999}})
	early.close()
	if err := farm.hub.Process.Signal(syscall.SIGTERM); err != nil {
		t.Fatal(err)
	}
	if err := farm.hub.Wait(); err != nil {
		t.Fatal(err)
	}
	farm.startHub()
	l, _ := fleet.Dial(at("late")) // the hub may not be there yet
	t.Cleanup(l.Close)
	stopped := make(chan string, 1)
	late := join(t, l, fleet.Options{Stop: func(cause string) { stopped <- cause }})
	until(t, "the earlier machine is known", func() bool {
		ms, err := l.Machines(ctx, "early")
		return err == nil && len(ms) == 1 && ms[0].Executions == 999 && ms[0].Ended == "runs"
	})
	late.report(teasel.Event{Kind: teasel.EventProgress, Stats: teasel.Stats{Executions: 1}})
	if cause := <-stopped; cause != "fleet" {
		t.Errorf("stopped because of %q", cause)
	}
	late.close()
}

// Of what a machine has when it joins, it sends many testcases at once, and none of which another one among them reaches everything.
func TestBridgeSendsMany(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	var have teasel.Snapshot
	var want []string
	for i := range 100 {
		base := teasel.Feature(10*i + 1)
		have.Entries = append(have.Entries, entry(fmt.Sprint("k", i), base, base+1), entry(fmt.Sprint("needless", i), base+1))
		want = append(want, fmt.Sprint("k", i))
	}
	m := join(t, dial(t, config(s, "m1")), fleet.Options{Existing: &have})
	if e, f := m.close(); e+f > 0 {
		t.Errorf("%d testcases and %d findings are left", e, f)
	}
	watch := dial(t, config(s, "watch"))
	es, _, _, err := watch.Pull(t.Context(), 0, 500)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range es {
		got = append(got, es[i].Key)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		t.Errorf("the hub has %q", got)
	}
	if ms, err := watch.Machines(t.Context(), "m1"); err != nil || len(ms) != 1 || ms[0].Sent != 100 {
		t.Errorf("its latest figures are %+v, %v", ms, err)
	}
}

// However many builds a machine claims, a few are named.
func TestManyBuilds(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	liar := dial(t, config(s, "liar"))
	if _, err := liar.Streams(t.Context()); err != nil {
		t.Fatal(err)
	}
	var keys []string
	for i := range 30 {
		key := fmt.Sprint("k", i)
		if _, err := liar.Push(t.Context(), &fleet.Entry{Key: key, Machine: "liar", Build: key, Data: []byte(key)}); err != nil {
			t.Fatal(err)
		}
		keys = append(keys, key)
	}
	m := join(t, dial(t, config(s, "m1")), fleet.Options{})
	m.pulls(keys...)
	m.close()
	m.report(teasel.Event{Kind: teasel.EventProgress})
	if n, more := m.notes.have("another build"), m.notes.have("more builds"); n != 8 || more != 1 {
		t.Errorf("%d builds are named, and %d times it is said that there are more: %q", n, more, m.notes.texts)
	}
}

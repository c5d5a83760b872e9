package fleet_test

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/fleet"
)

// warned calls Pull until it has named the features; it must name no others.
func (m member) warned(want ...teasel.Feature) {
	m.t.Helper()
	var got []teasel.Feature
	until(m.t, "the features are there", func() bool {
		s, err := m.Pull(m.t.Context())
		if err != nil {
			m.t.Fatal(err)
		}
		got = append(got, s.Unstable...)
		return len(got) >= len(want)
	})
	if slices.Sort(got); !slices.Equal(got, want) {
		m.t.Errorf("unstable are %v, expected %v", got, want)
	}
}

// A feature that one machine has seen to vary between runs of one input counts for no other one of the same build: neither what is kept nor what
// travels depends on it. Of another build it says nothing. What earlier runs have seen is sent, too.
func TestUnstable(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	m1 := join(t, dial(t, config(s, "m1")), fleet.Options{Existing: &teasel.Snapshot{Unstable: []teasel.Feature{4}}})
	m1.report(teasel.Event{Kind: teasel.EventProgress, Unstable: []teasel.Feature{5}})
	m2 := join(t, dial(t, config(s, "m2")), fleet.Options{Existing: &teasel.Snapshot{Entries: []teasel.Entry{entry("mine", 6)}}})
	m2.warned(4, 5)
	m2.report(teasel.Event{Kind: teasel.EventProgress, Unstable: []teasel.Feature{4, 5}}) // the campaign reports what it was told
	other := join(t, dial(t, config(s, "m3")), fleet.Options{Build: "another"})
	m2.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("varies", 4)})
	other.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("theirs", 5)})
	m2.pulls("theirs") // of another build, features say nothing
	m1.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("both", 5, 6, 7)})
	m2.pulls("both")
	m1.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("known", 5, 7)})
	m1.report(teasel.Event{Kind: teasel.EventAdded, Entry: entry("last", 8)})
	m2.pulls("last")
	m2.report(teasel.Event{Kind: teasel.EventProgress, Unstable: []teasel.Feature{9}})
	m1.warned(9)
	if in, err := other.Pull(t.Context()); err != nil || len(in.Unstable) > 0 {
		t.Errorf("of another build: %v, %v", in.Unstable, err)
	}
	for _, m := range []member{m1, m2, other} {
		if e, f := m.close(); e+f > 0 {
			t.Errorf("%d testcases and %d findings are left", e, f)
		}
	}
	es, _, _, err := dial(t, config(s, "watch")).Pull(t.Context(), 0, 100)
	if err != nil {
		t.Fatal(err)
	}
	var keys []string
	told := 0
	for _, e := range es {
		if told += e.Unstable.Len(); e.Unstable.Len() == 0 {
			keys = append(keys, e.Key)
		}
	}
	if slices.Sort(keys); !slices.Equal(keys, []string{"both", "last", "mine", "theirs"}) || told != 3 {
		t.Errorf("the hub has %q, and %d features that vary", keys, told)
	}
}

package fleet_test

import (
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/corpus"
	"github.com/teaselfuzz/teasel/fleet"
)

// untried is a finding that there was no time to reproduce.
func untried(subject string) teasel.Finding {
	f := find(subject, 0, 7).Finding
	f.Tries = 0
	return f
}

// stored returns the finding about a subject that the hub has; without a rule: it has none.
func stored(t *testing.T, watch *fleet.Link, subject string) (f teasel.Finding) {
	t.Helper()
	best, err := watch.Best(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, b := range best {
		if b.Finding.Subject == subject {
			return b.Finding
		}
	}
	return f
}

// asked calls Pull until it has brought so many errands.
func (m member) asked(want int) (got []teasel.Errand) {
	m.t.Helper()
	until(m.t, "it is asked", func() bool {
		s, err := m.Pull(m.t.Context())
		if err != nil {
			m.t.Fatal(err)
		}
		got = append(got, s.Errands...)
		return len(got) >= want
	})
	return got
}

// watching returns a link to a hub that has the campaign's streams.
func watching(t *testing.T, c fleet.Config) *fleet.Link {
	t.Helper()
	watch := dial(t, c)
	if _, err := watch.Streams(t.Context()); err != nil {
		t.Fatal(err)
	}
	return watch
}

// A finding for which one machine had no time is confirmed by another; how that went is known to the fleet.
func TestErrands(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	watch := watching(t, config(s, "watch"))
	first := join(t, dial(t, config(s, "m1")), fleet.Options{})
	first.report(teasel.Event{Kind: teasel.EventUnconfirmed, Finding: untried("real")})
	first.report(teasel.Event{Kind: teasel.EventUnconfirmed, Finding: untried("not")})
	until(t, "both are on the hub", func() bool { return stored(t, watch, "real").Rule != "" && stored(t, watch, "not").Rule != "" })
	first.close()

	helper := join(t, dial(t, config(s, "m2")), fleet.Options{})
	for _, e := range helper.asked(2) {
		f := e.Finding
		if f.Subject == "real" {
			f.Stable, f.Tries = 3, 3
			helper.report(teasel.Event{Kind: teasel.EventFound, Finding: f})
		} else {
			f.Tries = 3
			helper.report(teasel.Event{Kind: teasel.EventUnconfirmed, Finding: f})
		}
	}
	until(t, "the hub knows how it went", func() bool { return stored(t, watch, "real").Stable == 3 && stored(t, watch, "not").Tries == 3 })
	if err := watch.Find(t.Context(), &corpus.FindingFile{Kind: "maze", Finding: untried("not")}); err != nil || stored(t, watch, "not").Tries != 3 {
		t.Errorf("one that nobody has tried takes the place of %+v, %v", stored(t, watch, "not"), err)
	}
	helper.close()
}

// What a machine could not reproduce it does not try again: it says so when another one asks.
func TestErrandsTriedBefore(t *testing.T) {
	t.Parallel()
	s := startHub(t)
	watch := watching(t, config(s, "watch"))
	knows := join(t, dial(t, config(s, "m3")), fleet.Options{})
	f := untried("later")
	f.Tries = 3
	knows.report(teasel.Event{Kind: teasel.EventUnconfirmed, Finding: f})
	asks := join(t, dial(t, config(s, "m4")), fleet.Options{})
	asks.report(teasel.Event{Kind: teasel.EventUnconfirmed, Finding: untried("later")})
	until(t, "the hub knows that, too", func() bool { return stored(t, watch, "later").Tries == 3 })
	asks.report(teasel.Event{Kind: teasel.EventUnconfirmed, Finding: untried("last")})
	if got := knows.asked(1); len(got) != 1 || got[0].Finding.Subject != "last" {
		t.Errorf("asked for %+v", got)
	}
	asks.close()
	knows.close()
}

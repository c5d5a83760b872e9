package main

import (
	"bytes"
	"strings"
	"testing"
	"time"
)

// What the documentation says of the table: the rate of a fleet does not grow with it, leaf nodes help throughout, several streams at the
// beginning only.
func TestReport(t *testing.T) {
	var c costs
	if err := flags(&c).Parse(nil); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := report(&out, &c); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 1+5*5+4 {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
	one, many := discover(&c, 1), discover(&c, 10000)
	if last := len(phases) - 1; many[last] > 2*one[last] {
		t.Errorf("on its first day a fleet sends %v testcases a second, and one machine %v", many[last], one[last])
	}
	hub, streams, leaves := &arrangements[0], &arrangements[2], &arrangements[3]
	for at := range phases {
		h, _ := hub.largest(&c, at)
		s, _ := streams.largest(&c, at)
		l, _ := leaves.largest(&c, at)
		if l < 1.5*h || (s > 1.5*h) != (at == 0) {
			t.Errorf("%s: at most %.0f machines with one hub, %.0f with streams, %.0f with leaf nodes", phases[at].name, h, s, l)
		}
	}
}

// A run that has not come so far counts as one that takes longer than all others.
func TestTimes(t *testing.T) {
	b := bench{plan: plan{limit: time.Minute}}
	var all []outcome
	for _, at := range [][]time.Duration{{time.Second, 5 * time.Second}, {2 * time.Second}, {3 * time.Second, 40 * time.Second}} {
		all = append(all, outcome{bugs: at})
	}
	bugs := func(o outcome) []time.Duration { return o.bugs }
	if got, want := b.times(all, 1, bugs), "2 s (1 s to 3 s)"; got != want {
		t.Errorf("the first: %s, want %s", got, want)
	}
	if got, want := b.times(all, 2, bugs), "40 s (5 s to over 1m0s)"; got != want {
		t.Errorf("the second: %s, want %s", got, want)
	}
}

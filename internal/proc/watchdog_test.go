package proc

import (
	"testing"
	"time"
)

// What a run has to do to be killed, with a limit of a second: sights are a tenth of a second apart.
func TestJudge(t *testing.T) {
	const limit, step = time.Second, 100 * time.Millisecond
	busy := func(n int) glance { return glance{cpu: time.Duration(n) * step, ready: true} } // has a processor all the time
	for _, test := range []struct {
		name   string
		at     func(n int) glance // what is seen n tenths of a second after the run was seen first
		looks  int
		why    Reason
		server bool
	}{
		{"works for the limit", busy, 10, Timeout, false},
		{"works for less", busy, 9, NotKilled, false},
		{"has half a processor", func(n int) glance { return glance{cpu: time.Duration(n) * step / 2, ready: true} }, 20, Timeout, false},
		{"gets a thirtieth of a processor", func(n int) glance { return glance{cpu: time.Duration(n) * step / 30, ready: true} }, 299, NotKilled, false},
		{"works for the limit with a thirtieth", func(n int) glance { return glance{cpu: time.Duration(n) * step / 30, ready: true} }, 300, Timeout, false},
		{"has no processor for a while", func(n int) glance { return glance{ready: true} }, 999, NotKilled, false},
		{"never gets a processor", func(n int) glance { return glance{ready: true} }, 1000, Timeout, false},
		{"sleeps for two limits", func(n int) glance { return glance{} }, 29, NotKilled, false},
		{"sleeps for three", func(n int) glance { return glance{} }, 30, Timeout, false},
		{"polls", func(n int) glance { return glance{cpu: time.Duration(n) * time.Millisecond} }, 30, Timeout, false},
		{"works and waits in turns", func(n int) glance { return glance{cpu: time.Duration(n) * step / 5} }, 49, NotKilled, false},
		{"works and waits in turns, for the limit", func(n int) glance { return glance{cpu: time.Duration(n) * step / 5} }, 50, Timeout, false},
		{"is exempt", func(n int) glance { g := busy(n); g.exempt = true; return g }, 99, NotKilled, false},
		{"is exempt for ten limits", func(n int) glance { g := busy(n); g.exempt = true; return g }, 100, Timeout, false},
		{"holds too much", func(n int) glance { g := busy(n); g.memory = n > 3; return g }, 4, MemoryLimit, false},
		{"is cancelled", func(n int) glance { return glance{cancelled: n > 1, doomed: n > 1} }, 2, Cancelled, false},
		{"is killed, and nobody reports it", func(n int) glance { return glance{doomed: n >= 2} }, 12, NotKilled, true},
		{"is killed, and waits for a processor", func(n int) glance { return glance{doomed: n >= 2, ready: true} }, 99, NotKilled, false},
		{"goes on for ever in spite of all", busy, 110, NotKilled, true},
	} {
		s, start := sighting{}, time.Unix(0, 0)
		var why Reason
		var server bool
		for n := range test.looks + 1 {
			g := test.at(n)
			g.run, g.now = 7, start.Add(time.Duration(n)*step)
			if why, server = s.judge(g, limit); n < test.looks && (why != NotKilled && test.why == NotKilled && !test.server || server && !test.server) {
				t.Errorf("%s: %v, server %v after %d looks", test.name, why, server, n)
				break
			}
		}
		if why != test.why || server != test.server {
			t.Errorf("%s: %v, server %v after %d looks, want %v, %v", test.name, why, server, test.looks, test.why, test.server)
		}
	}
	s := sighting{}
	for n := range 100 { // each run is short
		g := busy(n)
		g.run, g.now = uint64(n/5), time.Unix(0, 0).Add(time.Duration(n)*step)
		if why, server := s.judge(g, limit); why != NotKilled || server {
			t.Fatalf("run %d of many short ones: %v, server %v", g.run, why, server)
		}
	}
}

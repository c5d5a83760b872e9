package proc

import (
	"testing"
	"time"
)

// TestJudge feeds samples that are a tenth of a second apart, with a limit of one second.
func TestJudge(t *testing.T) {
	const limit, step = time.Second, 100 * time.Millisecond
	busy := func(n int) sample { return sample{cpu: time.Duration(n) * step, ready: true} } // has a processor all the time
	for _, test := range []struct {
		name    string
		at      func(n int) sample // the sample n tenths of a second after the first
		samples int
		why     Reason
		server  bool
	}{
		{"uses the processor for the limit", busy, 10, Timeout, false},
		{"uses the processor for less", busy, 9, NotKilled, false},
		{"has half a processor", func(n int) sample { return sample{cpu: time.Duration(n) * step / 2, ready: true} }, 20, Timeout, false},
		{"gets a thirtieth of a processor", func(n int) sample { return sample{cpu: time.Duration(n) * step / 30, ready: true} }, 299, NotKilled, false},
		{"uses the limit with a thirtieth of a processor", func(n int) sample { return sample{cpu: time.Duration(n) * step / 30, ready: true} }, 300, Timeout, false},
		{"has no processor for a while", func(n int) sample { return sample{ready: true} }, 999, NotKilled, false},
		{"never gets a processor", func(n int) sample { return sample{ready: true} }, 1000, Timeout, false},
		{"sleeps for two limits", func(n int) sample { return sample{} }, 29, NotKilled, false},
		{"sleeps for three", func(n int) sample { return sample{} }, 30, Timeout, false},
		{"polls", func(n int) sample { return sample{cpu: time.Duration(n) * time.Millisecond} }, 30, Timeout, false},
		{"alternates between work and waiting", func(n int) sample { return sample{cpu: time.Duration(n) * step / 5} }, 49, NotKilled, false},
		{"alternates between work and waiting, for the limit", func(n int) sample { return sample{cpu: time.Duration(n) * step / 5} }, 50, Timeout, false},
		{"is exempt", func(n int) sample { g := busy(n); g.exempt = true; return g }, 99, NotKilled, false},
		{"is exempt for ten limits", func(n int) sample { g := busy(n); g.exempt = true; return g }, 100, Timeout, false},
		{"exceeds the memory limit", func(n int) sample { g := busy(n); g.memory = n > 3; return g }, 4, MemoryLimit, false},
		{"is cancelled", func(n int) sample { return sample{cancelled: n > 1, killPending: n > 1} }, 2, Cancelled, false},
		{"was killed, and its end is not reported", func(n int) sample { return sample{killPending: n >= 2} }, 12, NotKilled, true},
		{"was killed, and waits for a processor", func(n int) sample { return sample{killPending: n >= 2, ready: true} }, 99, NotKilled, false},
		{"survives every signal", busy, 110, NotKilled, true},
	} {
		s, start := runHistory{}, time.Unix(0, 0)
		var why Reason
		var server bool
		for n := range test.samples + 1 {
			g := test.at(n)
			g.run, g.now = 7, start.Add(time.Duration(n)*step)
			if why, server = s.judge(g, limit); n < test.samples && (why != NotKilled && test.why == NotKilled && !test.server || server && !test.server) {
				t.Errorf("%s: %v, server %v after %d samples", test.name, why, server, n)
				break
			}
		}
		if why != test.why || server != test.server {
			t.Errorf("%s: %v, server %v after %d samples, want %v, %v", test.name, why, server, test.samples, test.why, test.server)
		}
	}
	s := runHistory{}
	for n := range 100 { // each run is short
		g := busy(n)
		g.run, g.now = uint64(n/5), time.Unix(0, 0).Add(time.Duration(n)*step)
		if why, server := s.judge(g, limit); why != NotKilled || server {
			t.Fatalf("run %d of many short ones: %v, server %v", g.run, why, server)
		}
	}
}

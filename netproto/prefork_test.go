package netproto

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A process of the server's that spins when its client has gone costs a part of the time limit, and the dialogue that began it is to be
// confirmed with all of it. What only takes long is no hang with all of the time, and from then on not with a part of it either.
func TestSpinningProcess(t *testing.T) {
	build := func(flags ...string) string { return plantedSource(t, "prefork.c", "clang", flags...) }
	for program, spins := range map[string]bool{build(): true, build("-DCLEAN"): false, build("-DEACH"): true, build("-DEACH", "-DCLEAN"): false} {
		e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}, Timeout: 600 * time.Millisecond})
		exec := func(line string, a teasel.Ask) (o teasel.Observation) {
			o.Ask = a
			if err := e.Exec(t.Context(), dialogue.Raw([]byte(line)), &o); err != nil {
				t.Fatal(err)
			}
			if fs := judge.Detect(&o); (o.Exit == teasel.ExitHang) != (len(fs) == 1 && fs[0].Rule == judge.RuleHang) {
				t.Errorf("%q: %v, %+v", line, o.Exit, fs)
			}
			return o
		}
		exec("fine\n", teasel.Ask{})
		for _, full := range []bool{false, true} {
			if o := exec("half a line", teasel.Ask{Full: full}); (o.Exit == teasel.ExitHang) != spins || o.Short != (spins && !full) {
				t.Errorf("all of the time %t: %v, ended early: %t", full, o.Exit, o.Short)
			}
		}
		if o := exec("fine\n", teasel.Ask{}); o.Exit != teasel.ExitOK {
			t.Errorf("after a process that spins: %v", o.Exit)
		}
		if o := exec("work\n", teasel.Ask{}); o.Exit == teasel.ExitHang && !o.Short { // a busy machine looks at it late
			t.Error("work is a hang")
		}
		for _, full := range []bool{true, false} {
			if o := exec("work\n", teasel.Ask{Full: full}); o.Exit != teasel.ExitOK && !(o.Short && !full) { // as above
				t.Errorf("work, all of the time %t: %v", full, o.Exit)
			}
		}
	}
}

// Much of what is tried has the server spin. That is confirmed, and what it costs each time gets less.
func TestSpinningCampaign(t *testing.T) {
	for program, spins := range map[string]bool{plantedSource(t, "prefork.c", "clang"): true, plantedSource(t, "prefork.c", "clang", "-DCLEAN"): false} {
		c := Campaign(Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}, Timeout: 400 * time.Millisecond}, &dialogue.Mutator{})
		c.Seeds, c.Seed, c.Runs = []*dialogue.Dialogue{dialogue.Raw([]byte("fine\n"))}, 1, 300
		sum := run(t, c)
		if found := len(sum.Findings) == 1 && sum.Findings[0].Rule == judge.RuleHang && sum.Findings[0].Confirmed(); found != spins || !found && len(sum.Findings) > 0 || sum.Stopped != "runs" {
			t.Errorf("found %t, want %t; stopped by %q:%s", found, spins, sum.Stopped, brief(sum.Findings))
		}
	}
}

// A dialogue that need not be judged in full is ended the earlier the more were, but one that has ended by itself sets how long others may take.
func TestEarlier(t *testing.T) {
	e := &executor{target: Target{Timeout: time.Second}}
	for cut, want := range map[int]time.Duration{0: time.Second / 16, 3: time.Second / 16, 5: time.Second / 32, 16: time.Second / 16, 17: time.Second / 256, 401: time.Second / 256} {
		if e.cut = cut; e.early(time.Second) != want {
			t.Errorf("after %d: %v, want %v", cut, e.early(time.Second), want)
		}
	}
	if e.longest = 50 * time.Millisecond; e.early(time.Second) != 400*time.Millisecond {
		t.Errorf("where one has taken 50 ms: %v", e.early(time.Second))
	}
}

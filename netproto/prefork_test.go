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

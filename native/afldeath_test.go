package native_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/native"
)

// TestAFLWavering: a deterministic crash in a program with random branches is confirmed and reported once, with and without a
// background worker, and is reproduced by a new executor. Two crashes in different places are two findings.
func TestAFLWavering(t *testing.T) {
	t.Parallel()
	target := native.Target{Command: []string{aflBuild(t, "afl-clang-fast", "wavering.c", "-O0")}}
	detectors := []teasel.Detector{teasel.DetectorFunc(native.Detect)}
	for _, test := range []struct {
		seeds   []string
		counted bool // the number of runs is limited, so that there is no background worker
	}{
		{[]string{"ABCD"}, true}, {[]string{"ABCD"}, false}, {[]string{"ABCD", "wxyz"}, true}, {[]string{"wxyz", "ABCD"}, false},
	} {
		for seed := range uint64(4) {
			name := fmt.Sprintf("%v, runs counted %v, seed %d", test.seeds, test.counted, seed)
			c := campaign("", seed)
			c.Target, c.Background, c.Runs, c.MinimizeRuns, c.Seeds = target, !test.counted, 600, 50, nil
			if !test.counted {
				c.Runs, c.Duration, c.StopAfter = 0, time.Minute, len(test.seeds)
			}
			for _, s := range test.seeds {
				c.Seeds = append(c.Seeds, []byte(s))
			}
			s, err := c.Run(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			if len(s.Findings) != len(test.seeds) {
				t.Errorf("%s: %d findings after %d executions", name, len(s.Findings), s.Executions)
			}
			for i := range s.Findings {
				f := &s.Findings[i]
				if !f.Confirmed() || f.Rule != "native/invalid-access" && f.Rule != "native/null-dereference" {
					t.Errorf("%s: %s in %q, reproduced %d of %d times", name, f.Rule, f.Group, f.Stable, f.Tries)
				}
				ex := start(t, target)
				for try := range 3 {
					fs, o, err := teasel.Replay(context.Background(), ex, detectors, f.Input)
					if err != nil || len(fs) != 1 || !f.Matches(&fs[0]) {
						t.Errorf("%s: try %d of %q: %v, %+v, %v", name, try, f.Input, o.Exit, fs, err)
					}
				}
			}
		}
	}
}

// TestAFLDeathReported: without a stack, as under an emulator, and while fuzzing, a crash that reaches only edges of earlier crashes is not reported. A run to confirm a
// finding reports it, which does not make it a finding while fuzzing.
func TestAFLDeathReported(t *testing.T) {
	t.Parallel()
	ex := start(t, native.Target{Command: []string{aflBuild(t, "afl-clang-fast", "wavering.c", "-O0", "-DSTEADY")}, Tracer: []string{"env"}})
	names := map[string]string{}
	for i, test := range []struct {
		in       string
		alone    bool
		quick    bool
		reported bool
	}{
		{"ABCD", false, false, true}, {"ABCD", false, false, true},
		{"AB!D", false, false, false}, {"AB!D", true, true, false}, {"AB!D", true, false, true}, {"AB!D", true, true, true}, {"AB!D", false, false, false},
		{"wxyz", true, false, true}, {"wxyz", false, false, true}, {"ABCD", true, false, true}, {"ABCD", true, true, true},
	} {
		obs := []teasel.Observation{{Runs: 1, Ask: teasel.Ask{Quick: test.quick}}}
		var err error
		if test.alone {
			err = ex.Exec(t.Context(), []byte(test.in), &obs[0])
		} else {
			_, err = ex.(teasel.BatchExecutor[[]byte]).ExecBatch(t.Context(), [][]byte{[]byte(test.in)}, obs)
		}
		fs := native.Detect(&obs[0])
		if err != nil || obs[0].Exit != teasel.ExitCrash || len(fs) == 1 != test.reported {
			t.Errorf("step %d, %+v: %v, %+v, %v", i, test, obs[0].Exit, fs, err)
		}
		for _, f := range fs {
			if before, ok := names[test.in]; f.Uncertain || ok && before != f.Group {
				t.Errorf("step %d, %q: group %q, before %q, uncertain %v", i, test.in, f.Group, before, f.Uncertain)
			}
			names[test.in] = f.Group
		}
	}
	if names["ABCD"] == names["AB!D"] || names["ABCD"] == names["wxyz"] || names["wxyz"] == names["AB!D"] {
		t.Errorf("three places have the groups %v", names)
	}
}

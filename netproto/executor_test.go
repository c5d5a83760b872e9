package netproto

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// open starts an executor and closes it when the test is over.
func open(t *testing.T, target Target) *executor {
	t.Helper()
	e, err := target.open(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	})
	return e
}

// request is a message of the planted protocol.
func request(kind byte, body string) []byte {
	sum := 0
	for _, c := range []byte(body) {
		sum += int(c)
	}
	n := len(body) + 2
	return append(append([]byte{'T', kind, byte(n >> 8), byte(n)}, body...), byte(sum>>8), byte(sum))
}

// Each bug that can be shown without a token is reported under its rule, and the clean twin shows nothing.
func TestPlantedBugs(t *testing.T) {
	bad, clean := planted(t, "clang"), planted(t, "clang", "-DCLEAN")
	for _, tt := range []struct {
		name, rule, group string
		in                *dialogue.Dialogue
	}{
		{"checksum", judge.RuleCrash, "illegal instruction", dialogue.Raw(request(7, "!!"))},
		{"other", judge.RuleCrash, "bus error", dialogue.Raw(request(1, "me"), request(6, "x"))},
		{"hang", judge.RuleHang, "", dialogue.Raw(request(8, "\xff"))},
		{"leak", judge.RuleMemory, "", dialogue.Raw(request(7, "text"))},
		{"nothing", "", "", dialogue.Raw(request(1, "me"), []byte("garbage"))},
	} {
		t.Run(tt.name, func(t *testing.T) {
			for _, program := range []string{bad, clean} {
				target := plantedTarget(t, program)
				target.Model, target.Timeout, target.Thorough = nil, 200*time.Millisecond, true
				e := open(t, target)
				for try := range 2 { // the second time on a server that was started again
					fs, o, err := teasel.Replay(context.Background(), e, Detectors(), tt.in)
					if err != nil {
						t.Fatal(err)
					}
					if program == clean || tt.rule == "" {
						if len(fs) > 0 || o.Exit > teasel.ExitRejected {
							t.Errorf("a server without a bug: %v, %v", o.Exit, fs)
						}
						continue
					}
					if len(fs) != 1 || fs[0].Rule != tt.rule || fs[0].Group != tt.group {
						t.Fatalf("try %d: exit %v, findings %+v, want one of %s %q", try, o.Exit, fs, tt.rule, tt.group)
					}
					if !strings.Contains(fs[0].Detail, "> \"T") {
						t.Errorf("the transcript is missing: %s", fs[0].Detail)
					}
				}
			}
		})
	}
}

// A value that the server gives out is part of a later message.
func TestCapture(t *testing.T) {
	target := plantedTarget(t, planted(t, "clang"))
	e := open(t, target)
	for _, in := range dialogue.Seeds(target.Model) {
		var o teasel.Observation
		if err := e.Exec(context.Background(), in, &o); err != nil {
			t.Fatal(err)
		}
		if o.Exit != teasel.ExitOK {
			t.Errorf("exit %v: %s", o.Exit, e.evidence.Transcript())
		}
	}
}

// The same dialogue reaches the same edges.
func TestStability(t *testing.T) {
	for _, keep := range []bool{false, true} {
		target := plantedTarget(t, planted(t, "afl-clang-fast"))
		target.Keep = keep
		e := open(t, target)
		if e.coverage == nil {
			t.Fatal("the server does not count")
		}
		const runs = 500
		traces := map[uint64]int{}
		in := dialogue.Seeds(target.Model)[0]
		for range runs {
			o := teasel.Observation{Ask: teasel.Ask{Features: true, Trace: true}}
			if err := e.Exec(context.Background(), in, &o); err != nil {
				t.Fatal(err)
			}
			traces[o.Trace]++
			if len(o.Features) < 20 {
				t.Fatalf("%d features", len(o.Features))
			}
		}
		most := 0
		for _, n := range traces {
			most = max(most, n)
		}
		if most < runs*99/100 {
			t.Errorf("keep %v: the commonest of %d traces came %d times of %d", keep, len(traces), most, runs)
		}
	}
}

// What was learnt is no news, and comes only once.
func TestLearn(t *testing.T) {
	e := open(t, plantedTarget(t, planted(t, "afl-clang-fast")))
	in := dialogue.Seeds(e.target.Model)[1]
	var first, second teasel.Observation
	for _, o := range []*teasel.Observation{&first, &second} {
		if err := e.Exec(context.Background(), in, o); err != nil {
			t.Fatal(err)
		}
	}
	if len(first.Features) < 20 || len(second.Features) != 0 {
		t.Errorf("%d features at first, %d then", len(first.Features), len(second.Features))
	}
	states := slices.ContainsFunc(first.Features, teasel.Feature.IsState)
	if !states {
		t.Error("there is no state among the features")
	}
}

// The history is what the server has had since it was started.
func TestHistory(t *testing.T) {
	target := plantedTarget(t, planted(t, "clang"))
	target.Model = nil
	e := open(t, target)
	for i := range 3 {
		var o teasel.Observation
		if err := e.Exec(context.Background(), dialogue.Raw(request(1, string(rune('a'+i)))), &o); err != nil {
			t.Fatal(err)
		}
	}
	past := e.History(nil)
	if len(past) < 2 || string(past[0].Messages[0].Data) != string(request(1, "a")) {
		t.Errorf("the history is %v", past)
	}
	if err := e.Reset(context.Background()); err != nil {
		t.Fatal(err)
	}
	if past := e.History(nil); len(past) != 0 {
		t.Errorf("after a reset the history is %v", past)
	}
}

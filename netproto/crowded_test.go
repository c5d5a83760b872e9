package netproto

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server that leaves a file open behind each dialogue never has many, and that it does is still found.
func TestCrowdedServerIsStartedAnew(t *testing.T) {
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "rules.c", "clang"), "{port}", "{dir}"}})
	most, found := 0, false
	for i := 0; i < 1000 && !found; i++ {
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := e.Exec(context.Background(), dialogue.Raw([]byte("file\n")), &o); err != nil {
			t.Fatal(err)
		}
		for _, f := range judge.Detect(&o) {
			found = found || f.Rule == judge.RuleFiles
		}
		most = max(most, conn.OpenFiles(e.server.PID()))
	}
	if !found {
		t.Error("the leak is not found")
	}
	if most < mostFiles || most > e.firstFiles+mostFiles+4*crowdedEvery {
		t.Errorf("the server had up to %d files open", most)
	}
}

// A server that leaves a file open behind each dialogue is fuzzed all the same once that is found: no more than a part of the time goes
// into showing it again.
func TestLeakIsNotShownForEver(t *testing.T) {
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "rules.c", "clang"), "{port}", "{dir}"}})
	found, good := 0, 0
	for range 600 {
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := e.Exec(context.Background(), dialogue.Raw([]byte("file\n")), &o); err != nil {
			t.Fatal(err)
		}
		if len(judge.Detect(&o)) > 0 {
			found++
		} else if found > 0 {
			good++
		}
	}
	if found == 0 || good < 20*found {
		t.Errorf("%d dialogues show the leak, %d behind the first do not", found, good)
	}
}

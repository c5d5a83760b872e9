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

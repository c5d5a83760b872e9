package netproto

import (
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// A server that does not wait for the processes that it forks for connections is started anew before there are very many.
func TestUnreapedProcesses(t *testing.T) {
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "zombies.c", "clang"), "{port}"}})
	first, most := e.server.PID(), 0
	for i := 0; i < 1000 && e.server.PID() == first; i++ {
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := e.Exec(context.Background(), dialogue.Raw([]byte("hello\n")), &o); err != nil {
			t.Fatal(err)
		}
		if o.Exit != teasel.ExitOK {
			t.Fatalf("exit %v: %s", o.Exit, o.Detail)
		}
		most = max(most, e.server.Unreaped())
	}
	if most < mostZombies-crowdedEvery || most > mostZombies+2*crowdedEvery {
		t.Errorf("the server had up to %d processes that it had not waited for", most)
	}
}

package netproto

import (
	"bytes"
	"context"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// A dialogue is repeated no longer than it takes to see that the server keeps what it is sent and leaks nothing.
func TestStoreIsNotRepeatedForLong(t *testing.T) {
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{plantedSource(t, "store.c", "clang"), "{port}"}, Thorough: true})
	o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
	if err := e.Exec(context.Background(), dialogue.Raw(bytes.Repeat([]byte("k"), 2048)), &o); err != nil {
		t.Fatal(err)
	}
	if o.Evidence != nil || o.Runs < leastRepetitions || o.Runs > repetitions/4 {
		t.Errorf("repeated %d times, %+v", o.Runs, o.Evidence)
	}
}

// The health check runs as often on a server that is started anew every few dialogues.
func TestHealthOfRestartedServer(t *testing.T) {
	target := plantedTarget(t, planted(t, "clang", "-DCLEAN"))
	target.Restart, target.Health = 100, []string{"/bin/false"}
	e := open(t, target)
	for range 2 * examineEvery {
		o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
		if err := e.Exec(context.Background(), dialogue.Raw(request(1, "me")), &o); err != nil {
			t.Fatal(err)
		}
		if o.Exit > teasel.ExitRejected {
			return
		}
	}
	t.Error("the health check has not run")
}

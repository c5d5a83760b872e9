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

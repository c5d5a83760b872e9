package netproto

import (
	"context"
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// answersOf returns what a server answers to one message.
func answersOf(t *testing.T, e *executor, message string) (all []byte) {
	t.Helper()
	if err := e.Exec(context.Background(), dialogue.Raw([]byte(message)), &teasel.Observation{Ask: teasel.Ask{Quiet: true}}); err != nil {
		t.Fatal(err)
	}
	for _, turn := range e.evidence.Talk {
		all = append(all, turn.Received...)
	}
	return slices.Clone(all)
}

// A server that sleeps before it answers is not waited for, where teasel cc has built it. A thread that does nothing but sleep
// goes on at its own pace.
func TestSleepIsCut(t *testing.T) {
	program := plantedSource(t, "sleeps.c", ours)
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}})
	for range 40 { // more often than a thread beside others may
		if got := answersOf(t, e, "hello"); string(got) != "wrong\n" {
			t.Fatalf("a server that sleeps answers %q", got)
		}
	}
	if got := answersOf(t, e, "pace"); len(got) > 0 {
		t.Errorf("a thread that sleeps again and again answers %q", got)
	}
}

// The user may have the server sleep as long as it means to.
func TestSleepIsKept(t *testing.T) {
	program := plantedSource(t, "sleeps.c", ours)
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}"}, Env: []string{"TEASEL_KEEP_SLEEP=1"}})
	if got := answersOf(t, e, "hello"); len(got) > 0 {
		t.Errorf("a server that sleeps for an hour answers %q", got)
	}
}

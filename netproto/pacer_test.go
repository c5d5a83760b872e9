package netproto

import (
	"context"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/conn"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
)

// A thread that does nothing but sleep is not waited for, also when the server was started again.
func TestPacingThreadIsNotWaitedFor(t *testing.T) {
	program := plantedSource(t, "pacer.c", "clang")
	for _, mode := range [][]string{nil, {"brief"}} {
		e := open(t, Target{Address: "127.0.0.1:{port}", Command: append([]string{program, "{port}"}, mode...), Timeout: 300 * time.Millisecond})
		waiting := 0
		for range 3 {
			for range 20 {
				switch state, err := e.server.Settle(context.Background(), nil, e.target.Timeout, e.target.Timeout); {
				case err == nil && state == conn.Waiting:
					waiting++
				case err != nil || state != conn.Asleep:
					t.Fatalf("%v: the server is %v, %v", mode, state, err)
				}
				if got := answersOf(t, e, "hello"); string(got) != "ok\n" {
					t.Fatalf("%v: it answers %q", mode, got)
				}
			}
			if err := e.renew(context.Background()); err != nil {
				t.Fatal(err)
			}
		}
		if waiting > 6 { // once or twice on a busy machine, until it is known that the thread only sleeps
			t.Errorf("%v: waited in vain %d times of 60", mode, waiting)
		}
	}
}

// A server that sleeps while it handles a message is waited for, however often no answer comes of that.
func TestSleepInHandlerIsWaitedFor(t *testing.T) {
	program := plantedSource(t, "pacer.c", "clang")
	e := open(t, Target{Address: "127.0.0.1:{port}", Command: []string{program, "{port}", "no", "thread"}})
	ctx := context.Background()
	for range 8 {
		if err := e.Exec(ctx, dialogue.Raw([]byte("sleep")), &teasel.Observation{Ask: teasel.Ask{Quiet: true}}); err != nil {
			t.Fatal(err)
		}
	}
	if got := answersOf(t, e, "late"); string(got) != "ok\n" {
		t.Errorf("a server that sleeps before it answers says %q", got)
	}
}

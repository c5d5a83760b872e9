package netproto

import (
	"context"
	"os/exec"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/netproto/dialogue"
	"github.com/teaselfuzz/teasel/netproto/judge"
)

// A server that never stops answering is cut off, and started again before the next dialogue.
func TestFlood(t *testing.T) {
	yes, err := exec.LookPath("yes")
	if err != nil {
		t.Fatal(err)
	}
	e := open(t, Target{Address: "stdio", Command: []string{yes}})
	o := teasel.Observation{Ask: teasel.Ask{Quiet: true}}
	if err := e.Exec(context.Background(), dialogue.Raw([]byte("hello\n")), &o); err != nil {
		t.Fatal(err)
	}
	if fs := judge.Detect(&o); o.Exit != teasel.ExitHang || len(fs) != 1 || fs[0].Rule != judge.RuleFlood {
		t.Errorf("exit %v, findings %+v", o.Exit, fs)
	}
	if len(e.buffer) > 0 || cap(e.buffer) > 2*mostUnread+chunk {
		t.Errorf("%d bytes of an answer are kept, of %d", len(e.buffer), cap(e.buffer))
	}
}

// chunk is more than comes at a time.
const chunk = 2 << 20

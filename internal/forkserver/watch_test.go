package forkserver

import (
	"context"
	"os/exec"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// What was seen of one run says nothing of the next one, which may be killed together with the server.
func TestLookedAtThisRun(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	w := watch{look: func(int) bool { return true }}
	w.begin(context.Background(), child.Process.Pid, time.Minute)
	if !w.Kill(proc.Timeout, 1) || !w.saw {
		t.Errorf("the run was not killed, or was not seen: %v", w.saw)
	}
	if w.begin(context.Background(), 0, time.Minute); w.saw {
		t.Error("the next run counts as seen")
	}
}

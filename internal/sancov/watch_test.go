package sancov

import (
	"os"
	"os/exec"
	"sync/atomic"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/internal/proc"
)

// What was seen of a run that ended meanwhile says nothing of the next one.
func TestLookedAtEndedRun(t *testing.T) {
	child := exec.Command("sleep", "60")
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	defer child.Wait()
	defer child.Process.Kill()
	m := &Memory{c: &control{}, r: &results{pid: int32(child.Process.Pid)}}
	ends := true
	s := &Server{pid: os.Getpid(), mem: m}
	s.cmd.Look = func(int) bool {
		if ends {
			atomic.AddUint32(&m.r.cur, 1)
		}
		return true
	}
	s.Hello.Flags |= TSan // it is looked at also while it runs
	w := &s.watch
	w.s = s
	w.begin(time.Minute)
	if w.Kill(proc.Timeout, m.currentRun()) || w.looked.Load() {
		t.Errorf("a run that had ended was killed, or counts as seen: %v", w.looked.Load())
	}
	ends = false
	if !w.Kill(proc.Timeout, m.currentRun()) || !w.looked.Load() {
		t.Errorf("a run in flight was not killed, or does not count as seen: %v", w.looked.Load())
	}
	if w.begin(time.Minute); w.looked.Load() {
		t.Error("a run of the next batch counts as seen")
	}
}

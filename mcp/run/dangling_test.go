package run

import (
	"slices"
	"testing"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// TestDangling: nobody waits for what must not come, and a script that it comes to all the same is handed back with it,
// after the same number of requests each time.
func TestDangling(t *testing.T) {
	var runs []uint64
	for range 2 {
		t.Run("", func(t *testing.T) { runs = append(runs, dangle(t, lateServer(t))) })
	}
	if len(runs) == 2 && (runs[0] != runs[1] || runs[0] < dangleRuns) {
		t.Errorf("it is handed back after %d requests", runs)
	}
}

// dangle lets a server answer what was cancelled, and returns after how many requests the script is handed back.
func dangle(t *testing.T, e *executor) (runs uint64) {
	slow := call("echo", `{"message":"slow"}`) // which is answered after a while, cancelled or not
	late := script.NewShared(check.Cancel, script.SendOn(slow.Steps[0].Line), script.SendOn(check.CancelLine(`"@id:0"`)), script.SendText(ping))
	fine := call("echo", `{"message":"fine"}`)
	obs := executeBatch(t, e, late, fine)
	if obs[0].Exit != teasel.ExitOK || obs[0].Runs != 2 || len(e.dangling) != 1 {
		t.Fatalf("it ended as %v with %d executions, and %d are watched", obs[0].Exit, obs[0].Runs, len(e.dangling))
	}
	batch := slices.Repeat([]script.Script{fine}, 64)
	var o teasel.Observation
	for ok := false; !ok; _, ok = e.Late(&o) {
		if t.Context().Err() != nil {
			t.Fatal("it is not handed back")
		}
		runs = e.runs
		executeBatch(t, e, batch...)
	}
	tr := o.Evidence.(*script.Transcript)
	if s := &tr.Sent[0]; s.Answer < 0 || tr.Received[s.Answer].Sent != 0 {
		t.Errorf("the answer that came late is not among %d lines", len(tr.Received))
	}
	if len(e.dangling) != 0 || len(e.live.flights) != 0 {
		t.Errorf("%d scripts are still watched, and %d ids are kept", len(e.dangling), len(e.live.flights))
	}
	return runs
}

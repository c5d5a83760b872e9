package run

import (
	"strconv"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mcp/session"
)

// A check that needs a process of its own runs beside the batches, and its observation is handed out later.
func TestAnnex(t *testing.T) {
	e := lateServer(t)
	e.quick = false // as if it took its time to start
	lifecycle := lineScript(`{"jsonrpc":"2.0","id":"@id","method":"tools/list"}`)
	lifecycle.Start, lifecycle.Check = script.Fresh, check.Lifecycle
	if o := executeBatch(t, e, lifecycle, lineScript(ping)); o[0].Runs != 0 || o[1].Runs != 1 {
		t.Fatalf("the check had %d executions, the ping %d", o[0].Runs, o[1].Runs)
	}
	beside := 0
	for until := time.Now().Add(time.Minute); ; {
		executeBatch(t, e, lineScript(ping))
		if e.annex.back != nil {
			beside++
		}
		giveWay(e)
		var o teasel.Observation
		if in, ok := e.Late(&o); ok {
			tr := o.Evidence.(*script.Transcript)
			if in.Check != check.Lifecycle || len(tr.Sent) != 1 || o.Runs == 0 {
				t.Errorf("%q was handed out, with %d lines and %d executions", in.Check, len(tr.Sent), o.Runs)
			}
			break
		}
		if time.Now().After(until) {
			t.Fatal("the check was never handed out")
		}
	}
	if beside == 0 {
		t.Error("nothing was run beside it")
	}
	executeBatch(t, e, lifecycle)
	for until := time.Now().Add(time.Minute); e.annex.back == nil && time.Now().Before(until); {
		executeBatch(t, e, lineScript(ping))
		time.Sleep(time.Millisecond)
	}
	if e.annex.back == nil { // the executor is closed in the middle of it
		t.Error("the check was never run")
	}
}

// giveWay waits for the script that the annex runs, or for a moment. The processes of the annex give way to all others: beside a test
// that never rests, on a busy machine, they would come to nothing.
func giveWay(e *executor) {
	if e.annex.back != nil {
		<-e.annex.back
		return
	}
	time.Sleep(5 * time.Millisecond)
}

// Where two campaigns have to run the same, no check waits: whether its process has loaded depends on the clock.
func TestExact(t *testing.T) {
	check := script.NewFresh(check.Lifecycle, append(script.Handshake(session.Versions[len(session.Versions)-1]), script.SendText(ping))...)
	for _, exact := range []bool{false, true} {
		t.Run(strconv.FormatBool(exact), func(t *testing.T) {
			target := lateTarget()
			target.Exact = exact
			e := open(t, target)
			e.quick = false
			o := executeBatch(t, e, check, calls("fine"))
			if ran := o[0].Runs > 0; ran != exact || len(e.expensive) > 0 && exact {
				t.Errorf("the check was run: %v; %d wait", ran, len(e.expensive))
			}
		})
	}
}

package run

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/script"
	"golang.org/x/time/rate"
)

// Executors that share a limit send no more than that together, in batches, one script at a time, and where a step is repeated or not awaited.
// All is answered all the same, and what takes its turn is no slow answer. What would take very long is left out.
func TestRate(t *testing.T) {
	const perSecond = 200
	program := mcptest.BuildServer(t, plantedtest.Planted)
	target := planted(program, "none")
	target.Rate = rate.NewLimiter(perSecond, 1)
	a, b := openBeside(t, target), openBeside(t, target)
	repeated := mcptest.ScriptOf(ping, ping)
	repeated.Steps[0].Times, repeated.Steps[1].NoWait = 5, true
	garbage := mcptest.ScriptOf(`{"jsonrpc":"2.0","id":"@id"`, ping)
	ins := []script.Script{mcptest.ScriptOf(ping), mcptest.ScriptOf(ping, ping, ping), repeated, garbage, mcptest.ScriptOf(ping)}
	lines := 1 + 3 + 6 + 2 + 1
	began := time.Now()
	for range 2 {
		for _, e := range []*executor{a, b} {
			obs := make([]teasel.Observation, len(ins))
			if n, err := e.ExecBatch(t.Context(), ins, obs); err != nil || n != len(ins) {
				t.Fatal(n, err)
			}
			for i := range obs {
				tr := obs[i].Evidence.(*script.Transcript)
				if obs[i].Exit != teasel.ExitOK || tr.Hung || obs[i].Runs == 0 {
					t.Errorf("script %d: %v, %d runs, hung: %v", i, obs[i].Exit, obs[i].Runs, tr.Hung)
				}
			}
		}
	}
	sent := 4*lines + 2*handshakeRequests
	if least := time.Duration(sent-1) * time.Second / perSecond; time.Since(began) < least { // it cannot have been quicker, however busy the machine
		t.Errorf("%d lines took %v, expected at least %v", sent, time.Since(began), least)
	}
	long := mcptest.ScriptOf(ping)
	long.Steps[0].Times = 10 * perSecond
	var o teasel.Observation
	if err := a.Exec(t.Context(), long, &o); err != nil || o.Runs != 0 {
		t.Errorf("a script of %d requests: %d were sent, %v", 10*perSecond, o.Runs, err)
	}
}

// Requests that are no lines of scripts count as well: what a server is asked to find out whether it lives.
func TestRateOfPings(t *testing.T) {
	target := planted(mcptest.BuildServer(t, plantedtest.Planted), "none")
	target.Rate = rate.NewLimiter(100, 1)
	e := openBeside(t, target)
	cancels := mcptest.ScriptOf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":"a","reason":"\u0000"},"x":1}`)
	began := time.Now()
	for range 5 {
		obs := make([]teasel.Observation, 1)
		if _, err := e.ExecBatch(t.Context(), []script.Script{cancels}, obs); err != nil {
			t.Fatal(err)
		}
	}
	pings := int(e.live.beside)
	if pings == 0 {
		t.Fatal("no ping was sent")
	}
	requests := handshakeRequests + 5 + pings - pings/5 // the last ones are counted with the line that comes next
	if least := time.Duration(requests-1) * time.Second / 100; time.Since(began) < least {
		t.Errorf("%d requests took %v, expected at least %v", requests, time.Since(began), least)
	}
}

package mcp

import (
	"testing"

	"github.com/teaselfuzz/teasel"
)

// TestParkedCounts: a script that is parked counts for as many executions as one that is not, and at the same moment.
func TestParkedCounts(t *testing.T) {
	call := func(id string) planned {
		return planned{message: ParseMessage([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)), regular: true}
	}
	e := &executor{}
	for sent := 1; sent <= 3; sent++ {
		script := scriptOf(`{"jsonrpc":"2.0","id":"@id","method":"ping"}`)
		l := &lane{in: &script, step: sent, plan: []planned{call("1"), call("2"), call("3")}, obs: &teasel.Observation{}, parked: true}
		for i := range sent {
			l.t.Sent = append(l.t.Sent, Sent{Message: l.plan[i].message, Regular: true, Answer: i})
		}
		l.t.Sent[sent-1].Answer = -1
		e.lanes = []*lane{l}
		e.conclude(0)
		if l.told != 3 {
			t.Errorf("parked at request %d of 3: %d executions", sent, l.told)
		}
	}
}

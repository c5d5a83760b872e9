package mcp

import (
	"testing"
)

// TestRepeatedLine: a line that is sent many times is one tree, but for the ids.
func TestRepeatedLine(t *testing.T) {
	e := lateServer(t)
	in := call("echo", `{"message":"fine","more":[1,2,3]}`)
	in.Steps[0].Times = 40
	tr, _ := execute(t, e, in)
	if len(tr.Sent) != 40 || len(tr.Received) != 40 {
		t.Fatalf("%d lines are kept and %d answers", len(tr.Sent), len(tr.Received))
	}
	for i := range tr.Sent {
		s := &tr.Sent[i]
		id := ParseMessage(s.Raw).ID
		if s.Message.Params != tr.Sent[0].Message.Params {
			t.Fatal("each has a tree of its own")
		}
		if s.Message.ID != id || s.Message.Root.Get("id").Text != id || s.Answer < 0 {
			t.Errorf("line %d is %s, kept with the ids %s and %s", i, s.Raw, s.Message.ID, s.Message.Root.Get("id").Text)
		}
		if r := &tr.Received[s.Answer]; r.Message.ID != id {
			t.Errorf("line %d is answered with %s", i, r.Raw)
		}
	}
}

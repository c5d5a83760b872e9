package run

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel/mcp/check"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
	"github.com/teaselfuzz/teasel/mutate"
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
		id := jsonrpc.Parse(s.Raw).ID
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

// TestMemoryOfLanes: hundreds of lanes are used again and again, and one that was large once must not
// keep what that took for ever.
func TestMemoryOfLanes(t *testing.T) {
	l := new(lane)
	l.t.Sent, l.t.Received = make([]script.Sent, 9), make([]script.Received, 9)
	l.plan, l.wire = make([]planned, 9), make([]byte, 9)
	root := mutate.NewObject()
	for i := range 9 {
		l.t.Sent[i].Message.Root, l.t.Received[i].Message.Root, l.plan[i].message.Root = root, root, root
	}
	l.take(&script.Script{}, nil)
	for i := range 9 {
		if l.t.Sent[:9][i].Message.Root != nil || l.t.Received[:9][i].Message.Root != nil || l.plan[:9][i].message.Root != nil {
			t.Fatalf("message %d of the script before lives on", i)
		}
	}
	l.wire = make([]byte, maxWire+1)
	if l.take(&script.Script{}, nil); cap(l.wire) > 0 {
		t.Errorf("%d bytes of answers are kept", cap(l.wire))
	}
}

// TestSated: what mutated scripts may not say any more, since they have said so much, is not even read.
func TestSated(t *testing.T) {
	e := lateServer(t)
	long := script.Script{Start: script.Shared, Steps: []script.Step{{Line: fmt.Appendf(nil, `{"jsonrpc":"2.0","id":"@id","method":"ping","params":{"a":%q}}`, strings.Repeat("a", maxSharedLine))}}}
	if _, o := execute(t, e, long); o.Runs == 0 {
		t.Fatal("on purpose it is not run")
	}
	ran := func() int {
		obs := executeBatch(t, e, long, call("echo", `{}`))
		if obs[1].Runs != 1 {
			t.Fatalf("another script counts as %d executions", obs[1].Runs)
		}
		return int(obs[0].Runs)
	}
	if ran() == 0 {
		t.Error("the first is not run")
	}
	if e.bulk = 2 * bulkFirst; ran() != 0 || e.lanes[0].prepared {
		t.Error("one too many is run, or looked at")
	}
	long.Check = check.Large
	if ran() == 0 {
		t.Error("a check is not run")
	}
}

// A lane owns the memory of what it hears until its next script: what others read meanwhile leaves it alone.
func TestLaneOwnsWhatItHears(t *testing.T) {
	e := &executor{reader: new(mutate.JSONParser)}
	lanes := []*lane{{}, {}, {}}
	in := script.Script{Start: script.Shared}
	answer := func(lane, n int) string {
		return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"result":{"lane":[%d]}}`, n, lane)
	}
	for range 3 {
		for _, l := range lanes {
			l.take(&in, nil)
		}
		for n := range 12 {
			raw := []byte(answer(n%3, n))
			e.reader.Reset()
			e.hear(lanes[n%3], raw, jsonrpc.ParseIn(e.reader, raw), -1, false, time.Time{})
		}
		for i, l := range lanes {
			for k := range l.t.Received {
				if got, want := l.t.Received[k].Message.Root.String(), answer(i, 3*k+i); got != want {
					t.Errorf("got %s, want %s", got, want)
				}
			}
			if len(l.t.Received) != 4 || len(l.readers) != 4 {
				t.Errorf("%d received, %d readers", len(l.t.Received), len(l.readers))
			}
		}
	}
}

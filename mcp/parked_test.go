package mcp

import (
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
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

// TestUnstick: a server that leaves one topic after another unanswered is replaced, and the topics may be tried again; the
// next one has to leave more.
func TestUnstick(t *testing.T) {
	e := open(t, planted(BuildServer(t, plantedtest.Planted), "none"))
	up := func() *server {
		t.Helper()
		s, err := e.up(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	stick := func(s *server, topics int) {
		s.stuck = make(map[*record]int)
		for i := range topics {
			r := e.record(topic{method: "tools/call", name: itoa(i)})
			r.hung += 2
			s.stuck[r] = 2
		}
	}
	first := up()
	stick(first, maxStuck-1)
	if up() != first {
		t.Errorf("replaced after %d topics", maxStuck-1)
	}
	r := e.record(topic{method: "tools/call", name: "0"})
	r.hung = 0
	stick(first, maxStuck)
	second := up()
	if second == first || r.hung != 0 {
		t.Errorf("after %d topics the server is the same: %v; the first has hung %d times", maxStuck, second == first, r.hung)
	}
	stick(second, maxStuck)
	if up() != second {
		t.Error("replaced again after no more topics")
	}
	l := &lane{home: second, topic: e.record(topic{method: "slow"}), last: time.Now().Add(-2 * stuckTime)}
	e.waiting = append(e.waiting, l, l)
	if got := e.mired(second); got != 2*maxStuck+1 {
		t.Errorf("mired %d", got)
	}
	e.waiting = nil
}

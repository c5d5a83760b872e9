package run

import (
	"strconv"
	"testing"
	"time"

	"github.com/teaselfuzz/teasel"
	"github.com/teaselfuzz/teasel/internal/mcptest"
	"github.com/teaselfuzz/teasel/internal/plantedtest"
	"github.com/teaselfuzz/teasel/mcp/jsonrpc"
	"github.com/teaselfuzz/teasel/mcp/script"
)

// TestParkedCounts: a script that is parked counts for as many executions as one that is not, and at the same moment.
func TestParkedCounts(t *testing.T) {
	call := func(id string) planned {
		return planned{message: jsonrpc.Parse([]byte(`{"jsonrpc":"2.0","id":` + id + `,"method":"ping"}`)), regular: true}
	}
	e := &executor{}
	for sent := 1; sent <= 3; sent++ {
		in := mcptest.ScriptOf(`{"jsonrpc":"2.0","id":"@id","method":"ping"}`)
		l := &lane{in: &in, step: sent, plan: []planned{call("1"), call("2"), call("3")}, obs: &teasel.Observation{}, parked: true}
		for i := range sent {
			l.t.Sent = append(l.t.Sent, script.Sent{Message: l.plan[i].message, Regular: true, Answer: i})
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
	e := open(t, planted(mcptest.BuildServer(t, plantedtest.Planted), "none"))
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
			r := e.record(topic{method: "tools/call", name: strconv.Itoa(i)})
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

// A server that a request has locked is replaced each time: topics wait that were answered before, and none is answered any
// more. Those that were always slow, or are answered now and then, say nothing.
func TestLocked(t *testing.T) {
	now := time.Now()
	waited := now.Add(-2 * stuckTime)
	locked := record{heard: waited.Add(-time.Second)}
	for _, tt := range []struct {
		name   string
		other  record // the last topic; the others are locked
		topics int
		want   bool
	}{
		{"three topics", locked, 3, true},
		{"two topics", locked, 2, false},
		{"one answered since", record{heard: now}, 3, false},
		{"one never answered", record{}, 3, false},
		{"one that is slow", record{heard: locked.heard, slowest: stuckTime}, 3, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t, planted(mcptest.BuildServer(t, plantedtest.Planted), "none"))
			s, err := e.up(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			e.unstuck = 3
			for i := range tt.topics {
				r := locked
				if i == tt.topics-1 {
					r = tt.other
				}
				l := &lane{home: s, topic: &r, last: waited, in: &script.Script{}, parked: true}
				l.t = script.Transcript{Sent: []script.Sent{{Regular: true, Answer: -1}}}
				l.plan = []planned{{topic: topic{method: "tools/call", name: strconv.Itoa(9 - i)}}}
				e.waiting = append(e.waiting, l)
			}
			last := e.waiting[tt.topics-1]
			if next, err := e.up(t.Context()); err != nil || (next != s) != tt.want || e.unstuck != 3 {
				t.Errorf("replaced: %v, %v; counted %d times", next != s, err, e.unstuck)
			}
			if (len(e.back) == 1 && e.back[0] == last && last.t.Hung) != tt.want { // the first by name
				t.Errorf("%d scripts were handed back; the last has hung: %v", len(e.back), last.t.Hung)
			}
			e.waiting = nil
		})
	}
}
